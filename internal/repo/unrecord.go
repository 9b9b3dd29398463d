package repo

import (
	"context"
	"fmt"
	"slices"
)

// UnrecordOptions say how changes are taken away.
type UnrecordOptions struct {
	WithDependents bool // those that depend on them too
	KeepFiles      bool // leave the working files as they are: what the changes did is unrecorded then
	DryRun         bool // say what would happen, and change nothing
}

// DependentsError lists the changes that stand in the way of taking others away, in the order of the log.
type DependentsError struct{ Changes []uint32 }

func (e *DependentsError) Error() string {
	return fmt.Sprintf("%d changes depend on it", len(e.Changes))
}

// Unrecord takes changes away from what the working copy stands on: it is exactly the state that never had them. They stay
// in the repository.
func (r *Repo) Unrecord(ctx context.Context, revs []string, opt UnrecordOptions) (*MoveResult, error) {
	return transact(r, func(t *tx) (*MoveResult, error) { return t.unrecord(ctx, revs, opt) })
}

func (t *tx) unrecord(ctx context.Context, revs []string, opt UnrecordOptions) (*MoveResult, error) {
	r := t.r
	nums, err := r.changesOf(revs)
	if err != nil {
		return nil, err
	}
	from, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	gone, err := r.goneWith(from, nums)
	if err != nil {
		return nil, err
	}
	if more := slices.DeleteFunc(slices.Clone(gone), func(n uint32) bool { return slices.Contains(nums, n) }); len(more) > 0 && !opt.WithDependents {
		return nil, &Error{Text: r.nameChanges(nums) + " cannot be taken away: " + dependOn(len(more), len(nums)), No: true,
			Next: "Take them away too: oxy unrecord --with-dependents. Or record that it is undone: oxy rollback", Err: &DependentsError{more}}
	}
	res := &MoveResult{From: from, Went: gone, Followed: NoState}
	next, err := t.stateWithout(from, gone)
	if err != nil {
		return nil, err
	}
	if err := t.treeWithout(next, from, gone); err != nil {
		return nil, err
	}
	switch {
	case opt.DryRun:
		return res, t.preview(ctx, res, next)
	case opt.KeepFiles:
		if err := t.preview(ctx, res, next); err != nil {
			return nil, err
		}
		return res, t.stayAt(next, "unrecord files")
	}
	return res, t.moveTo(ctx, res, next, "unrecord")
}

func dependOn(more, on int) string {
	it := "it"
	if on > 1 {
		it = "them"
	}
	if more == 1 {
		return "another change depends on " + it
	}
	return fmt.Sprintf("%d other changes depend on %s", more, it)
}

// goneWith gives changes of a state with all those of it that depend on them, ascending.
func (r *Repo) goneWith(s StateRef, nums []uint32) ([]uint32, error) {
	set, err := r.setOf(s.Num)
	if err != nil {
		return nil, err
	}
	if missing := slices.DeleteFunc(slices.Clone(nums), set.Has); len(missing) > 0 {
		return nil, &Error{Text: "the working copy does not stand on " + r.nameChanges(missing), Next: "See what it has with: oxy log", No: true}
	}
	more, err := r.store.Dependents(nums)
	if err != nil {
		return nil, storeError(err)
	}
	more = slices.DeleteFunc(more, func(n uint32) bool { return !set.Has(n) })
	return sortedWith(nums, more), nil
}
