package repo

import (
	"context"
	"slices"
)

// PickOptions say how changes are picked.
type PickOptions struct {
	DryRun bool // say what would come along, and change nothing
}

// Pick takes changes, with all that they depend on, into what the working copy stands on.
func (r *Repo) Pick(ctx context.Context, revs []string, opt PickOptions) (*MoveResult, error) {
	return transact(r, func(t *tx) (*MoveResult, error) { return t.pick(ctx, revs, opt) })
}

func (t *tx) pick(ctx context.Context, revs []string, opt PickOptions) (*MoveResult, error) {
	r := t.r
	nums, err := r.changesOf(revs)
	if err != nil {
		return nil, err
	}
	from, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	set, err := r.setOf(from.Num)
	if err != nil {
		return nil, err
	}
	res := &MoveResult{From: from, Followed: NoState}
	if res.Came = t.r.newReach().closure(nums, set.Has); len(res.Came) == 0 {
		return nil, &Error{Text: "nothing to pick: " + r.nameChanges(nums) + " " + isAre(nums) + " here already", No: true}
	}
	next, err := t.appendBeside(from, res.Came)
	if err != nil {
		return nil, err
	}
	if err := t.treeWith(next, from, res.Came); err != nil {
		return nil, err
	}
	if err := t.preview(ctx, res, next); err != nil || opt.DryRun {
		return res, err
	}
	return res, t.moveTo(ctx, res, next, "pick")
}

// changesOf finds the changes that revs name, ascending.
func (r *Repo) changesOf(revs []string) ([]uint32, error) {
	var nums []uint32
	for _, rev := range revs {
		n, err := r.ResolveChange(rev)
		if err != nil {
			return nil, err
		}
		nums = append(nums, n)
	}
	slices.Sort(nums)
	return slices.Compact(nums), nil
}

func (r *Repo) nameChanges(nums []uint32) string {
	s := ""
	for i, n := range nums {
		if i > 0 {
			s += ", "
		}
		s += r.ShortID(n)
	}
	return s
}

func isAre(nums []uint32) string {
	if len(nums) == 1 {
		return "is"
	}
	return "are"
}
