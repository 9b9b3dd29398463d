package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Mending puts what another store has in place of what is damaged here: the log is packed, and where something cannot be read
// that of the other is taken. Numbers stay, and so does what was derived by them. Contents that nobody has are left out: then
// they are missing where they were damaged. A change or an operation that nobody has is not left out, others name them by their numbers: a
// change stays with its id and what it depends on and has no bytes, which are not those of its id, and an operation with no view: both are as
// damaged as they were. Who says so may have them dropped, with what the caller finds out that needs them.

// Bad is what cannot be read of the log.
type Bad struct {
	Contents []uint32 // by number; lists of chunks too
	Changes  []uint32
	States   []uint32
	Ops      []uint32
	Frames   int // where the log is damaged, at that of others too: what the indexes have of a frame can be written again
}

// None tells that all can be read.
func (b *Bad) None() bool {
	return len(b.Contents)+len(b.Changes)+len(b.States)+len(b.Ops)+b.Frames == 0
}

// Bad reads the whole log. Of contents it proves the hashes, of changes that they are there; progress is told of records. An
// error that is none of damage, of a disk that does not answer, ends it: what that has may be there the next time.
func (s *Store) Bad(ctx context.Context, progress func(n int64)) (*Bad, error) {
	b := &Bad{}
	_, err := s.Audit(ctx, AuditOptions{Quick: true, Progress: func(int64) {}, Fault: func(f Fault) {
		if !f.Derived {
			b.Frames++
		}
	}})
	if err != nil {
		return nil, err
	}
	var buf []byte
	at := place(0)
	var f frame
	for n := range s.NumBlobs() {
		rec, _, ok := s.record(blobsCol, n)
		if !ok {
			return nil, s.missing()
		}
		r := parseBlobRecord(rec)
		if r.at != at {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			at = r.at
			if f, err = s.frame(at); err == nil {
				if buf, err = f.contents(buf[:0]); err != nil {
					err = s.damaged(at, err)
				}
			}
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			return nil, fmt.Errorf("read content %d: %w", n, err)
		}
		if err != nil || !s.holds(f, buf, r) {
			b.Contents = append(b.Contents, n)
		}
		progress(1)
	}
	each := func(list *[]uint32, count uint32, read func(n uint32) error) error {
		for n := range count {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			if err := read(n); errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotFound) {
				*list = append(*list, n)
			} else if err != nil {
				return err
			}
			progress(1)
		}
		return s.Err()
	}
	return b, errors.Join(
		each(&b.Changes, s.NumChanges(), func(n uint32) error { _, err := s.Change(n); return err }),
		each(&b.States, s.NumStates(), func(n uint32) error { _, err := s.State(n); return err }),
		each(&b.Ops, s.NumOps(), func(n uint32) error { _, err := s.OpView(n); return err }))
}

// EachChunk gives the numbers of the chunks of a large content; a small one has none.
func (s *Store) EachChunk(h change.Hash, each func(n uint32)) error {
	r, ok := s.findBlob(h)
	if !ok {
		return s.missing()
	}
	if !r.list {
		return nil
	}
	return s.eachChunk(r, func(c blobRecord) error {
		n, ok := s.BlobNumber(c.hash)
		if !ok {
			return s.missing()
		}
		each(n)
		return nil
	})
}

// BlobHash returns the hash of a content by its number, and zero where damage took it, or where there is none.
func (s *Store) BlobHash(n uint32) change.Hash {
	rec, _, ok := s.record(blobsCol, n)
	if !ok {
		return change.Hash{}
	}
	return parseBlobRecord(rec).hash
}

// holds tells whether a frame, with these contents, has the content of r.
func (s *Store) holds(f frame, contents []byte, r blobRecord) bool {
	if r.list {
		return f.kind == kindList && s.eachChunk(r, func(blobRecord) error { return nil }) == nil
	}
	from, to, err := itemSpan(f, r)
	return err == nil && to <= len(contents) && hashOf(contents[from:to]) == r.hash
}

