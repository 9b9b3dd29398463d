package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// SubrepoDone says what became of a subrepo.
type SubrepoDone struct {
	Path   string
	State  StateRef // where it stands now, by its own numbers
	Cloned bool
	Moved  bool
	Err    error // why it does not stand where it should
}

// follow is a subrepo that shall stand where its pin says.
type follow struct {
	Subrepo
	was   *Pin // where it was pinned before; nil: nowhere
	asked bool // a person asked for it, wherever it stands
}

// FollowSubrepos brings the subrepos whose pins differ between two states of the working copy to where the second pins them: those
// that are not there, and those that stand where the first did. What cannot be done is told with each, and no error.
func (r *Repo) FollowSubrepos(ctx context.Context, from, to StateRef, opt SubrepoOptions) ([]SubrepoDone, error) {
	fs, err := mended(r, func() ([]follow, error) { return r.pinsBetween(from, to) })
	if err != nil || len(fs) == 0 {
		return nil, err
	}
	return r.followAll(ctx, fs, opt, 0), nil
}

func (r *Repo) pinsBetween(from, to StateRef) (out []follow, err error) {
	a, err := r.tree(from.Num)
	if err != nil {
		return nil, err
	}
	b, err := r.tree(to.Num)
	if err != nil {
		return nil, err
	}
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	err = state.Diff(a, b, func(old, new *state.Entry) error {
		if new == nil || new.Kind != change.Subrepo || !inCone(cone, new) {
			return nil
		}
		f := follow{}
		if f.Subrepo, err = r.subrepoOf(new); err != nil || f.Pin == nil {
			return err
		}
		if old != nil && old.Kind == change.Subrepo {
			was, err := r.subrepoOf(old)
			if err != nil {
				return err
			}
			f.was = was.Pin
		}
		if len(out) >= maxSubrepos {
			return &Error{Text: fmt.Sprintf("there are more than %d subrepos: none is followed", maxSubrepos), Next: "Follow those that you want: oxy subrepo update PATH"}
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

func (r *Repo) followAll(ctx context.Context, fs []follow, opt SubrepoOptions, depth int) []SubrepoDone {
	var out []SubrepoDone
	for i := range fs {
		done, inner := r.followOne(ctx, &fs[i], opt, depth)
		if done.Moved || done.Cloned || done.Err != nil {
			out = append(out, done)
		}
		out = append(out, inner...)
		if ctx.Err() != nil {
			break
		}
	}
	return out
}

// followOne also gives what became of those inside.
func (r *Repo) followOne(ctx context.Context, f *follow, opt SubrepoOptions, depth int) (done SubrepoDone, inside []SubrepoDone) {
	done = SubrepoDone{Path: f.Path, State: StateRef{Num: NoState}}
	if depth >= maxSubrepoDepth {
		done.Err = &Error{Text: fmt.Sprintf("%s lies in %d others, which is too deep", safepath.Quote(f.Path), depth)}
		return done, nil
	}
	in, err := r.inner(f.Path)
	if err != nil {
		done.Err = err
		return done, nil
	}
	before := StateRef{Num: NoState}
	if in == nil {
		in, err = r.cloneInner(ctx, f.Path, f.Pin, opt)
		done.Cloned = err == nil
	} else if before, err = in.Base(); err == nil && before.ID != f.Pin.State {
		done.Moved, err = in.follow(ctx, r, f, before, opt)
	}
	if in != nil {
		defer in.Close()
	}
	if err == nil {
		done.State, err = in.Base()
	}
	if err != nil {
		done.Err = err
		return done, nil
	}
	fs, err := in.pinsBetween(before, done.State)
	if err != nil {
		done.Err = err
	}
	inside = in.followAll(ctx, fs, opt, depth+1)
	for i := range inside {
		inside[i].Path = path.Join(f.Path, inside[i].Path)
	}
	return done, inside
}

// follow moves the working copy of this subrepo, which stands at a state, to where outer pins it.
func (r *Repo) follow(ctx context.Context, outer *Repo, f *follow, at StateRef, opt SubrepoOptions) (moved bool, err error) {
	switch {
	case f.asked || at.Num == NoState || f.was != nil && f.was.State == at.ID:
	default:
		return false, &Error{Text: fmt.Sprintf("%s stands elsewhere than it was pinned, and was left there", safepath.Quote(f.Path)),
			Next: "To take it where it is pinned now: oxy subrepo update " + safepath.Quote(f.Path)}
	}
	if kept, err := r.isNamed(at); err != nil {
		return false, err
	} else if !kept && (f.was == nil || f.was.State != at.ID) {
		return false, &Error{Text: fmt.Sprintf("%s stands on changes that none of its bookmarks has", safepath.Quote(f.Path)),
			Next: fmt.Sprintf("Give them a name first: oxy -C %s bookmark NAME", safepath.Quote(f.Path))}
	}
	v, err := r.view()
	if err != nil {
		return false, err
	}
	if _, _, there, err := r.findPin(v, f.Pin); err != nil {
		return false, err
	} else if !there {
		address, o, err := outer.meant(f.Pin)
		if err != nil {
			return false, err
		}
		r.opt.Env = o.Env
		own, _, err := r.ConfigGet("remote." + Origin + ".url")
		if err != nil {
			return false, err
		}
		if own == address {
			address = Origin
		}
		if _, err := r.Fetch(ctx, SyncOptions{Remote: address, Dir: outer.root, Messages: opt.Messages}); err != nil {
			return false, err
		}
	}
	_, err = transact(r, func(t *tx) (struct{}, error) {
		if err := t.standOn(ctx, f.Pin); err != nil {
			return struct{}{}, err
		}
		if err := t.commit("checkout"); err != nil {
			return struct{}{}, err
		}
		r.saveManifest()
		return struct{}{}, nil
	})
	return err == nil, err
}

// isNamed tells whether a bookmark, a tag or a remote's bookmark has all changes of a state.
func (r *Repo) isNamed(at StateRef) (bool, error) {
	v, err := r.view()
	if err != nil || at.Num == NoState {
		return err == nil, err
	}
	v = v.Clone()
	v.Base = -1
	for _, n := range namedStates(v) {
		if only, _, err := r.difference(at.Num, n); err != nil || len(only) == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// findPin looks for the state that a pin names: one that is here, or the beginning of a log, which is then told as a state and the
// changes after it.
func (r *Repo) findPin(v *store.View, p *Pin) (at StateRef, more []uint32, ok bool, err error) {
	if at, ok, err = r.stateBy(v, p.State); err != nil || ok {
		return at, nil, ok, err
	}
	seen := map[uint32]bool{NoState: true}
	for _, n := range namedStates(v) {
		for !seen[n] {
			seen[n] = true
			st, parent, err := r.step(n)
			if err != nil {
				return at, nil, false, err
			}
			if st.Pos < p.Len {
				break
			}
			before, err := r.stateRef(parent)
			if err != nil {
				return at, nil, false, err
			}
			if before.Len < p.Len {
				more = st.Changes[:p.Len-before.Len]
				set, err := state.ParseSetHash(before.ID)
				if err != nil {
					return at, nil, false, err
				}
				for _, c := range more {
					set.Add(r.store.ChangeID(c))
				}
				if set.Bytes() == p.State {
					return before, more, true, nil
				}
				break
			}
			n = parent
		}
	}
	return at, nil, false, nil
}

// standOn takes the working copy to where a pin says. Where that goes on from the bookmark that it stands on, the bookmark goes along.
func (t *tx) standOn(ctx context.Context, p *Pin) error {
	r := t.r
	to, more, ok, err := r.findPin(t.view, p)
	if err != nil {
		return err
	}
	if !ok {
		return &Error{Text: fmt.Sprintf("the state that is pinned, %x, is in no bookmark of %s", p.State[:4], safepath.Quote(p.From)),
			Next: "It was pinned before it was pushed, or taken away since: whoever pinned it can push it there, best with a tag."}
	}
	if len(more) > 0 {
		l := takenLog{before: to, base: to, nums: more, added: more}
		if to, err = t.appendTaken(l); err != nil {
			return err
		}
		if err := t.treeTaken(to, l); err != nil {
			return err
		}
	}
	from, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return err
	}
	if _, err := t.switchTo(ctx, to); err != nil {
		return err
	}
	name := p.Bookmark
	mine, there := t.view.Bookmarks[name]
	if n, ok := tracked(t.view, Origin+"/"+name); ok && !there && t.view.Tags[name] == 0 { // to work on
		mine, there = n, true
		t.view.Bookmarks[name] = n
	}
	current := ""
	switch {
	case there && mine == to.Num:
		current = name
	case there && t.view.Current == name && mine == from.Num && len(more) == 0:
		if only, _, err := r.difference(from.Num, to.Num); err != nil {
			return err
		} else if len(only) == 0 {
			current = name
			t.view.Bookmarks[name] = to.Num
		}
	}
	t.view.Current = current
	return nil
}

// cloneInner clones a subrepo to its place.
func (r *Repo) cloneInner(ctx context.Context, at string, p *Pin, opt SubrepoOptions) (*Repo, error) {
	if err := r.makeRoom(at); err != nil {
		return nil, err
	}
	address, o, err := r.meant(p)
	if err != nil {
		return nil, err
	}
	how := SyncOptions{Dir: r.root, Bookmark: p.Bookmark, Messages: opt.Messages}
	if p.Len > 0 {
		how.Bookmark, how.pin = "", p
	}
	in, _, err := Clone(ctx, address, r.disk(at), o, how)
	return in, err
}

// makeRoom makes the directory of a subrepo, or finds it empty. No link on the way is followed.
func (r *Repo) makeRoom(at string) error {
	if err := safepath.Check(at); err != nil {
		return &Error{Text: "no subrepo can be at " + safepath.Quote(at) + ": " + err.Error(), Err: err}
	}
	d, err := r.openRoot()
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	for elem := range strings.SplitSeq(at, "/") {
		if err := d.Mkdir(elem, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return fileError("make "+safepath.Quote(at), err)
		}
		next, err := d.OpenDir(elem)
		if err != nil {
			return &Error{Text: fmt.Sprintf("%s is in the way of the subrepo %s", safepath.Quote(elem), safepath.Quote(at)), Next: "Move it away first.", Err: err}
		}
		_ = d.Close()
		d = next
	}
	var names []vfs.DirEntry
	if names, err = d.ReadDir(nil); err != nil {
		return fileError("look into "+safepath.Quote(at), err)
	}
	if len(names) > 0 {
		return &Error{Text: fmt.Sprintf("%s has something in it, and no repository: the subrepo is not cloned there", safepath.Quote(at)), Next: "Move it away, then: oxy subrepo update " + safepath.Quote(at)}
	}
	return nil
}
