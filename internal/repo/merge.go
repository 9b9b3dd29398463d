package repo

import (
	"context"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

// MergeOptions say how a state is merged.
type MergeOptions struct {
	DryRun bool         // say what would happen, and change nothing
	Time   *change.Time // of the change that says so; nil: now
	Follow bool         // move along what others added beneath a directory that was moved
}

// Merge unites what the working copy stands on with another state: afterwards it has the changes of both.
func (r *Repo) Merge(ctx context.Context, rev string, opt MergeOptions) (*MoveResult, error) {
	var author change.Person
	if opt.Follow {
		var err error
		if author, err = r.author(&CommitOptions{}); err != nil {
			return nil, err
		}
	}
	return transact(r, func(t *tx) (*MoveResult, error) { return t.merge(ctx, rev, opt, author) })
}

func (t *tx) merge(ctx context.Context, rev string, opt MergeOptions, author change.Person) (*MoveResult, error) {
	r := t.r
	n, err := r.resolve(t.view, rev)
	if err != nil {
		return nil, err
	}
	from, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	other, err := r.stateRef(n)
	if err != nil {
		return nil, err
	}
	res := &MoveResult{From: from, Followed: NoState}
	ours, theirs, err := r.difference(from.Num, other.Num)
	if err != nil {
		return nil, err
	}
	if res.Came = theirs; len(theirs) == 0 {
		return nil, &Error{Text: "nothing to merge: all changes of " + safepath.Quote(rev) + " are here already", No: true}
	}
	if res.Replaced, res.Needed, err = r.replaced(from, other, ours, theirs); err != nil {
		return nil, err
	}
	next, err := t.unite(from, other)
	if err != nil {
		return nil, err
	}
	if res.Strays, err = r.strays(next, ours, theirs); err != nil {
		return nil, err
	}
	if opt.Follow && len(res.Strays) > 0 {
		if next, res.Made, err = t.follow(next, res.Strays, author, opt.Time); err != nil {
			return nil, err
		}
		res.Followed = res.Made.Num
		res.Came = append(res.Came, res.Followed)
	}
	if opt.DryRun {
		return res, t.preview(ctx, res, next)
	}
	return res, t.moveTo(ctx, res, next, "merge")
}
