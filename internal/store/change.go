package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Record is what is kept of one change. The store does not look inside.
type Record struct {
	ID       change.ID
	Meta     []byte // what a list of changes shows
	Body     []byte
	Texts    []byte // small texts that came with it, concatenated
	Unhashed []byte // such as signatures
}

func (r *Record) fields() [numFields]*[]byte {
	return [...]*[]byte{&r.Meta, &r.Body, &r.Texts, &r.Unhashed}
}

const numFields = 4

// changeFlags are the flags of a CHANGE frame: bit i says that field i is a blob, and the contents have its hash.
const changeFlags = 1<<numFields - 1

// maxInline is the longest field that lies in the frame. Longer ones are blobs, so that reading Meta never decompresses
// a large body.
const maxInline = 64 << 10

// changeTableFields is a CHANGE frame's table, which is never compressed: what the indexes need.
type changeTableFields struct {
	id      change.ID
	time    int64
	lengths [numFields]uint32 // of the fields themselves, where they lie inline
	deps    []byte            // numbers, little-endian
}

var errChange = errors.New("malformed change")

func parseChangeTable(f frame) (t changeTableFields, err error) {
	le := binary.LittleEndian
	copy(t.id[:], f.table)
	t.time = int64(le.Uint64(f.table[32:]))
	var sum uint64
	for i := range t.lengths {
		t.lengths[i] = le.Uint32(f.table[40+4*i:])
		if f.flags>>i&1 != 0 && t.lengths[i] != uint32(len(change.Hash{})) {
			return t, errChange
		}
		sum += uint64(t.lengths[i])
	}
	if sum != uint64(f.raw) {
		return t, errChange
	}
	t.deps = f.table[changeTable:]
	return t, nil
}

// appendChange appends a CHANGE frame. Fields of which flags has the bit are hashes.
func appendChange(buf []byte, scratch []byte, rec *Record, flags uint16, deps []uint32, time int64) (_, contents []byte) {
	le := binary.LittleEndian
	buf, start := beginFrame(buf)
	buf = append(buf, rec.ID[:]...)
	buf = le.AppendUint64(buf, uint64(time))
	contents = scratch[:0]
	for _, f := range rec.fields() {
		buf = le.AppendUint32(buf, uint32(len(*f)))
		contents = append(contents, *f...)
	}
	for _, d := range deps {
		buf = le.AppendUint32(buf, d)
	}
	return endFrame(buf, start, kindChange, flags, len(deps), contents), contents
}

// NumChanges returns how many changes there are.
func (s *Store) NumChanges() uint32 { return s.now.Load().n[changesCol] }

// ChangeID returns the id of a change by its number, and zero if there is none: see Err.
func (s *Store) ChangeID(n uint32) change.ID {
	rec, _, ok := s.record(changesCol, n)
	if !ok {
		return change.ID{}
	}
	return change.ID(rec[:32])
}

// ChangeTime returns the time that a change was stored with.
func (s *Store) ChangeTime(n uint32) int64 {
	rec, _, ok := s.record(changesCol, n)
	if !ok {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(rec[40:]))
}

// Change returns all that is kept of a change.
func (s *Store) Change(n uint32) (Record, error) {
	rec, err := s.readChange(n, numFields)
	if err != nil {
		return rec, fmt.Errorf("read change %d: %w", n, err)
	}
	return rec, nil
}

// Meta returns the Meta of a change, without reading a large body.
func (s *Store) Meta(n uint32) ([]byte, error) {
	rec, err := s.readChange(n, 1)
	if err != nil {
		return nil, fmt.Errorf("read change %d: %w", n, err)
	}
	return rec.Meta, nil
}

// Front returns what a list of changes shows: the Meta of a change and what stands beside it unhashed, without reading a
// large body.
func (s *Store) Front(n uint32) (meta, unhashed []byte, err error) {
	rec, err := s.readFields(n, 1<<0|1<<3)
	if err != nil {
		return nil, nil, fmt.Errorf("read change %d: %w", n, err)
	}
	return rec.Meta, rec.Unhashed, nil
}

// readChange reads the first fields of a change.
func (s *Store) readChange(n uint32, fields int) (rec Record, err error) {
	return s.readFields(n, 1<<fields-1)
}

// readFields reads those fields of a change of which which has the bit.
func (s *Store) readFields(n uint32, which uint) (rec Record, err error) {
	b, _, ok := s.record(changesCol, n)
	if !ok {
		return rec, s.missing()
	}
	r := parseChangeRecord(b)
	rec, flags, err := s.storedFields(n, r, which)
	if err != nil {
		return Record{}, err
	}
	for i, f := range rec.fields() {
		if which>>i&1 != 0 && flags>>i&1 != 0 {
			if *f, err = s.Blob(nil, change.Hash(*f)); err != nil {
				return rec, err
			}
		}
	}
	return rec, nil
}

// storedChange reads change n as it lies in the log: fields of which flags has the bit are hashes. The fields are a copy
// that callers may keep and alter.
func (s *Store) storedChange(n uint32, r changeRecord) (rec Record, flags uint16, err error) {
	return s.storedFields(n, r, changeFlags)
}

// storedFields is storedChange of those fields of which which has the bit.
func (s *Store) storedFields(n uint32, r changeRecord, which uint) (rec Record, flags uint16, err error) {
	if l := s.logOf(r.at); l.based && r.at < l.packed.end {
		c := s.frames.get(r.at)
		defer s.frames.release(c)
		rec, flags, err = c.ofChange(s, n, which)
	} else {
		rec, flags, err = s.singleChange(r.at, which)
	}
	if err == nil && rec.ID != r.id {
		err = s.damaged(r.at, errChange)
	}
	if err != nil {
		return Record{}, 0, err
	}
	return rec, flags, nil
}

// singleChange reads a CHANGE frame.
func (s *Store) singleChange(p place, which uint) (rec Record, flags uint16, err error) {
	f, err := s.frame(p)
	if err == nil {
		if rec, err = parseSingle(f, which); err != nil {
			err = s.damaged(p, err)
		}
	}
	return rec, f.flags, err
}

func parseSingle(f frame, which uint) (rec Record, err error) {
	if f.kind != kindChange {
		return rec, errChange
	}
	t, err := parseChangeTable(f)
	if err != nil {
		return rec, err
	}
	contents, err := f.contents(nil)
	if err != nil {
		return rec, err
	}
	rec.ID = t.id
	for i, dst := range rec.fields() {
		if which>>i&1 != 0 {
			*dst = contents[:t.lengths[i]:t.lengths[i]]
		}
		contents = contents[t.lengths[i]:]
	}
	return rec, nil
}
