package repo

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// A log has a state after each of its steps. Its other positions, inside a step that took in many changes at once or where it
// leaves out a change that came before, are made states when somebody names them: by who reads in memory only, as spares, by a
// transaction in the store.

// midway is a step of a log that has positions which are no states of the store: they lie in the step of one, or in its log
// without some of its changes.
type midway struct {
	at      uint32   // that state, of the store
	out     []uint32 // left out of its log, ascending
	changes []uint32 // that it appended, without those
	pos     uint64   // length of the log before these
	beside  bool

	parent    int64    // of at
	parentOut []uint32 // left out of the parent's log, ascending

	made []uint32 // spares, those with more of the changes first
}

// key tells a midway from others.
func (m *midway) key() string {
	key := binary.LittleEndian.AppendUint32(nil, m.at)
	for _, n := range m.out {
		key = binary.LittleEndian.AppendUint32(key, n)
	}
	return string(key)
}

// onParent tells the position with k of the changes by the state before.
func (m *midway) onParent(k int) store.State {
	return store.State{Parent: m.parent, Without: m.parentOut, Changes: m.changes[:k:k], Pos: m.pos + uint64(k), Beside: m.beside}
}

// short tells the position with k of the changes by the state before or that at the end, whichever takes fewer changes.
func (m *midway) short(k int) store.State {
	if len(m.out)+len(m.changes)-k < len(m.parentOut)+k {
		return store.State{Parent: int64(m.at), Without: sortedWith(m.out, m.changes[k:]), Pos: m.pos + uint64(k)}
	}
	return m.onParent(k)
}

func sortedWith(a, b []uint32) []uint32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return out
}

// atPosition finds the state with the first pos changes of the log of s.
func (r *Repo) atPosition(s uint32, pos uint64) (uint32, error) {
	if pos == 0 {
		return NoState, nil
	}
	if near, ok := r.spares.beside(s, pos); ok {
		return r.spare(near.of, near.k)
	}
	found := uint32(NoState)
	var m *midway
	err := r.eachStep(s, func(step *logStep) (bool, error) {
		n := uint64(len(step.changes))
		switch {
		case pos > step.pos || n > step.pos:
			return false, nil // it cannot be
		case pos == step.pos && step.whole:
			found = step.at
			return false, nil
		case n == 0 || pos <= step.pos-n:
			return true, nil
		}
		st, err := r.state(step.at)
		if err != nil {
			return false, storeError(err)
		}
		m = &midway{at: step.at, changes: step.changes, pos: step.pos - n, beside: step.beside || len(step.under)+len(step.passed) > 0,
			parent: st.Parent, parentOut: step.under.sorted()}
		m.out = sortedWith(step.under.beyond(st.Without), step.passed)
		return false, nil
	})
	switch {
	case err != nil:
		return 0, err
	case m != nil:
		return r.spare(m, int(pos-m.pos))
	case found == NoState:
		return 0, storeError(fmt.Errorf("the log of state %d has no position %d: %w", s, pos, store.ErrDamaged))
	}
	return found, nil
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
	of, ok := p.of(s)
	if !ok {
		return 0, storeError(fmt.Errorf("read state %d: %w", s, store.ErrNotFound))
	}
	st := of.of.short(of.k)
	st.ID = of.id
	n, ok, err := t.named(s, &st)
	if err == nil && !ok {
		n, err = t.putState(st)
	}
	if err != nil {
		return 0, err
	}
	if root, ok := p.root(t.r.blocks, s); ok {
		t.r.blocks.PutRoot(state.StateRoot{State: n, Root: root})
	}
	return n, nil
}

// named finds a state that the view names already and that is the same as a spare.
func (t *tx) named(s uint32, st *store.State) (uint32, bool, error) {
	r := t.r
	last, _, _, err := r.lastChange(s)
	if err != nil {
		return 0, false, err
	}
	is := func(o uint32) (bool, error) {
		if isSpare(o) {
			return false, nil
		}
		if ref, err := r.stateRef(o); err != nil || ref.ID != st.ID || ref.Len != st.Pos {
			return false, err
		}
		n, _, _, err := r.lastChange(o)
		return n == last, err
	}
	for _, names := range []map[string]uint32{{"": baseOf(t.view)}, t.view.Bookmarks, t.view.Tags} {
		for _, o := range names {
			if ok, err := is(o); err != nil || ok {
				return o, ok, err
			}
		}
	}
	return 0, false, nil
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
		n, err := t.real(s)
		if err != nil {
			return err
		}
		v.Checkpoints[i] = n
	}
	if v.Base >= 0 {
		n, err := t.real(uint32(v.Base))
		v.Base = int64(n)
		return err
	}
	return nil
}
