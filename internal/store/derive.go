package store

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// writeIndexes brings the files in index/ from before to t, and sorts a list anew that was outgrown. The caller holds
// the writers' lock and mu.
func (s *Store) writeIndexes(t *tables, before counts) {
	ok := true
	for c := range numColumns {
		if s.mend || !s.appendColumn(t, c, before[c]) {
			// Someone may have removed the whole directory: it is derived.
			ok = s.fsys.MkdirAll(filepath.Join(s.dir, "index"), 0o777) == nil && ok
			ok = s.rewriteColumn(t, c) && ok
		}
	}
	for _, c := range []column{changesCol, blobsCol} {
		l := t.lookup[c]
		// A list of more than there was is from a log that went another way, one restored from a copy.
		if !s.mend && l.base <= before[c] && t.n[c]-l.base <= max(s.tailMin, l.base/tailShare) {
			continue
		}
		if l.base > before[c] {
			l = &lookup{col: c}
		}
		sorted, err := l.sorted(t)
		if err != nil {
			ok = false
			continue
		}
		t.lookup[c] = sorted
		b := append(appendIndexHeader(nil, orderMagic, t.logID, c, sorted.base), sorted.list...)
		ok = vfs.WriteFileAtomic(s.fsys, orderName(s.dir, c), b, false) == nil && ok
	}
	ok = s.writeSums(t) && ok
	if ok {
		s.mend = false
	}
}

// appendColumn writes the records that the file of a column lacks. It reports false when the file is not one to append
// to: it is never truncated, since readers may have mapped it.
func (s *Store) appendColumn(t *tables, c column, before uint32) bool {
	f, err := s.fsys.OpenFile(indexName(s.dir, c), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	skip := uint32(0) // records that the file does not have
	if c == blobsCol {
		skip = t.packed
	}
	have, ok := recordsIn(f, t.logID, c, skip)
	if !ok || have+skip > before || skip > 0 && t.cols[c].runs == nil {
		_ = f.Close()
		return false
	}
	off := indexHeader + int64(have)*int64(recordSizes[c])
	have += skip
	for _, part := range t.cols[c].from(have) {
		n, writeErr := f.WriteAt(part, off)
		off += int64(n)
		err = errors.Join(err, writeErr)
	}
	return errors.Join(err, f.Close()) == nil
}

// recordsIn returns how many whole records the file of a column holds.
func recordsIn(f vfs.File, logID uint64, c column, skip uint32) (uint32, bool) {
	var st vfs.Stat
	var b [indexHeader]byte
	if f.Stat(&st) != nil || st.Size < indexHeader {
		return 0, false
	}
	if n, _ := f.ReadAt(b[:], 0); n < indexHeader || string(b[:]) != string(columnHeader(logID, c, skip)) {
		return 0, false
	}
	return uint32(min((st.Size-indexHeader)/int64(recordSizes[c]), maxRecords)), true
}

func (s *Store) rewriteColumn(t *tables, c column) bool {
	if c == blobsCol && t.packed > 0 {
		return s.rewriteBlobs(t)
	}
	col := &t.cols[c]
	b := make([]byte, 0, indexHeader+len(col.base)+len(col.extra))
	b = appendIndexHeader(b, columnMagic, t.logID, c, 0)
	b = append(append(b, col.base...), col.extra...)
	return vfs.WriteFileAtomic(s.fsys, indexName(s.dir, c), b, false) == nil
}

// from returns the records from number n on, in two parts.
func (c *columnData) from(n uint32) [2][]byte {
	if c.runs != nil {
		n -= c.runs.n
	}
	off := int(n) * c.size
	if off < len(c.base) {
		return [2][]byte{c.base[off:], c.extra}
	}
	return [2][]byte{nil, c.extra[off-len(c.base):]}
}
