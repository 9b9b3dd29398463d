package repo

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// A log has a state after each of its steps. Its other positions, inside a step that took in many changes at once or where it
// leaves out a change that came before, are made states when somebody names them: by who reads in memory only, as spares, by a
// transaction in the store.

// firstSpare is the number of the first spare. No store comes near so many states: their index alone would take 128 GiB.
const firstSpare = 1 << 31

func isSpare(s uint32) bool { return s >= firstSpare && s != NoState }

// midway is a position of a log that no state of it stands for.
type midway struct {
	at      uint32   // the state in whose step it lies, or of whose log it leaves out changes
	out     []uint32 // left out of the log of at, ascending
	changes []uint32 // that at appended, without those left out
	k       int      // how many of these the position has
	pos     uint64
	beside  bool

	parent    int64    // of at
	parentOut []uint32 // left out of the parent's log, ascending
}

// findPosition finds the state with the first pos changes of a log, or what it is midway of it would stand.
func (r *Repo) findPosition(s uint32, pos uint64) (uint32, *midway, error) {
	if pos == 0 {
		return NoState, nil, nil
	}
	found := uint32(NoState)
	var b *midway
	err := r.eachStep(s, func(step *logStep) (bool, error) {
		m := uint64(len(step.changes))
		switch {
		case pos > step.pos || m > step.pos:
			return false, nil // it cannot be
		case pos == step.pos && step.whole:
			found = step.at
			return false, nil
		case m > 0 && pos > step.pos-m:
			st, err := r.state(step.at)
			if err != nil {
				return false, storeError(err)
			}
			b = &midway{at: step.at, changes: slices.Clone(step.changes), k: int(m - (step.pos - pos)), pos: pos, parent: st.Parent,
				parentOut: step.under.sorted(), beside: step.beside || len(step.under) > 0}
			own := leftOut{}.with(st.Without) // these are left out by at itself
			for n := range step.under {
				if !own.has(n) {
					b.out = append(b.out, n)
				}
			}
			b.out = append(b.out, step.passed...)
			slices.Sort(b.out)
			return false, nil
		}
		return true, nil
	})
	if err == nil && found == NoState && b == nil {
		err = storeError(fmt.Errorf("the log of state %d has no position %d: %w", s, pos, store.ErrDamaged))
	}
	return found, b, err
}

// made gives the state of the position by that of at or by the one before, whichever takes fewer changes to tell.
func (b *midway) made() store.State {
	if len(b.changes)-b.k < b.k {
		return store.State{Parent: int64(b.at), Without: sortedWith(b.out, b.changes[b.k:]), Pos: b.pos}
	}
	return store.State{Parent: b.parent, Without: b.parentOut, Changes: b.changes[:b.k], Pos: b.pos, Beside: b.beside}
}

func sortedWith(a, b []uint32) []uint32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return out
}

// spares are the states that were made on demand.
type spares struct {
	mu     sync.Mutex
	made   []spare                // numbered from firstSpare on
	within map[uint32][]uint32    // of a state, the spares inside its step, by position
	byOut  map[string]uint32      // the others, by the state of whose log they leave out changes, and these
	put    map[uint32]store.State // those that the transaction under way put
	roots  map[uint32]state.Root  // of their trees, in blocks
	blocks *state.Blocks
}

type spare struct {
	store.State
	of midway
}

func (p *spares) state(s uint32) (store.State, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if isSpare(s) && int(s-firstSpare) < len(p.made) {
		return p.made[s-firstSpare].State, true
	}
	st, ok := p.put[s]
	return st, ok
}

// forgetPut forgets what a transaction put: it is in the store now, or nowhere.
func (p *spares) forgetPut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put = nil
}

// forget forgets all: states have other numbers now.
func (p *spares) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made, p.within, p.byOut, p.put, p.roots, p.blocks = nil, nil, nil, nil, nil, nil
}

// atPosition finds the state with the first pos changes of the log of s.
func (r *Repo) atPosition(s uint32, pos uint64) (uint32, error) {
	found, b, err := r.findPosition(s, pos)
	if err != nil || b == nil {
		return found, err
	}
	st := b.made()
	p := &r.spares
	p.mu.Lock()
	inner := len(b.out) == 0 // inside the step of a state: those inside it that were made before may be nearer
	key := ""
	if inner {
		best := min(b.k, len(b.changes)-b.k)
		for _, near := range p.within[b.at] {
			o := &p.made[near-firstSpare]
			switch k := o.of.k; {
			case k == b.k:
				p.mu.Unlock()
				return near, nil
			case k < b.k && b.k-k < best:
				best, st = b.k-k, store.State{Parent: int64(near), Changes: b.changes[k:b.k], Pos: pos, Beside: b.beside}
			case k > b.k && k-b.k < best:
				best, st = k-b.k, store.State{Parent: int64(near), Without: sortedWith(nil, b.changes[b.k:k]), Pos: pos}
			}
		}
	} else {
		var id []byte
		for _, n := range append([]uint32{b.at, uint32(b.k)}, b.out...) {
			id = binary.LittleEndian.AppendUint32(id, n)
		}
		if key = string(id); p.byOut[key] != 0 {
			defer p.mu.Unlock()
			return p.byOut[key], nil
		}
	}
	p.mu.Unlock()
	if st.ID, err = r.idOfState(&st, r.store.ChangeID); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s = firstSpare + uint32(len(p.made))
	p.made = append(p.made, spare{st, *b})
	if p.within == nil {
		p.within, p.byOut = map[uint32][]uint32{}, map[string]uint32{}
	}
	if inner {
		p.within[b.at] = append(p.within[b.at], s)
	} else {
		p.byOut[key] = s
	}
	return s, nil
}

