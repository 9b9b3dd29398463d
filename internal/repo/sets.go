package repo

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// setOf is the set of changes of a state: that of the nearest state before it of which it is kept, and the log since.
func (r *Repo) setOf(s uint32) (state.Set, error) {
	done := r.opt.Timings.Phase("set")
	defer done(0)
	var b state.SetBuilder
	for s != NoState {
		kept, ok, err := r.keptSet(s)
		if err != nil {
			return state.Set{}, err
		}
		if ok {
			return kept.Union(b.Set()), nil
		}
		st, parent, err := r.step(s)
		if err != nil {
			return state.Set{}, err
		}
		for _, n := range slices.Backward(st.Changes) {
			b.Add(n)
		}
		s = parent
	}
	return b.Set(), nil
}

// keptSet reads the set of a state that is kept beside its tree.
func (r *Repo) keptSet(s uint32) (set state.Set, ok bool, err error) {
	blocks, err := r.openBlocks()
	if err != nil {
		return set, false, err
	}
	root, ok, err := blocks.Root(s)
	if err != nil || !ok || root.Set == 0 {
		return set, false, err
	}
	set, err = blocks.Set(root.Set)
	return set, err == nil, err
}

// setEvery is about how many changes apart sets are kept: walking so many takes a tenth of a millisecond.
const setEvery = 1024

// keepSet keeps the set of a state beside its tree, if none is kept of a state less than so many changes before it.
func (t *tx) keepSet(s uint32, every int) error {
	r := t.r
	if s == NoState || s >= r.store.NumStates() {
		return nil
	}
	blocks, err := r.openBlocks()
	if err != nil {
		return err
	}
	root, ok, err := blocks.Root(s)
	if err != nil || !ok {
		return err
	}
	changes := 0
	for at := s; changes < every; {
		if at == NoState {
			return nil
		}
		if near, ok, err := blocks.Root(at); err != nil || ok && near.Set != 0 {
			return err
		}
		st, parent, err := r.step(at)
		if err != nil {
			return err
		}
		changes += len(st.Changes)
		at = parent
	}
	set, err := r.setOf(s)
	if err != nil {
		return err
	}
	if root.Set, err = blocks.PutSet(set); err != nil {
		return err
	}
	blocks.PutRoot(root)
	return nil
}

// step reads a state and its parent. States are numbered after their parents, which what goes through them by number
// relies on.
func (r *Repo) step(s uint32) (st store.State, parent uint32, err error) {
	st, err = r.store.State(s)
	switch {
	case err != nil:
		return st, 0, storeError(err)
	case st.Parent < 0:
		return st, NoState, nil
	case st.Parent >= int64(s):
		return st, 0, storeError(fmt.Errorf("state %d follows state %d: %w", s, st.Parent, store.ErrDamaged))
	}
	return st, uint32(st.Parent), nil
}

// apart takes two logs back to where they are one, and gives what each has beyond, latest first. It looks at nothing
// beneath: two states of a long history that are near are told apart at once.
func (r *Repo) apart(a, b uint32) (beyondA, beyondB []uint32, err error) {
	for a != b {
		// The later one is not beneath the other.
		at, beyond := &a, &beyondA
		if a == NoState || b != NoState && b > a {
			at, beyond = &b, &beyondB
		}
		st, parent, err := r.step(*at)
		if err != nil {
			return nil, nil, err
		}
		for _, n := range slices.Backward(st.Changes) {
			*beyond = append(*beyond, n)
		}
		*at = parent
	}
	return beyondA, beyondB, nil
}

// holders tells of every state whether it has change n.
func (r *Repo) holders(n uint32) (func(s uint32) bool, error) {
	has := make([]bool, r.store.NumStates())
	for s := range has {
		st, parent, err := r.step(uint32(s))
		if err != nil {
			return nil, err
		}
		has[s] = parent != NoState && has[parent] || slices.Contains(st.Changes, n)
	}
	return func(s uint32) bool { return s != NoState && has[s] }, nil
}

// reachable gives the sets of what all that a view names has, for two views in one pass.
func (r *Repo) reachable(before, after *store.View) (was, is state.Set, err error) {
	const inBefore, inAfter = 1, 2
	marks := make([]uint8, r.store.NumStates())
	mark := func(v *store.View, bit uint8) {
		if v.Base >= 0 {
			marks[v.Base] |= bit
		}
		for _, s := range v.Bookmarks {
			marks[s] |= bit
		}
		for _, s := range v.Tags {
			marks[s] |= bit
		}
	}
	mark(before, inBefore)
	mark(after, inAfter)
	var wasB, isB state.SetBuilder
	for s, m := range slices.Backward(marks) {
		if m == 0 {
			continue
		}
		st, parent, err := r.step(uint32(s))
		if err != nil {
			return was, is, err
		}
		if parent != NoState {
			marks[parent] |= m
		}
		for _, n := range slices.Backward(st.Changes) {
			if m&inBefore != 0 {
				wasB.Add(n)
			}
			if m&inAfter != 0 {
				isB.Add(n)
			}
		}
	}
	return wasB.Set(), isB.Set(), nil
}