// Replace says what a repack takes from another store.
type Replace struct {
	From *Store
	// Changes are damaged here although they can be read: their bytes are not those of their ids.
	Changes []uint32
	// States are those that cannot be read and that the caller made again.
	States map[uint32]State
	// Decide, if any, is told what nobody has, and whether all the same something is gained, before anything is written. What it then
	// gives stays, and the rest goes; where it gives nil what nobody has stays as damaged as it is.
	Decide func(lost *Bad, gains bool) (*Keep, error)
}

// replacing is what a repack replaces.
type replacing struct {
	from    *Store
	blobs   map[uint32]change.Hash // contents that from has
	lost    map[uint32]bool        // that it has not
	changes map[uint32]bool        // that from has
	hollow  map[uint32]bool        // that it has not, and of which nothing but the id and what they depend on can be read
	keep    *Keep                  // nil: contents stay, and so do all ops
	// renumbers tells that more goes than contents, which nothing that is kept names by number.
	renumbers bool
}

// ErrNotReplaced says that nothing was written: what is damaged cannot be left out, and nobody has it.
var ErrNotReplaced = errors.New("what is damaged cannot be replaced")

// replace finds what is to be replaced. It is nil where nothing is damaged. The writers' lock is held.
func (s *Store) replace(ctx context.Context, o *Replace) (*replacing, error) {
	bad, err := s.Bad(ctx, func(int64) {})
	if err != nil {
		return nil, err
	}
	damaged := len(bad.Changes)
	bad.Changes = append(bad.Changes, o.Changes...)
	if bad.None() {
		return nil, nil
	}
	r := &replacing{from: o.From, blobs: map[uint32]change.Hash{}, lost: map[uint32]bool{}, changes: map[uint32]bool{}, hollow: map[uint32]bool{}}
	for _, n := range bad.Contents {
		r.lost[n] = true
	}
	for n := range o.From.NumBlobs() {
		rec, _, ok := o.From.record(blobsCol, n)
		if !ok {
			return nil, o.From.missing()
		}
		h := parseBlobRecord(rec).hash
		if m, ok := s.BlobNumber(h); ok && r.lost[m] {
			delete(r.lost, m)
			r.blobs[m] = h
		}
	}
	s.loseLists(r)
	lost := &Bad{Ops: bad.Ops, Frames: bad.Frames}
	for i, n := range bad.Changes {
		_, other := o.From.FindChange(s.ChangeID(n))
		had := s.replaceable(r, n) && (other || i < damaged)
		if had && other {
			r.changes[n] = true
		}
		if !had {
			lost.Changes = append(lost.Changes, n)
			if rec, _, ok := s.record(changesCol, n); ok && i < damaged {
				_, _, err := s.storedChange(n, parseChangeRecord(rec))
				r.hollow[n] = err != nil
			}
		}
	}
	told := map[uint32]State{}
	for _, n := range bad.States {
		if st, ok := o.States[n]; ok {
			told[n] = st
		} else {
			lost.States = append(lost.States, n)
		}
	}
	lost.Contents = slices.Sorted(maps.Keys(r.lost))
	gains := len(r.blobs)+len(r.changes)+len(told) > 0
	if o.Decide != nil && len(lost.Contents)+len(lost.Changes)+len(lost.States)+len(lost.Ops) > 0 {
		if r.keep, err = o.Decide(lost, gains && len(lost.States) == 0); err != nil {
			return nil, err
		}
		if r.keep != nil {
			r.hollow, r.renumbers = nil, true
			r.leaveOut()
			return r, nil
		}
	}
	switch {
	case len(lost.States) > 0:
		return nil, fmt.Errorf("%w: %d states", ErrNotReplaced, len(lost.States))
	case !gains && len(r.lost)+len(bad.Changes)+len(bad.Ops) > 0:
		return nil, ErrNotReplaced // what is damaged may be of use to somebody yet
	case len(r.lost)+len(told)+len(bad.Ops) > 0:
		r.keep = s.keepAll(told)
		r.leaveOut()
	}
	return r, nil
}

func (r *replacing) hollows() (n int) {
	for _, is := range r.hollow {
		if is {
			n++
		}
	}
	return n
}

