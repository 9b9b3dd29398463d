package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// pinEdit is what a path's subrepo shall be: a pin, or none.
type pinEdit struct {
	path string
	pin  *Pin
}

// findPins records pins, and nothing else that differs.
func (w *work) findPins() error {
	if _, err := w.t.r.loadManifest(w.base); err != nil {
		return err
	}
	var d diff.Differ
	for _, p := range w.opt.pins {
		old, there, err := w.tree.Get(p.path)
		if err != nil {
			return err
		}
		var rec recorded
		differs := true
		switch now := (fileNow{path: p.path, kind: change.Subrepo}); {
		case p.pin == nil:
			rec, err = w.t.r.recordRemoved(&old)
		default:
			now.data = p.pin.Encode()
			now.size, now.hash = uint64(len(now.data)), hashOf(now.data)
			if !there {
				rec = recordAdded(now)
			} else {
				now.exec = old.Exec
				rec, differs, err = w.t.r.recordEdited(&d, &old, now)
			}
			rec.added = 0
		}
		if err != nil {
			return err
		}
		if differs {
			w.recs = append(w.recs, rec)
		}
	}
	return w.checkFits()
}

// AddSubrepo clones a repository into a directory of the working copy and records it as a subrepo there. Without an address it takes
// one that is there already.
func (r *Repo) AddSubrepo(ctx context.Context, address, at string, opt SubrepoOptions) (*SubrepoDone, *CommitResult, error) {
	base, err := r.Base()
	if err != nil {
		return nil, nil, err
	}
	if err := r.isFree(base, at); err != nil {
		return nil, nil, err
	}
	in, err := r.inner(at)
	if err != nil {
		return nil, nil, err
	}
	done := &SubrepoDone{Path: at}
	if in != nil {
		defer func() { _ = in.Close() }()
		own, _, err := in.ConfigGet("remote." + Origin + ".url")
		if err != nil {
			return nil, nil, err
		}
		if own == "" {
			return nil, nil, &Error{Text: fmt.Sprintf("%s is a repository that comes from nowhere: others could not get it", safepath.Quote(at)),
				Next: fmt.Sprintf("Push it to where they can: oxy -C %s remote add origin ADDRESS, then push", safepath.Quote(at))}
		}
		if address == "" {
			address = own
		}
	} else if address == "" {
		return nil, nil, &Error{Text: fmt.Sprintf("there is no repository at %s", safepath.Quote(at)), Next: "Say where to get it: oxy subrepo add ADDRESS " + safepath.Quote(at)}
	}
	p := &Pin{Bookmark: opt.Bookmark}
	if p.From, err = r.asPinned(address, opt.Dir); err != nil {
		return nil, nil, err
	}
	if in == nil {
		if in, err = r.cloneInner(ctx, at, p, opt); err != nil {
			return nil, nil, err
		}
		defer func() { _ = in.Close() }()
		done.Cloned = true
	}
	if p, err = in.pinHere(at, p.From); err != nil {
		return nil, nil, err
	}
	if done.State, err = in.Base(); err != nil {
		return nil, nil, err
	}
	c, err := r.recordPins(ctx, []pinEdit{{at, p}}, "Add the subrepo "+safepath.Quote(at), opt)
	return done, c, err
}

// isFree refuses a path at or beneath which something is recorded already, or above it.
func (r *Repo) isFree(base StateRef, at string) error {
	if err := safepath.Check(at); err != nil {
		return &Error{Text: "no subrepo can be at " + safepath.Quote(at) + ": " + err.Error(), Err: err}
	}
	tracked, err := mended(r, func() ([]string, error) { return r.trackedUnder(base, at) })
	if err != nil {
		return err
	}
	if cone, err := r.workingCone(); err != nil {
		return err
	} else if !cone.Holds(at, worktree.Subrepo) {
		return outsideError(safepath.Quote(at), at+"/")
	}
	if len(tracked) > 0 {
		return &Error{Text: fmt.Sprintf("%s is recorded already", safepath.Quote(tracked[0])), Next: "Choose another place: oxy subrepo add ADDRESS PATH"}
	}
	return nil
}

