package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Keep says what a repack that drops something leaves: the ops from FirstOp on, and of the rest what is marked, by number.
// States are marked with their parents, changes with all that they depend on; what contents a change, a state or a view needs
// for itself is the store's to know, not what the bytes of a change name. Everything gets a number anew, in the same order.
type Keep struct {
	FirstOp                uint32
	States, Changes, Blobs []bool
	// Told are states that stay and are told anew, in the old numbers: by another parent, since theirs has what shall go.
	Told map[uint32]State
	// OpView, if any, gives the view to tell of an operation that stays, in the old numbers, in place of Store.OpView: nil for one that is
	// lost, of which the new log says so.
	OpView func(op uint32) (*View, error)
	// View is told each view that stays, its states numbered anew, to alter what it keeps; op is its number from now on, and
	// state gives the new number of a state that stays.
	View func(op uint32, v *View, state func(old uint32) (uint32, error)) error
}

// ErrRenumbered says that another process dropped old history since this one looked: the numbers that it knows mean other
// things now. It must open the store again.
var ErrRenumbered = errors.New("another process dropped old history meanwhile")

// BlobNumber returns the number of a content, for Keep.
func (s *Store) BlobNumber(h change.Hash) (uint32, bool) {
	n, _, ok := s.find(blobsCol, (*[32]byte)(&h))
	return n, ok
}