// leaveOut has the contents go that are lost.
func (r *replacing) leaveOut() {
	for n := range r.lost {
		r.keep.Blobs[n] = false
	}
}

// loseLists has lists go whose chunks go: such a content is lost.
func (s *Store) loseLists(r *replacing) {
	for n := range s.NumBlobs() {
		rec, _, ok := s.record(blobsCol, n)
		b := parseBlobRecord(rec)
		if !ok || r.lost[n] || !b.list && r.blobs[n] == (change.Hash{}) {
			continue
		}
		at := s
		if h, other := r.blobs[n]; other {
			if b, ok = r.from.findBlob(h); !ok || !b.list {
				continue
			}
			at = r.from
		}
		whole := at.eachChunk(b, func(c blobRecord) error {
			m, ok := s.BlobNumber(c.hash)
			if !ok || r.lost[m] {
				return errBlob
			}
			return nil
		}) == nil
		if !whole {
			delete(r.blobs, n)
			r.lost[n] = true
		}
	}
}

// replaceable tells whether change n can be had elsewhere, with the contents of which its record has only the hash. Or whether its record is
// sound and only such a content is lost: then it stays as it is.
func (s *Store) replaceable(r *replacing, n uint32) bool {
	rec, _, ok := s.record(changesCol, n)
	if !ok {
		return false
	}
	m, ok := r.from.FindChange(s.ChangeID(n))
	if !ok {
		_, _, err := s.storedChange(n, parseChangeRecord(rec))
		return err == nil
	}
	other, _, ok := r.from.record(changesCol, m)
	if !ok {
		return false
	}
	stored, flags, err := r.from.storedChange(m, parseChangeRecord(other))
	if err != nil {
		return false
	}
	for i, f := range stored.fields() {
		if flags>>i&1 == 0 {
			continue
		}
		if b, ok := s.BlobNumber(change.Hash(*f)); !ok || r.lost[b] {
			return false
		}
	}
	return true
}

// blob is the record of content n: of another store where this one's is damaged.
func (p *repack) blob(n uint32) (blobRecord, error) {
	if h, ok := p.replaced().blobs[n]; ok {
		r, ok := p.replace.from.findBlob(h)
		if !ok {
			return r, p.replace.from.missing()
		}
		r.from = p.replace.from
		return r, nil
	}
	rec, _, ok := p.s.record(blobsCol, n)
	if !ok {
		return blobRecord{}, p.s.missing()
	}
	return parseBlobRecord(rec), nil
}

var nothingReplaced replacing

func (p *repack) replaced() *replacing {
	if p.replace == nil {
		return &nothingReplaced
	}
	return p.replace
}

// stored reads change n as it lies in the log, or in another store's.
func (p *repack) stored(n uint32, r changeRecord) (Record, uint16, error) {
	if p.replaced().hollow[n] {
		return Record{ID: r.id}, 0, nil
	}
	if p.replaced().changes[n] {
		if m, ok := p.replace.from.FindChange(r.id); ok {
			rec, _, ok := p.replace.from.record(changesCol, m)
			if !ok {
				return Record{}, 0, p.replace.from.missing()
			}
			return p.replace.from.storedChange(m, parseChangeRecord(rec))
		}
	}
	return p.s.storedChange(n, r)
}

// keepAll keeps all, with states that are told anew.
func (s *Store) keepAll(told map[uint32]State) *Keep {
	t := s.now.Load()
	k := &Keep{States: make([]bool, t.n[statesCol]), Changes: make([]bool, t.n[changesCol]), Blobs: make([]bool, t.n[blobsCol]), Told: told,
		OpView: s.viewOrNone, View: func(uint32, *View, func(uint32) (uint32, error)) error { return nil }}
	for _, list := range [][]bool{k.States, k.Changes, k.Blobs} {
		for i := range list {
			list[i] = true
		}
	}
	return k
}

// viewOrNone is the view of an operation, or nil if it is damaged.
func (s *Store) viewOrNone(n uint32) (*View, error) {
	v, err := s.OpView(n)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return v, err
}
