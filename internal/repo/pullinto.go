package repo

import (
	"context"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

type changeID = change.ID

// Pull takes what a remote's bookmark has and unites it with the bookmark of that name here. Where that is the current one the
// working files follow. Lines that meet are conflicts, which the result lists; they never keep a pull from its work.
func (r *Repo) Pull(ctx context.Context, opt SyncOptions) (*PullResult, error) {
	if opt.Change != "" {
		return r.pullChange(ctx, opt)
	}
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	name := opt.Bookmark
	if name == "" {
		if name = v.Current; name == "" {
			return nil, &Error{Text: "no bookmark is current: which one is meant?", Next: "Name it: oxy pull REMOTE BOOKMARK"}
		}
	}
	l, err := r.dial(ctx, opt.Remote, opt.Dir, opt.Messages)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	depth, err := r.depthOf(l.name)
	if err != nil {
		return nil, err
	}
	var names []string
	if opt.Bookmark != "" || l.name == "" || depth > 0 {
		names = []string{name}
	}
	got, refs, err := r.fetch(ctx, l, opt.DryRun, names)
	if err != nil {
		return nil, err
	}
	res := &PullResult{FetchResult: *got, Bookmark: name}
	if opt.DryRun {
		return res, nil
	}
	if _, err := choose(refs, []string{name}); err != nil {
		return nil, &Error{Text: fmt.Sprintf("%s has no bookmark %s", safepath.Quote(res.Remote), safepath.Quote(name)), Next: "Push yours with: oxy push, or pull another one: oxy pull REMOTE BOOKMARK"}
	}
	from := l.name
	if from == "" {
		from = passing
	}
	return res, r.pullInto(ctx, res, from)
}

// pullInto unites a tracked bookmark with the one of that name here.
func (r *Repo) pullInto(ctx context.Context, res *PullResult, from string) error {
	_, err := transact(r, func(t *tx) (struct{}, error) { return struct{}{}, t.pullInto(ctx, res, from) })
	return err
}

func (t *tx) pullInto(ctx context.Context, res *PullResult, from string) error {
	r, name := t.r, res.Bookmark
	n, ok := tracked(t.view, from+"/"+name)
	if !ok {
		return &Error{Text: "there is no bookmark " + safepath.Quote(name) + " there"}
	}
	if from == passing {
		delete(t.view.Kept, trackKey(passing, name))
	}
	theirs, err := r.stateRef(n)
	if err != nil {
		return err
	}
	if _, tag := t.view.Tags[name]; tag {
		return &Error{Text: fmt.Sprintf("there is a tag %s here", safepath.Quote(name)), Next: "Delete or rename it first."}
	}
	if name == t.view.Current {
		return t.pullHere(ctx, res, theirs)
	}
	at, there := t.view.Bookmarks[name]
	if !there {
		t.view.Bookmarks[name] = theirs.Num
		res.Made, res.State = true, theirs
		return t.commit("pull")
	}
	ours, err := r.stateRef(at)
	if err != nil {
		return err
	}
	if res.State, err = t.unite(ours, theirs); err != nil || res.State.Num == at {
		return err
	}
	t.view.Bookmarks[name] = res.State.Num
	return t.commit("pull")
}

// pullHere unites into the current bookmark, and the working files follow.
func (t *tx) pullHere(ctx context.Context, res *PullResult, theirs StateRef) error {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return err
	}
	_, came, err := r.difference(base.Num, theirs.Num)
	if err != nil {
		return err
	}
	if res.State = base; len(came) == 0 {
		return nil
	}
	next, err := t.unite(base, theirs)
	if err != nil {
		return err
	}
	res.Move = &MoveResult{From: base, Came: came, Followed: NoState}
	res.State = next
	return t.moveTo(ctx, res.Move, next, "pull")
}

// pullChange takes one change with what it builds on, and picks it into the current bookmark.
func (r *Repo) pullChange(ctx context.Context, opt SyncOptions) (*PullResult, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	l, err := r.dial(ctx, opt.Remote, opt.Dir, opt.Messages)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	q := &sync.Request{Verb: sync.Single, Prefix: opt.Change, DryRun: opt.DryRun}
	if q.Haves, err = r.haves(v, l.name, nil); err != nil {
		return nil, err
	}
	f := &fetching{ctx: ctx, r: r, l: l, dry: opt.DryRun, res: &FetchResult{Remote: l.shown}}
	got, err := f.ask(q)
	if err != nil {
		return nil, linkError(l.shown, err)
	}
	f.count(got)
	res := &PullResult{FetchResult: *f.res, Bookmark: v.Current}
	if opt.DryRun {
		return res, nil
	}
	res.Move, err = r.Pick(ctx, []string{opt.Change}, PickOptions{})
	if err == nil {
		res.State = res.Move.State
	}
	return res, err
}