// NumOpsAt returns the first operation at or after a time, and NumOps if there is none.
func (s *Store) NumOpsAt(time int64) (uint32, error) {
	low, high := uint32(0), s.NumOps()
	for low < high {
		mid := low + (high-low)/2
		op, err := s.Op(mid)
		if err != nil {
			return 0, err
		}
		if op.Time < time {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, nil
}

// numbering maps old numbers to new ones.
type numbering struct {
	kept  []bool
	new   []uint32 // of each old number how many kept ones lie before it
	count uint32
}

func numberAnew(kept []bool) numbering {
	m := numbering{kept: kept, new: make([]uint32, len(kept)+1)}
	for i, k := range kept {
		m.new[i] = m.count
		if k {
			m.count++
		}
	}
	m.new[len(kept)] = m.count
	return m
}

var errKeep = errors.New("what shall stay needs what shall go")

func (m *numbering) of(old uint32) (uint32, error) {
	if old >= uint32(len(m.kept)) || !m.kept[old] {
		return 0, errKeep
	}
	return m.new[old], nil
}

// dropPlan is a packPlan that leaves things out.
type dropPlan struct {
	*packPlan
	keep                  *Keep
	blobs, changes, state numbering
	deps                  []uint32 // of each old change how many dependencies of kept ones lie before it
	extra                 uint32   // contents for views that were not there before
	n                     counts   // what the base must have
}

// all is as packPlan.all.
func (p *dropPlan) all() error {
	if err := p.number(); err != nil {
		return err
	}
	for _, part := range []func() error{p.contents, p.putChanges, p.putStates, p.putOps} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// number finds the contents that the store itself needs, and the new numbers.
func (p *dropPlan) number() error {
	k, t := p.keep, p.t
	if uint32(len(k.States)) != t.n[statesCol] || uint32(len(k.Changes)) != t.n[changesCol] || uint32(len(k.Blobs)) != t.n[blobsCol] || k.FirstOp >= t.n[opsCol] {
		return errKeep
	}
	lost := p.replaced().lost
	needs := func(h change.Hash) error {
		n, ok := p.s.BlobNumber(h)
		if lost != nil && (!ok || lost[n]) {
			return nil // what needs it cannot be read as it is
		}
		if !ok {
			return fmt.Errorf("content %s: %w", h, p.s.missing())
		}
		k.Blobs[n] = true
		return nil
	}
	p.deps = make([]uint32, t.n[changesCol]+1)
	for n := range t.n[changesCol] {
		p.deps[n+1] = p.deps[n]
		if !k.Changes[n] {
			continue
		}
		rec, _, ok := p.s.record(changesCol, n)
		if !ok {
			return p.s.missing()
		}
		p.deps[n+1] += depCount(rec)
		stored, flags, err := p.stored(n, parseChangeRecord(rec))
		if err != nil {
			return err
		}
		for i, f := range stored.fields() {
			if flags>>i&1 != 0 {
				if err := needs(change.Hash(*f)); err != nil {
					return err
				}
			}
		}
	}
	for n := range t.n[blobsCol] {
		r, err := p.blob(n)
		if err != nil {
			return err
		}
		if k.Blobs[n] && r.list {
			if err := cmp.Or(r.from, p.s).eachChunk(r, func(c blobRecord) error { return needs(c.hash) }); err != nil {
				return err
			}
		}
	}
	p.kept = k.Blobs
	p.blobs, p.changes, p.state = numberAnew(k.Blobs), numberAnew(k.Changes), numberAnew(k.States)
	p.n = counts{opsCol: t.n[opsCol] - k.FirstOp, changesCol: p.changes.count, depsCol: p.deps[t.n[changesCol]],
		blobsCol: p.blobs.count, statesCol: p.state.count}
	return nil
}

func (p *dropPlan) putChanges() error {
	var g changeGroup
	flush := func() error {
		if len(g.ids) == 0 {
			return nil
		}
		full := g
		g = changeGroup{}
		return p.emit(&packJob{records: int64(len(full.ids)), make: full.pack})
	}
	for n := uint32(0); n < p.t.n[changesCol]; n++ {
		if !p.keep.Changes[n] {
			continue
		}
		rec, _, ok := p.s.record(changesCol, n)
		if !ok {
			return p.s.missing()
		}
		r := parseChangeRecord(rec)
		stored, flags, err := p.stored(n, r)
		if err != nil {
			return err
		}
		old := p.s.Deps(n)
		deps := make([]uint32, len(old))
		for i, d := range old {
			if deps[i], err = p.changes.of(d); err != nil {
				return fmt.Errorf("change %d: %w", n, err)
			}
		}
		if err := p.s.Err(); err != nil {
			return err
		}
		size := len(deps)
		for _, f := range stored.fields() {
			size += len(*f)
		}
		if len(g.ids) > 0 && g.size+size > packedRecords || len(g.ids) == maxPacked {
			if err := flush(); err != nil {
				return err
			}
		}
		g.add(p.changes.new[n], &stored, flags, deps, r.time)
		g.size += size
	}
	return flush()
}

func (p *dropPlan) putStates() error {
	var encoded []byte
	items := 0
	flush := func() error {
		if items == 0 {
			return nil
		}
		contents, count := encoded, items
		encoded, items = nil, 0
		return p.emit(&packJob{records: int64(count), make: func(out []byte) ([]byte, error) {
			return appendPacked(out, kindStates, count, nil, contents)
		}})
	}
	for n := uint32(0); n < p.t.n[statesCol]; n++ {
		if !p.keep.States[n] {
			continue
		}
		st, told := p.keep.Told[n]
		if !told {
			var err error
			if st, err = p.s.State(n); err != nil {
				return err
			}
		}
		if st.Parent >= 0 {
			parent, err := p.state.of(uint32(st.Parent))
			if err != nil {
				return fmt.Errorf("state %d: %w", n, err)
			}
			st.Parent = int64(parent)
		}
		for _, list := range []*[]uint32{&st.Changes, &st.Without} {
			old := *list
			*list = make([]uint32, len(old))
			for i, c := range old {
				var err error
				if (*list)[i], err = p.changes.of(c); err != nil {
					return fmt.Errorf("state %d: %w", n, err)
				}
			}
		}
		encoded = appendState(encoded, &st)
		if items++; len(encoded) >= stateFrame {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// renumber gives a view with its states numbered anew.
func (p *dropPlan) renumber(op uint32, old *View) (*View, error) {
	v := old.Clone()
	var err error
	one := func(n uint32) uint32 {
		m, no := p.state.of(n)
		err = errors.Join(err, no)
		return m
	}
	for _, names := range []map[string]uint32{v.Bookmarks, v.Tags} {
		for name, n := range names {
			if n != noState {
				names[name] = one(n)
			}
		}
	}
	for i, n := range v.Checkpoints {
		v.Checkpoints[i] = one(n)
	}
	if v.Base >= 0 {
		v.Base = int64(one(uint32(v.Base)))
	}
	return v, errors.Join(err, p.keep.View(op, v, p.state.of))
}

// LostOp is the command of an operation that was damaged and of which nothing is known any more.
const LostOp = "(lost: it was damaged)"

func (p *dropPlan) opView(n uint32) (*View, error) {
	if p.keep.OpView != nil {
		return p.keep.OpView(n)
	}
	return p.s.OpView(n)
}

// putOps tells each view anew: in full, or as the difference to the one that the chain asks for, as encodeView does.
func (p *dropPlan) putOps() error {
	type link struct {
		depth uint32
		view  *View
	}
	var links []link // of the chain: the last, and those that later ones may refer to
	var c chain
	var contents []byte
	var before opTableFields
	first, items := uint32(0), 0
	var last counts // of the old log, as the op before says: of one that is lost nobody knows better
	time := int64(0)
	flush := func() error {
		if items == 0 {
			return nil
		}
		full, count, table := contents, items, binary.LittleEndian.AppendUint32(nil, first)
		contents, items, before = nil, 0, opTableFields{}
		return p.emit(&packJob{records: int64(count), make: func(out []byte) ([]byte, error) {
			return appendPacked(out, kindOps, count, table, full)
		}})
	}
	tell := func(number uint32, t *opTableFields, body *opBody) error {
		t.number = number
		last = t.n.atLeast(last)
		t.n = counts{opsCol: number + 1, changesCol: p.changes.new[last[changesCol]], depsCol: p.deps[last[changesCol]],
			blobsCol: p.blobs.new[last[blobsCol]], statesCol: p.state.new[last[statesCol]]}
		if items == 0 {
			first = number
		}
		contents = appendPackedOp(contents, &before, t, body)
		before = *t
		if items++; len(contents) >= packedRecords || items == maxPacked {
			return flush()
		}
		return nil
	}
	for n := p.keep.FirstOp; n < p.t.n[opsCol]; n++ {
		rec, _, ok := p.s.record(opsCol, n)
		if !ok {
			return p.s.missing()
		}
		t, body, err := p.s.op(opRecordPlace(rec), n)
		if p.replace != nil && errors.Is(err, ErrDamaged) {
			t, body, err = opTableFields{time: time, n: last}, opBody{command: []string{LostOp}}, nil
			if n+1 == p.t.n[opsCol] {
				t.n = p.t.n
			}
		}
		if err != nil {
			return err
		}
		time = t.time
		old, err := p.opView(n)
		if err != nil {
			return err
		}
		number := n - p.keep.FirstOp
		if old == nil {
			t.view, body.view, t.chain = viewFull|viewBlob, make([]byte, len(change.Hash{})), chain{}
			links = links[:0]
			if err := tell(number, &t, &body); err != nil {
				return err
			}
			continue
		}
		view, err := p.renumber(number, old)
		if err != nil {
			return fmt.Errorf("operation %d: %w", n, err)
		}
		var entries []viewEntry
		differ := func(e viewEntry) { entries = append(entries, e) }
		t.view = 0
		if len(links) > 0 {
			single := uint64(0)
			diffViews(links[len(links)-1].view, view, func(e viewEntry) { single += uint64(e.size()) })
			c = chain{depth: c.depth + 1, weight: uint32(min(uint64(c.weight)+single, 1<<32-1)), full: c.full}
		}
		if len(links) == 0 || c.weight > c.full || view.size() <= viewAlways {
			diffViews(NewView(), view, differ)
			body.view, t.view, links = encodeEntries(entries), viewFull, links[:0]
			c = chain{full: uint32(len(body.view))}
		} else {
			target := lowestCleared(c.depth)
			for links[len(links)-1].depth > target {
				links = links[:len(links)-1]
			}
			diffViews(links[len(links)-1].view, view, differ)
			body.view = encodeEntries(entries)
		}
		links = append(links, link{c.depth, view})
		if len(body.view) > viewInline {
			h := hashOf(body.view)
			if err := p.putView(h, body.view); err != nil {
				return err
			}
			body.view = h[:]
			t.view |= viewBlob
		}
		t.chain = c
		if err := tell(number, &t, &body); err != nil {
			return err
		}
	}
	p.n[blobsCol] += p.extra
	return flush()
}

var errLongView = errors.New("a view is too long to be told in one content")

// putView puts a content for a view, unless it is there.
func (p *dropPlan) putView(h change.Hash, data []byte) error {
	if n, ok := p.s.BlobNumber(h); ok && p.keep.Blobs[n] {
		return nil
	}
	if len(data) > maxBlob {
		return errLongView
	}
	p.extra++
	table := binary.LittleEndian.AppendUint32(append([]byte(nil), h[:]...), uint32(len(data)))
	return p.emit(&packJob{records: 1, make: func(out []byte) ([]byte, error) { return appendPacked(out, kindBlobs, 1, table, data) }})
}
