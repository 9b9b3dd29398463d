package store

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/change"
)

// A column is one array of records of fixed size, in the order of the log. On disk it is a file in index/, derived.
type column uint8

const (
	opsCol column = iota
	changesCol
	depsCol
	blobsCol
	statesCol
	numColumns
)

var (
	columnNames = [numColumns]string{"ops", "changes", "deps", "blobs", "states"}
	recordSizes = [numColumns]int{16, 64, 4, 56, 64}
)

// counts is how many records each column has.
type counts [numColumns]uint32

// within reports whether no count is above its like in o.
func (n counts) within(o counts) bool {
	for c := range n {
		if n[c] > o[c] {
			return false
		}
	}
	return true
}

// atLeast is the larger of each.
func (n counts) atLeast(o counts) counts {
	for c := range n {
		n[c] = max(n[c], o[c])
	}
	return n
}

func (n counts) append(b []byte) []byte {
	for _, v := range n {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func parseCounts(b []byte) (n counts) {
	for c := range n {
		n[c] = binary.LittleEndian.Uint32(b[4*c:])
	}
	return n
}

// recordSum is the checksum that ends each record but those of deps. The number is in it, so that a record at another
// place is a damaged one, and zeros are one, too.
func recordSum(rec []byte, logID uint64, c column, n uint32) uint32 {
	return uint32(xxh3.HashSeed(rec[:len(rec)-4], logID^uint64(c+1)<<56^uint64(n)))
}

func endRecord(b []byte, start int, logID uint64, c column, n uint32) []byte {
	b = append(b, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[len(b)-4:], recordSum(b[start:], logID, c, n))
	return b
}

func recordOK(rec []byte, logID uint64, c column, n uint32) bool {
	return binary.LittleEndian.Uint32(rec[len(rec)-4:]) == recordSum(rec, logID, c, n)
}

func appendOpRecord(b []byte, logID uint64, n uint32, p place) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(p))
	b = append(b, 0, 0, 0, 0)
	return endRecord(b, start, logID, opsCol, n)
}

func opRecordPlace(rec []byte) place { return place(binary.LittleEndian.Uint64(rec)) }

// changeRecord is a record of the column changes.
type changeRecord struct {
	id       change.ID
	at       place
	time     int64
	depStart uint32 // in the column deps
	depCount uint32
	depSum   uint32
}

func depSum(deps []byte, logID uint64) uint32 { return uint32(xxh3.HashSeed(deps, logID)) }

func (r *changeRecord) append(b []byte, logID uint64, n uint32) []byte {
	le, start := binary.LittleEndian, len(b)
	b = append(b, r.id[:]...)
	b = le.AppendUint64(b, uint64(r.at))
	b = le.AppendUint64(b, uint64(r.time))
	b = le.AppendUint32(b, r.depStart)
	b = le.AppendUint32(b, r.depCount)
	b = le.AppendUint32(b, r.depSum)
	return endRecord(b, start, logID, changesCol, n)
}

func parseChangeRecord(b []byte) (r changeRecord) {
	le := binary.LittleEndian
	copy(r.id[:], b)
	r.at, r.time = place(le.Uint64(b[32:])), int64(le.Uint64(b[40:]))
	r.depStart, r.depCount, r.depSum = le.Uint32(b[48:]), le.Uint32(b[52:]), le.Uint32(b[56:])
	return r
}

// blobRecord is a record of the column blobs.
type blobRecord struct {
	hash change.Hash
	at   place
	size int64
	item uint32 // in the frame
	list bool   // the frame is a LIST

	// shared says of a content of smallBlob or more that the frame has others too; smaller ones nearly always share.
	shared bool

	from *Store // in memory: where it is read from in place of the store that has the record; nil: that one
}

const (
	listBit   = 1 << 31
	sharedBit = 1 << 30
)

func (r *blobRecord) append(b []byte, logID uint64, n uint32) []byte {
	le, start := binary.LittleEndian, len(b)
	item := r.item
	if r.list {
		item |= listBit
	}
	if r.shared {
		item |= sharedBit
	}
	b = append(b, r.hash[:]...)
	b = le.AppendUint64(b, uint64(r.at))
	b = le.AppendUint64(b, uint64(r.size))
	b = le.AppendUint32(b, item)
	return endRecord(b, start, logID, blobsCol, n)
}

func parseBlobRecord(b []byte) (r blobRecord) {
	le := binary.LittleEndian
	copy(r.hash[:], b)
	r.at, r.size = place(le.Uint64(b[32:])), int64(le.Uint64(b[40:]))
	item := le.Uint32(b[48:])
	r.item, r.list, r.shared = item&^(listBit|sharedBit), item&listBit != 0, item&sharedBit != 0
	return r
}

// stateRecord is a record of the column states. A state that appends one change, as nearly all do, is read from it alone.
type stateRecord struct {
	id     [32]byte
	where  uint64 // of a short one the change; otherwise the place of the frame that holds the state
	pos    uint64
	parent uint32 // noState for none
	off    uint32 // of the encoded state in the frame's contents
	count  uint32 // changes appended
	beside bool

	without bool // the state leaves out changes of its parent's log
}

// short tells whether the record says all of the state.
func (r *stateRecord) short() bool { return r.count == 1 && !r.without }

const noState = 1<<32 - 1

func (r *stateRecord) append(b []byte, logID uint64, n uint32) []byte {
	le, start := binary.LittleEndian, len(b)
	b = append(b, r.id[:]...)
	b = le.AppendUint64(b, r.where)
	b = le.AppendUint64(b, r.pos)
	b = le.AppendUint32(b, r.parent)
	b = le.AppendUint32(b, r.off)
	count := r.count
	if r.beside {
		count |= 1 << 31
	}
	if r.without {
		count |= 1 << 30
	}
	b = le.AppendUint32(b, count)
	return endRecord(b, start, logID, statesCol, n)
}

func parseStateRecord(b []byte) (r stateRecord) {
	le := binary.LittleEndian
	copy(r.id[:], b)
	r.where, r.pos = le.Uint64(b[32:]), le.Uint64(b[40:])
	count := le.Uint32(b[56:])
	r.parent, r.off, r.count, r.beside = le.Uint32(b[48:]), le.Uint32(b[52:]), count&^(3<<30), count>>31 != 0
	r.without = count>>30&1 != 0
	return r
}