// pinHere is a pin of where this subrepo stands. Others must be able to get it.
func (r *Repo) pinHere(at, from string) (*Pin, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	base, err := r.stateRef(baseOf(v))
	if err != nil {
		return nil, err
	}
	if base.Num == NoState {
		return nil, &Error{Text: fmt.Sprintf("%s has no change yet: there is nothing to pin", safepath.Quote(at)), Next: "Record one there, and push it."}
	}
	p := &Pin{State: base.ID, Len: base.Len, From: from}
	tracking, err := r.Tracking()
	if err != nil {
		return nil, err
	}
	for _, n := range tracking {
		name, ok := cutRemote(n.Name)
		if !ok || p.Bookmark != "" && name != v.Current {
			continue
		}
		// A remote's log grows at its end: what is its beginning now is found there later.
		if there, err := r.atPosition(n.State.Num, base.Len); err != nil {
			continue
		} else if s, err := r.stateRef(there); err != nil {
			return nil, err
		} else if s.ID == base.ID {
			p.Bookmark = name
		}
	}
	if p.Bookmark == "" {
		return nil, &Error{Text: fmt.Sprintf("%s stands on what no bookmark of its origin has: others could not get it", safepath.Quote(at)),
			Next: fmt.Sprintf("Push it first: oxy -C %s push", safepath.Quote(at))}
	}
	return p, nil
}

// cutRemote gives the bookmark's name of one of origin's.
func cutRemote(name string) (string, bool) {
	const of = Origin + "/"
	if len(name) <= len(of) || name[:len(of)] != of {
		return "", false
	}
	return name[len(of):], true
}

// recordPins records what a command made of subrepos.
func (r *Repo) recordPins(ctx context.Context, pins []pinEdit, message string, opt SubrepoOptions) (*CommitResult, error) {
	if opt.Message != "" {
		message = opt.Message
	}
	return r.Commit(ctx, CommitOptions{Message: message, pins: pins})
}

// UpdateSubrepos brings subrepos to where they are pinned, cloning what is not there.
func (r *Repo) UpdateSubrepos(ctx context.Context, opt SubrepoOptions) ([]SubrepoDone, error) {
	subs, err := r.pinned(opt.Paths)
	if err != nil {
		return nil, err
	}
	fs := make([]follow, len(subs))
	for i := range subs {
		fs[i] = follow{Subrepo: subs[i], asked: true}
	}
	return r.followAll(ctx, fs, opt, 0), nil
}

// pinned lists the subrepos of the base that oxy can follow.
func (r *Repo) pinned(paths []string) (out []Subrepo, err error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	subs, err := mended(r, func() ([]Subrepo, error) { return r.subreposAt(base.Num, paths) })
	for _, s := range subs {
		if s.Pin != nil {
			out = append(out, s)
		} else if len(paths) > 0 {
			return nil, &Error{Text: safepath.Quote(s.Path) + " is no subrepo of oxy's", Next: "A submodule of Git's is kept as it is; git submodule brings its files."}
		}
	}
	return out, err
}

// PinHere records where subrepos stand.
func (r *Repo) PinHere(ctx context.Context, opt SubrepoOptions) (*CommitResult, error) {
	return r.repin(ctx, opt, func(in *Repo, s *Subrepo) error { return nil })
}