// idOfState makes the id of a state by its parent's.
func (r *Repo) idOfState(st *store.State, idOf func(uint32) change.ID) ([32]byte, error) {
	var set state.SetHash
	if st.Parent >= 0 {
		before, err := r.state(uint32(st.Parent))
		if err != nil {
			return st.ID, storeError(err)
		}
		if set, err = state.ParseSetHash(before.ID); err != nil {
			return st.ID, err
		}
	}
	for _, n := range st.Without {
		set.Remove(idOf(n))
	}
	for _, n := range st.Changes {
		set.Add(idOf(n))
	}
	return set.Bytes(), r.store.Err()
}

// real gives the number of a state in the store, which a spare is put into first: a view names no others.
func (t *tx) real(s uint32) (uint32, error) {
	if !isSpare(s) {
		return s, nil
	}
	p := &t.r.spares
	p.mu.Lock()
	if int(s-firstSpare) >= len(p.made) {
		p.mu.Unlock()
		return 0, storeError(fmt.Errorf("read state %d: %w", s, store.ErrNotFound))
	}
	of, id := p.made[s-firstSpare].of, p.made[s-firstSpare].ID
	p.mu.Unlock()
	var err error
	if of.at, err = t.real(of.at); err != nil {
		return 0, err
	}
	if of.parent >= 0 {
		n, err := t.real(uint32(of.parent))
		if err != nil {
			return 0, err
		}
		of.parent = int64(n)
	}
	st := of.made()
	st.ID = id
	n, err := t.putState(st)
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if root, ok := p.roots[s]; ok && p.blocks == t.r.blocks {
		t.r.blocks.PutRoot(state.StateRoot{State: n, Root: root})
	}
	return n, nil
}

// realView has a view name no spares.
func (t *tx) realView(v *store.View) error {
	for _, names := range []map[string]uint32{v.Bookmarks, v.Tags} {
		for name, s := range names {
			if isSpare(s) {
				n, err := t.real(s)
				if err != nil {
					return err
				}
				names[name] = n
			}
		}
	}
	for i, s := range v.Checkpoints {
		if isSpare(s) {
			n, err := t.real(s)
			if err != nil {
				return err
			}
			v.Checkpoints[i] = n
		}
	}
	if v.Base >= 0 {
		n, err := t.real(uint32(v.Base))
		v.Base = int64(n)
		return err
	}
	return nil
}

// putState puts a state whose id is known, and has it read like any other until the transaction is over.
func (t *tx) putState(st store.State) (uint32, error) {
	r := t.r
	if len(st.Without) > 0 && !r.store.LeavesOut() {
		told, err := r.toldBy(st, func(uint32) bool { return false })
		if err != nil {
			return 0, err
		}
		st = told
	}
	n, err := t.PutState(st)
	if err != nil {
		return 0, err
	}
	p := &r.spares
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.put == nil {
		p.put = map[uint32]store.State{}
	}
	p.put[n] = st
	return n, nil
}

// toldBy tells a state by one beneath it of whose log it leaves out only such changes as may be left out.
func (r *Repo) toldBy(st store.State, may func(n uint32) bool) (store.State, error) {
	told := store.State{Parent: -1, Pos: st.Pos, ID: st.ID, Beside: true}
	out := leftOut{}.with(st.Without)
	back := slices.Clone(st.Changes) // latest first
	slices.Reverse(back)
	bad := 0 // of out, those that may not be left out
	for n := range out {
		if !may(n) {
			bad++
		}
	}
	for at := st.Parent; at >= 0; {
		if bad == 0 {
			told.Parent, told.Without = at, out.sorted()
			break
		}
		below, parent, err := r.step(uint32(at))
		if err != nil {
			return told, err
		}
		rest, passed := out.pass(below.Changes)
		for _, n := range slices.Backward(rest) {
			back = append(back, n)
		}
		for _, n := range passed {
			if !may(n) {
				bad--
			}
		}
		out = out.with(below.Without)
		for _, n := range below.Without {
			if !may(n) {
				bad++
			}
		}
		if at = int64(parent); parent == NoState {
			at = -1
		}
	}
	slices.Reverse(back)
	told.Changes = back
	return told, nil
}

// rootOf gives the root of a state's tree, if it is there.
func (r *Repo) rootOf(b *state.Blocks, s uint32) (state.Root, bool, error) {
	if !isSpare(s) {
		root, ok, err := b.Root(s)
		return root.Root, ok, err
	}
	p := &r.spares
	p.mu.Lock()
	defer p.mu.Unlock()
	root, ok := p.roots[s]
	return root, ok && p.blocks == b, nil
}

// putRoot keeps the root of a state's tree: a spare's only as long as these blocks are at hand.
func (r *Repo) putRoot(b *state.Blocks, s uint32, root state.Root) {
	if !isSpare(s) {
		b.PutRoot(state.StateRoot{State: s, Root: root})
		return
	}
	p := &r.spares
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blocks != b || p.roots == nil {
		p.blocks, p.roots = b, map[uint32]state.Root{}
	}
	p.roots[s] = root
}
