package store

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// A base has many contents to a frame, and the frame's table, which is never compressed, has the hash and the length of
// each. So of what is packed the index of contents has no records but runs: where each frame is, and with which number it
// begins. On the tree of Linux that is 24 KB in place of 4.4 MB.

// runSize is the length of a run: place of the frame, number of its first content, checksum.
const runSize = 16

const runsMagic = "oxyrun 1"

func runsName(dir string) string { return filepath.Join(dir, "index", "blobs.frames") }

// packedRuns are the runs of a base: those of all contents below n.
type packedRuns struct {
	log  *log
	n    uint32
	list []byte
}

func runSum(run []byte, logID uint64, rank uint32) uint32 {
	return uint32(xxh3.HashSeed(run[:runSize-4], logID^uint64(blobsCol+1)<<40^uint64(rank)))
}

func appendRun(b []byte, logID uint64, rank uint32, p place, first uint32) []byte {
	le, start := binary.LittleEndian, len(b)
	b = le.AppendUint64(b, uint64(p))
	b = le.AppendUint32(b, first)
	return le.AppendUint32(b, runSum(append(b[start:], 0, 0, 0, 0), logID, rank))
}

func (r *packedRuns) count() uint32 { return uint32(len(r.list) / runSize) }

// run returns the run of a rank, and false if it is damaged.
func (r *packedRuns) run(rank uint32) (p place, first uint32, ok bool) {
	le, b := binary.LittleEndian, r.list[int(rank)*runSize:][:runSize]
	return place(le.Uint64(b)), le.Uint32(b[8:]), le.Uint32(b[12:]) == runSum(b, r.log.id, rank)
}

// find returns the frame that has content n and the number of the first one there.
func (r *packedRuns) find(n uint32) (p place, first uint32, ok bool) {
	lo, hi := uint32(0), r.count()
	for lo < hi { // the last run that begins at n or before
		mid := lo + (hi-lo)/2
		at, from, sound := r.run(mid)
		if !sound {
			return 0, 0, false
		}
		if from <= n {
			p, first, ok, lo = at, from, true, mid+1
		} else {
			hi = mid
		}
	}
	return p, first, ok
}

// record makes the record that a column would have of content n. Where the frame is damaged so that it does not tell, the
// record has no hash, and whoever reads what it stands for meets the damage.
func (r *packedRuns) record(n uint32) []byte {
	p, first, ok := r.find(n)
	if !ok {
		return make([]byte, recordSizes[blobsCol]) // of which the checksum is wrong
	}
	rec := blobRecord{at: p, item: n - first}
	r.log.readItem(&rec)
	return rec.append(make([]byte, 0, recordSizes[blobsCol]), r.log.id, n)
}

// readItem reads of a content in the frame at its place what the frame's table says, if the frame begins soundly. Of the
// checksum, which is of all the frame, nothing is proved: who reads the content does.
func (l *log) readItem(r *blobRecord) {
	seg, err := l.segment(r.at.segment())
	if err != nil {
		return
	}
	b, err := l.bytes(seg, int64(r.at.off()), headerSize)
	if err != nil {
		return
	}
	h, err := parseHeader(b)
	if err != nil {
		return
	}
	at, size := int64(r.at.off())+headerSize, blobItem
	switch {
	case h.kind == kindList && r.item == 0:
		size, r.list = listTable, true
	case h.kind == kindBlobs && r.item < h.items:
		at += int64(r.item) * blobItem
	default:
		return
	}
	if b, err = l.bytes(seg, at, size); err != nil {
		return
	}
	r.hash = change.Hash(b[:32])
	if r.list {
		r.size = int64(binary.LittleEndian.Uint64(b[32:]))
		return
	}
	r.size = int64(binary.LittleEndian.Uint32(b[32:]))
	r.shared = h.items > 1 && r.size >= smallBlob
}

// lost reports whether content n is packed in a frame that cannot be read: then what its table says counts for nothing.
func (t *tables) lost(n uint32) bool {
	r := t.cols[blobsCol].runs
	if r == nil || n >= r.n {
		return false
	}
	p, _, ok := r.find(n)
	if ok {
		_, err := r.log.frame(p)
		ok = err == nil
	}
	return !ok
}

// openRuns maps the runs of a log that begins with a base, or returns nil.
func (s *Store) openRuns(l *log) *packedRuns {
	b, n := s.mapIndex(runsName(s.dir), runSize)
	if n == 0 || string(b[:indexHeader]) != string(appendIndexHeader(nil, runsMagic, l.id, blobsCol, n)) {
		return nil
	}
	return &packedRuns{log: l, n: l.packed.n[blobsCol], list: b[indexHeader:]}
}

// sound verifies all runs: they ascend from the base's first content, frames and numbers.
func (r *packedRuns) sound() bool {
	last, before := place(0), uint32(0)
	for rank := range r.count() {
		p, first, ok := r.run(rank)
		if !ok || p <= last || first >= r.n || (rank == 0) != (first == 0) || rank > 0 && first <= before {
			return false
		}
		last, before = p, first
	}
	return true
}

var errRuns = errors.New("not where the log has them")

// runsOf makes the runs of records of packed contents.
func runsOf(records []byte, logID uint64) []byte {
	var list []byte
	last := place(0)
	for n := uint32(0); len(records) > 0; n++ {
		r := parseBlobRecord(records)
		records = records[recordSizes[blobsCol]:]
		if r.at != last {
			list = appendRun(list, logID, uint32(len(list)/runSize), r.at, n)
			last = r.at
		}
	}
	return list
}

// rewriteBlobs writes the runs of what is packed, if they are not those of the file, and the column of the rest.
func (s *Store) rewriteBlobs(t *tables) bool {
	col := &t.cols[blobsCol]
	rest := slices.Concat(col.base, col.extra)
	if col.runs == nil {
		packed := int(t.packed) * recordSizes[blobsCol]
		list := runsOf(rest[:packed], t.logID)
		rest = rest[packed:]
		b := appendIndexHeader(nil, runsMagic, t.logID, blobsCol, uint32(len(list)/runSize))
		if vfs.WriteFileAtomic(s.fsys, runsName(s.dir), append(b, list...), false) != nil {
			return false
		}
	}
	b := append(columnHeader(t.logID, blobsCol, t.packed), rest...)
	return vfs.WriteFileAtomic(s.fsys, indexName(s.dir, blobsCol), b, false) == nil
}