// PinNewest takes subrepos to what the bookmark that they are pinned to has by now, and records that.
func (r *Repo) PinNewest(ctx context.Context, opt SubrepoOptions) (*CommitResult, error) {
	return r.repin(ctx, opt, func(in *Repo, s *Subrepo) error {
		if _, err := in.Fetch(ctx, SyncOptions{Dir: r.root, Messages: opt.Messages}); err != nil {
			return err
		}
		v, err := in.view()
		if err != nil {
			return err
		}
		n, ok := tracked(v, Origin+"/"+s.Pin.Bookmark)
		if !ok {
			return &Error{Text: fmt.Sprintf("%s has no bookmark %s any more", safepath.Quote(s.Pin.From), safepath.Quote(s.Pin.Bookmark))}
		}
		newest, err := in.stateRef(n)
		if err != nil {
			return err
		}
		at, err := in.Base()
		if err != nil || at.ID == newest.ID {
			return err
		}
		to := *s
		to.Pin = &Pin{State: newest.ID, Len: newest.Len, Bookmark: s.Pin.Bookmark, From: s.Pin.From}
		_, err = in.follow(ctx, r, &follow{Subrepo: to, asked: true, was: s.Pin}, at, opt)
		return err
	})
}

// repin moves subrepos and records where they stand then.
func (r *Repo) repin(ctx context.Context, opt SubrepoOptions, move func(in *Repo, s *Subrepo) error) (*CommitResult, error) {
	subs, err := r.pinned(opt.Paths)
	if err != nil {
		return nil, err
	}
	var pins []pinEdit
	for i := range subs {
		s := &subs[i]
		p, err := r.repinOne(ctx, s, opt, move)
		if err != nil {
			return nil, err
		}
		if p.State != s.Pin.State {
			pins = append(pins, pinEdit{s.Path, p})
		}
	}
	switch len(pins) {
	case 0:
		return nil, &Error{Text: "nothing to record: the subrepos stand where they are pinned", No: true}
	case 1:
		return r.recordPins(ctx, pins, "Update the subrepo "+safepath.Quote(pins[0].path), opt)
	}
	return r.recordPins(ctx, pins, fmt.Sprintf("Update %d subrepos", len(pins)), opt)
}

func (r *Repo) repinOne(ctx context.Context, s *Subrepo, opt SubrepoOptions, move func(in *Repo, s *Subrepo) error) (p *Pin, err error) {
	in, err := r.inner(s.Path)
	if err == nil && in == nil {
		in, err = r.cloneInner(ctx, s.Path, s.Pin, opt)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if _, o, err := r.meant(s.Pin); err == nil {
		in.opt.Env = o.Env
	}
	if err := move(in, s); err != nil {
		return nil, err
	}
	if base, err := in.Base(); err != nil || base.ID == s.Pin.State {
		return s.Pin, err
	}
	return in.pinHere(s.Path, s.Pin.From)
}

// RemoveSubrepos records that there are no subrepos at some paths any more. Their directories stay.
func (r *Repo) RemoveSubrepos(ctx context.Context, opt SubrepoOptions) (*CommitResult, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	subs, err := mended(r, func() ([]Subrepo, error) { return r.subreposAt(base.Num, opt.Paths) })
	if err != nil {
		return nil, err
	}
	pins := make([]pinEdit, len(subs))
	for i := range subs {
		pins[i].path = subs[i].Path
	}
	message := fmt.Sprintf("Remove %d subrepos", len(pins))
	if len(pins) == 1 {
		message = "Remove the subrepo " + safepath.Quote(pins[0].path)
	}
	return r.recordPins(ctx, pins, message, opt)
}

// refuseSubrepos says what to use for them in place of the commands for files.
func (r *Repo) refuseSubrepos(base StateRef, at, verb string) error {
	tree, err := r.tree(base.Num)
	if err != nil {
		return err
	}
	return tree.Walk(at, func(e *state.Entry) error {
		if e.Kind != change.Subrepo {
			return nil
		}
		return &Error{Text: fmt.Sprintf("%s is a subrepo, which cannot be %s like a file", safepath.Quote(e.Path), verb),
			Next: fmt.Sprintf("Remove it with: oxy subrepo remove %s. To have it elsewhere add it there: oxy subrepo add", safepath.Quote(e.Path))}
	})
}
