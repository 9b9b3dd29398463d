package store

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// indexHeader begins each file in index/: magic, log id, count of entries of a sorted list, checksum.
const indexHeader = 32

const (
	columnMagic = "oxycol 1"
	restMagic   = "oxycol 2" // of contents, without those of the base
	orderMagic  = "oxyord 1"
)

func indexName(dir string, c column) string { return filepath.Join(dir, "index", columnNames[c]) }

// orderName is the file of a column's sorted list.
func orderName(dir string, c column) string { return indexName(dir, c) + ".order" }

// appendIndexHeader makes the header of a file for column c. A column grows without its header being written again, so
// it has no count there. A sorted list without its last entry would lack any number, so it has.
func appendIndexHeader(b []byte, magic string, logID uint64, c column, count uint32) []byte {
	start := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint64(b, logID)
	b = binary.LittleEndian.AppendUint64(b, uint64(count))
	return binary.LittleEndian.AppendUint64(b, xxh3.HashSeed(b[start:], uint64(c)))
}

// columnHeader makes the header of a column without its first records, of which there are so many.
func columnHeader(logID uint64, c column, skip uint32) []byte {
	magic := columnMagic
	if c == blobsCol && skip > 0 {
		magic = restMagic
	}
	return appendIndexHeader(nil, magic, logID, c, 0)
}

// indexFiles is what the files in index/ hold, verified as far as their headers.
type indexFiles struct {
	columns [numColumns][]byte // whole records
	orders  [numColumns][]byte
	bad     [numColumns]bool // the sorted list has a damaged entry
	sums    []byte
	runs    *packedRuns // of the packed contents, whose records are not in their column
}

// openIndexes maps the indexes of a log. What cannot be opened is as good as empty. The caller holds mu.
func (s *Store) openIndexes(l *log) (f indexFiles) {
	logID, packed := l.id, l.packed.n[blobsCol]
	if packed > 0 {
		f.runs = s.openRuns(l)
	}
	for c := range numColumns {
		b, n := s.mapIndex(indexName(s.dir, c), recordSizes[c])
		skip := packed
		if f.runs == nil { // of use only with all records, as earlier builds wrote it
			skip = 0
		}
		if n > 0 && string(b[:indexHeader]) == string(columnHeader(logID, c, skip)) {
			f.columns[c] = b[indexHeader:]
		}
	}
	for _, c := range []column{changesCol, blobsCol} {
		b, n := s.mapIndex(orderName(s.dir, c), orderEntry)
		if n > 0 && string(b[:indexHeader]) == string(appendIndexHeader(nil, orderMagic, logID, c, n)) {
			f.orders[c] = b[indexHeader:]
		}
	}
	f.sums = s.openSums(logID)
	return f
}

// maxRecords bounds a column: numbers have 32 bits and the last is noState.
const maxRecords = 1<<32 - 2

// mapIndex maps a header and as many whole records as follow it.
func (s *Store) mapIndex(name string, size int) ([]byte, uint32) {
	f, err := s.fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	var st vfs.Stat
	if f.Stat(&st) != nil || st.Size <= indexHeader {
		return nil, 0
	}
	n := min((st.Size-indexHeader)/int64(size), maxRecords)
	m, err := f.Map(indexHeader + n*int64(size))
	if err != nil {
		return nil, 0
	}
	s.mappings = append(s.mappings, m)
	return m.Bytes(), uint32(n)
}

func (f *indexFiles) have() (n counts) {
	for c := range n {
		n[c] = uint32(len(f.columns[c]) / recordSizes[c])
	}
	if f.runs != nil {
		n[blobsCol] += f.runs.n
	}
	return n
}

// verify cuts each column where its first damaged record is.
func (f *indexFiles) verify(logID uint64) {
	if f.runs != nil && !f.runs.sound() {
		f.runs, f.columns[blobsCol] = nil, nil
	}
	t := &tables{logID: logID, n: f.have()}
	for c := range t.cols {
		t.cols[c] = columnData{size: recordSizes[c], base: f.columns[c]}
	}
	t.cols[blobsCol].runs = f.runs
	for c := range numColumns {
		if c == depsCol { // verified with the changes
			continue
		}
		first := uint32(0)
		if c == blobsCol && f.runs != nil {
			first = f.runs.n
		}
		for n := first; n < t.n[c]; n++ {
			if !t.ok(c, n) || c == changesCol && !t.depsOK(t.cols[c].at(n)) {
				f.columns[c] = f.columns[c][:int(n-first)*recordSizes[c]]
				break
			}
		}
	}
	for c, order := range f.orders {
		l := lookup{col: column(c), list: order, base: uint32(len(order) / orderEntry)}
		for rank := range l.base {
			if _, _, err := l.entry(t, rank); err != nil {
				f.bad[c] = true
			}
		}
	}
}

// lookup returns how to find the records of a column.
func (f *indexFiles) lookup(c column) *lookup {
	l := &lookup{col: c}
	if !f.bad[c] {
		l.list, l.base = f.orders[c], uint32(len(f.orders[c])/orderEntry)
	}
	return l
}
