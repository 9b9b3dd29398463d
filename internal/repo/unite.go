package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// difference gives the changes that a state has and another has not, each in the order of its log.
func (r *Repo) difference(a, b uint32) (onlyA, onlyB []uint32, err error) {
	done := r.opt.Timings.Phase("difference")
	defer done(0)
	beyondA, beyondB, err := r.apart(a, b)
	if err != nil {
		return nil, nil, err
	}
	return without(beyondA, beyondB), without(beyondB, beyondA), nil
}

// without gives what a list has and another has not, from last to first.
func without(list, other []uint32) []uint32 {
	var b state.SetBuilder
	for _, n := range other {
		b.Add(n)
	}
	set := b.Set()
	out := make([]uint32, 0, len(list))
	for _, n := range slices.Backward(list) {
		if !set.Has(n) {
			out = append(out, n)
		}
	}
	return out
}

// unite makes the state of all that two states have, with its tree. The second one's changes follow the first one's log.
func (t *tx) unite(a, b StateRef) (StateRef, error) {
	r := t.r
	onlyA, onlyB, err := r.difference(a.Num, b.Num)
	switch {
	case err != nil:
		return StateRef{}, err
	case len(onlyB) == 0:
		return a, nil
	case len(onlyA) == 0:
		return b, nil
	}
	treeA, err := r.tree(a.Num)
	if err != nil {
		return StateRef{}, err
	}
	treeB, err := r.tree(b.Num)
	if err != nil {
		return StateRef{}, err
	}
	next, err := t.appendBeside(a, onlyB)
	if err != nil {
		return StateRef{}, err
	}
	done := r.opt.Timings.Phase("unite trees")
	defer done(0)
	// The tree of the side that knows more is built on.
	base, from, less, more := treeA, treeB, onlyB, onlyA
	if len(onlyB) > len(onlyA) {
		base, from, less, more = treeB, treeA, onlyA, onlyB
	}
	f, err := r.newFuse(base, t.r.newReach())
	if err != nil {
		return StateRef{}, err
	}
	if err := f.uniteWith(from, less, more); err != nil {
		return StateRef{}, err
	}
	return next, t.keepTree(next, f)
}

// uniteWith takes in another tree: less are the changes that it alone has, more those that base alone has.
func (f *fuse) uniteWith(from state.Tree, less, more []uint32) error {
	disputes, err := from.Disputes()
	if err != nil {
		return err
	}
	theirs, err := f.r.touchedBy(less)
	if err != nil {
		return err
	}
	ours := map[change.FileID]bool{} // of theirs
	err = f.r.eachTouched(more, func(id change.FileID) {
		if theirs[id] {
			ours[id] = true
		}
	})
	if err != nil {
		return err
	}
	for id := range theirs {
		if ours[id] {
			err = f.unite(id, from, disputes)
		} else {
			err = f.take(id, from, disputes)
		}
		if err != nil {
			return err
		}
	}
	return state.DiffVacated(f.base, from, func(path string, by []uint32) error {
		for _, n := range by {
			f.vacated = append(f.vacated, state.Vacated{Path: path, By: n})
		}
		return nil
	})
}

// touchedBy lists the files on which changes act.
func (r *Repo) touchedBy(changes []uint32) (map[change.FileID]bool, error) {
	out := make(map[change.FileID]bool, len(changes))
	return out, r.eachTouched(changes, func(id change.FileID) { out[id] = true })
}

// eachTouched calls fn for the files on which changes act, once for each change. An import keeps in mind which they are.
func (r *Repo) eachTouched(changes []uint32, fn func(change.FileID)) error {
	for _, n := range changes {
		ids, known := r.touched[n]
		if !known {
			o, err := r.origin(n)
			if err != nil {
				return err
			}
			ids = make([]change.FileID, len(o.files))
			for i := range o.files {
				ids[i] = o.files[i].ID
			}
			if r.touched != nil {
				r.touched[n] = ids
			}
		}
		for _, id := range ids {
			fn(id)
		}
	}
	return nil
}

// keepTree stores the tree that a fuse makes as that of a state.
func (t *tx) keepTree(s StateRef, f *fuse) error {
	tree, err := f.finish()
	if err != nil {
		return err
	}
	t.r.blocks.PutRoot(state.StateRoot{State: s.Num, Root: tree.Root()})
	return nil
}

// maxSteps is up to how many changes that are added at once get a state each, so that every one of them can be named by its
// place in the log.
const maxSteps = 4096

// appendBeside adds changes to the log of a state beside others that they may not know of.
func (t *tx) appendBeside(base StateRef, nums []uint32) (StateRef, error) {
	set, err := state.ParseSetHash(base.ID)
	if err != nil {
		return StateRef{}, err
	}
	if len(nums) > maxSteps {
		if base, err = t.putStep(base, &set, nums[:len(nums)-maxSteps], true); err != nil {
			return StateRef{}, err
		}
		nums = nums[len(nums)-maxSteps:]
	}
	for i := range nums {
		if base, err = t.putStep(base, &set, nums[i:i+1], true); err != nil {
			return StateRef{}, err
		}
	}
	return base, nil
}

// appendStep adds changes to the log of a state in one step, each recorded on what comes before it.
func (t *tx) appendStep(base StateRef, nums ...uint32) (StateRef, error) {
	set, err := state.ParseSetHash(base.ID)
	if err != nil {
		return StateRef{}, err
	}
	return t.putStep(base, &set, nums, false)
}

func (t *tx) putStep(base StateRef, set *state.SetHash, nums []uint32, beside bool) (next StateRef, err error) {
	next.Len = base.Len + uint64(len(nums))
	st := store.State{Parent: -1, Changes: nums, Pos: next.Len, Beside: beside}
	if base.Num != NoState {
		st.Parent = int64(base.Num)
	}
	for _, n := range nums {
		set.Add(t.idOf(n))
	}
	next.ID = set.Bytes()
	st.ID = next.ID
	next.Num, err = t.PutState(st)
	return next, err
}
