package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/oxy-vcs/oxy/internal/change"
)

// tables is what a reader knows of the log: the columns up to the last op. It never changes once it is shown; its
// extra slices may grow beyond what it counts.
type tables struct {
	log    *log
	logID  uint64
	n      counts
	cols   [numColumns]columnData
	packed uint32 // how many contents the base has
	op     place  // the last op, or 0
	end    place  // after it
	hint   []byte
	lookup [numColumns]*lookup // of changes and blobs, by hash
	sums   []byte              // of whole blocks of the column deps
}

// columnData is one column: what was mapped from its file, then what was read from the log or written since.
type columnData struct {
	size  int
	runs  *packedRuns // of the packed contents, whose records are not in base
	base  []byte      // whole records
	extra []byte
}

func (c *columnData) at(n uint32) []byte {
	if c.runs != nil {
		if n < c.runs.n {
			return c.runs.record(n)
		}
		n -= c.runs.n
	}
	off := int(n) * c.size
	if off < len(c.base) {
		return c.base[off : off+c.size : off+c.size]
	}
	off -= len(c.base)
	return c.extra[off : off+c.size : off+c.size]
}

// slice returns n records from start, which lie all in the one or all in the other part: parts divide between ops.
func (c *columnData) slice(start, n uint32) []byte {
	off, length := int(start)*c.size, int(n)*c.size
	if b := c.base; off >= len(b) {
		off, b = off-len(b), c.extra
		return b[off : off+length : off+length]
	}
	return c.base[off : off+length : off+length]
}

func (t *tables) clone() *tables {
	c := *t
	return &c
}

// add takes in a batch.
func (t *tables) add(b *batch) {
	for c := range t.cols {
		t.cols[c].extra = append(t.cols[c].extra, b.cols[c]...)
	}
	t.n, t.op, t.end = b.n, b.op, b.end
	t.hint = nil
}

func (t *tables) setHint(h *head) {
	t.hint = nil
	if h != nil && h.n[opsCol] <= t.n[opsCol] {
		t.hint = h.hint
	}
}

// ok verifies record n of a column.
func (t *tables) ok(c column, n uint32) bool {
	if r := t.cols[c].runs; r != nil && n < r.n {
		_, _, ok := r.find(n)
		return ok
	}
	rec := t.cols[c].at(n)
	if !recordOK(rec, t.logID, c, n) {
		return false
	}
	if c == changesCol {
		return uint64(depStart(rec))+uint64(depCount(rec)) <= uint64(t.n[depsCol])
	}
	return true
}

func depStart(rec []byte) uint32 { return binary.LittleEndian.Uint32(rec[48:]) }
func depCount(rec []byte) uint32 { return binary.LittleEndian.Uint32(rec[52:]) }

// depsOK verifies the dependencies of a change whose record is ok.
func (t *tables) depsOK(rec []byte) bool {
	deps := t.cols[depsCol].slice(depStart(rec), depCount(rec))
	return binary.LittleEndian.Uint32(rec[56:]) == depSum(deps, t.logID)
}

// record returns a verified record and the tables that it is from. If it is damaged the tables are made again from the
// log. False means that there is no such record, or none that can be read: see missing.
func (s *Store) record(c column, n uint32) ([]byte, *tables, bool) {
	for range 2 {
		t := s.now.Load()
		if n >= t.n[c] {
			return nil, t, false
		}
		if t.ok(c, n) {
			return t.cols[c].at(n), t, true
		}
		s.repair(t)
	}
	s.fail(errIndex)
	return nil, nil, false
}

// missing is the error for what was not found: that it is not there, or that looking for it failed.
func (s *Store) missing() error {
	if err := s.Err(); err != nil {
		return err
	}
	return ErrNotFound
}

// Deps returns the numbers of the changes that a change depends on, as they were put. It is a view of the mapped index.
func (s *Store) Deps(n uint32) []uint32 {
	for range 2 {
		rec, t, ok := s.record(changesCol, n)
		if !ok {
			return nil
		}
		if t.depsOK(rec) {
			return numbers(t.cols[depsCol].slice(depStart(rec), depCount(rec)))
		}
		s.repair(t)
	}
	s.fail(errIndex)
	return nil
}

// numbers views little-endian numbers as such. Columns begin aligned: mapped ones 32 bytes into a page, others where
// the allocator puts slices of more than 8 bytes.
func numbers(b []byte) []uint32 {
	if len(b) == 0 {
		return nil
	}
	one := uint32(1)
	if *(*byte)(unsafe.Pointer(&one)) == 1 && uintptr(unsafe.Pointer(&b[0]))%4 == 0 {
		return unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), len(b)/4)
	}
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return v
}

// find returns the number of the record with a hash.
func (s *Store) find(c column, h *[32]byte) (uint32, *tables, bool) {
	for range 2 {
		t := s.now.Load()
		n, ok, err := t.lookup[c].find(t, h)
		if err == nil {
			return n, t, ok
		}
		s.repair(t)
	}
	s.fail(errIndex)
	return 0, nil, false
}

// FindChange returns the number of a change.
func (s *Store) FindChange(id change.ID) (uint32, bool) {
	n, _, ok := s.find(changesCol, (*[32]byte)(&id))
	return n, ok
}

// FindPrefix returns the numbers of up to limit changes whose ids begin with the hex digits of prefix, ascending by id.
// A prefix that is not hex finds nothing.
func (s *Store) FindPrefix(prefix string, limit int) []uint32 {
	lo, hi, ok := prefixRange(prefix)
	if !ok {
		return nil
	}
	for range 2 {
		t := s.now.Load()
		found, err := t.lookup[changesCol].between(t, &lo, &hi, limit)
		if err == nil {
			return found
		}
		s.repair(t)
	}
	s.fail(errIndex)
	return nil
}

// prefixRange returns the first and the last hash that begin with hex digits.
func prefixRange(prefix string) (lo, hi [32]byte, ok bool) {
	if len(prefix) > 64 {
		return lo, hi, false
	}
	for i := range hi {
		hi[i] = 0xff
	}
	for i := range len(prefix) {
		d := slices.Index([]byte("0123456789abcdef"), prefix[i]|0x20)
		if d < 0 || prefix[i] < '0' {
			return lo, hi, false
		}
		shift := 4 * (1 - i%2)
		lo[i/2] |= byte(d << shift)
		hi[i/2] = hi[i/2]&^(0xf<<shift) | byte(d<<shift)
	}
	return lo, hi, true
}

// repair makes the tables again after damage was found in t, from what is sound of the indexes and from the log.
func (s *Store) repair(t *tables) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Load() != t {
		return // somebody else did, or went on
	}
	if err := s.loadLocked(true); err != nil {
		s.fail(fmt.Errorf("make the indexes again: %w", err))
		return
	}
	s.mend = true
}
