package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// CloneResult says what a clone brought.
type CloneResult struct {
	FetchResult
	Root     string
	Bookmark string // the current one
	State    StateRef
	Written  int // working files
	Promised int // contents that a partial clone left out
}

// Clone makes a repository in dir of one elsewhere: all its bookmarks and tags, and the working files of the bookmark that people
// are on there, or of the one that opt names. If it is cut off once something came, that stays, and another Clone of the same goes on
// there. If anything else fails, nothing is left of what it made.
func Clone(ctx context.Context, address, dir string, opt Options, how SyncOptions) (*Repo, *CloneResult, error) {
	a, err := parseAddress(address)
	if err != nil {
		return nil, nil, err
	}
	wanted := portion{how.Path, how.Depth}
	if err := checkPartial(a, &wanted); err != nil {
		return nil, nil, err
	}
	if len(how.Sparse) == 0 {
		how.Sparse = how.Path
	}
	if _, err := coneOf(how.Sparse); err != nil {
		return nil, nil, err
	}
	from := a.Path
	if a.Scheme == sync.Path && !filepath.IsAbs(from) {
		from = filepath.Join(how.Dir, from)
		address = from
	}
	opt = opt.withDefaults()
	begun, err := begunClone(dir, address, opt)
	if err != nil {
		return nil, nil, err
	}
	fresh := false
	if begun != nil {
		if before, err := begun.portionOf(Origin); err != nil || !before.equal(&wanted) {
			return nil, nil, errors.Join(err, begun.Close(), &Error{Text: safepath.Quote(dir) + " has a clone that was cut off, and was to have another part",
				Next: "Go on with the same --path and --depth, or name another directory.", Err: fs.ErrExist})
		}
	}
	if begun == nil {
		if fresh, err = emptyPlace(opt.FS, dir); err != nil {
			return nil, nil, err
		}
	}
	// Ask before anything is made: most clones that fail, fail here.
	asker := Personal(opt)
	l, err := asker.dial(ctx, address, how.Dir, how.Messages)
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	refs, err := l.list(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, closeIf(begun))
	}
	if a.Scheme == sync.Path && begun == nil && wanted.whole() {
		r, res, err := cloneHere(ctx, l, from, dir, opt, how, refs)
		if err == nil {
			return r, res, nil
		}
		if cleared := clearAway(opt.FS, dir, fresh); cleared != nil || !errors.Is(err, errOtherwise) {
			return nil, nil, errors.Join(err, cleared)
		}
	}
	r := begun
	if r == nil {
		if r, err = Init(dir, opt); err != nil {
			return nil, nil, err
		}
	}
	res, err := r.cloneInto(ctx, l, address, how, func() (*FetchResult, []sync.Ref, error) { return r.fetch(ctx, l, false, how.names(refs)) })
	if err != nil {
		if kept := r.store.NumChanges(); kept > 0 && wasCut(err) {
			return nil, nil, errors.Join(r.cloneCut(err, kept), r.Close())
		}
		return nil, nil, errors.Join(err, r.Close(), clearAway(opt.FS, dir, fresh))
	}
	return r, res, nil
}

// names are what a clone fetches: all, or where old contents are left out the one bookmark that it is on, as each other one would bring
// the contents that it shows. Fetch brings the others.
func (how *SyncOptions) names(refs []sync.Ref) []string {
	switch {
	case how.Depth == 0:
		return nil
	case how.Bookmark != "":
		return []string{how.Bookmark}
	case len(refs) > 0 && refs[0].Kind == sync.Bookmark:
		return []string{refs[0].Name}
	}
	return nil
}

// cloneHere clones a repository on this machine by its log.
func cloneHere(ctx context.Context, l *link, from, dir string, opt Options, how SyncOptions, refs []sync.Ref) (*Repo, *CloneResult, error) {
	r, updates, got, err := cloneLog(ctx, from, dir, opt, refs)
	if err != nil {
		return nil, nil, err
	}
	res, err := r.cloneInto(ctx, l, from, how, func() (*FetchResult, []sync.Ref, error) {
		f := &fetching{ctx: ctx, r: r, l: l, res: &FetchResult{Remote: l.name, Bytes: got.Bytes, Way: got.Way.String()}}
		seen := map[changeID]struct{}{}
		for _, u := range updates {
			for _, id := range u.Added {
				seen[id] = struct{}{}
			}
		}
		f.res.Came = len(seen)
		if err := f.settle(updates, nil); err != nil {
			return nil, nil, err
		}
		return f.res, refs, f.takeSigned()
	})
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, res, nil
}

// clearAway takes away what a clone that failed has made.
func clearAway(fsys vfs.FS, dir string, fresh bool) error {
	if !fresh {
		dir = filepath.Join(dir, DirName)
	}
	return fsys.RemoveAll(dir)
}

func closeIf(r *Repo) error {
	if r == nil {
		return nil
	}
	return r.Close()
}

// cloneCut says what there is of a clone that was cut off.
func (r *Repo) cloneCut(err error, kept uint32) error {
	return &Error{Text: cutText(err), Next: fmt.Sprintf("%d changes came, and are kept in %s: run the same command once more to go on.", kept, safepath.Quote(r.root)), Err: err}
}

// begunClone opens what a clone of the same address left in a directory when it was cut off; nil if there is nothing of that kind.
func begunClone(dir, address string, opt Options) (*Repo, error) {
	var st vfs.Stat
	if err := opt.FS.Lstat(filepath.Join(dir, DirName, string(unfinishedClone)), &st); err != nil || st.Kind != vfs.KindFile {
		return nil, nil
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r, err := openAt(root, opt, openWhole)
	if err != nil {
		return nil, err
	}
	v, err := r.view()
	if err == nil && (len(v.Bookmarks) > 0 || r.unfinishedText(unfinishedClone) != sync.Hidden(address)) {
		err = &Error{Text: safepath.Quote(dir) + " has a clone of " + r.unfinishedText(unfinishedClone) + " that is not finished", Next: "Go on with that one, or name another directory: oxy clone ADDRESS DIR", Err: fs.ErrExist}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// emptyPlace tells whether a directory is not there; one with something in it is refused.
func emptyPlace(fsys vfs.FS, dir string) (fresh bool, err error) {
	names, err := fsys.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fileError("clone into "+safepath.Quote(dir), err)
	case len(names) > 0:
		return false, &Error{Text: safepath.Quote(dir) + " is there already and is not empty", Next: "Name another directory: oxy clone ADDRESS DIR", Err: fs.ErrExist}
	}
	return false, nil
}

func (r *Repo) cloneInto(ctx context.Context, l *link, address string, how SyncOptions, take func() (*FetchResult, []sync.Ref, error)) (*CloneResult, error) {
	if !r.isUnfinished(unfinishedClone) {
		if err := r.AddRemote(Origin, address, how.Dir); err != nil {
			return nil, err
		}
		if err := r.setPortion(Origin, &portion{how.Path, how.Depth}); err != nil {
			return nil, err
		}
		if err := r.beginUnfinished(unfinishedClone, sync.Hidden(address)); err != nil {
			return nil, err
		}
	}
	l.name = Origin
	got, refs, err := take()
	if err != nil {
		return nil, err
	}
	res := &CloneResult{FetchResult: *got, Root: r.root, State: StateRef{Num: NoState}}
	if how.pin != nil {
		return res, r.standFirst(ctx, how.pin)
	}
	name := how.Bookmark
	if name != "" {
		if _, err := choose(refs, []string{name}); err != nil {
			return nil, err
		}
	} else if len(refs) > 0 && refs[0].Kind == sync.Bookmark {
		name = refs[0].Name
	}
	if name == "" { // nothing is there yet
		r.finish(unfinishedClone)
		res.Bookmark = FirstBookmark
		return res, nil
	}
	res.Bookmark = name
	// While no file is written yet, the list can only say too much.
	if len(how.Sparse) > 0 {
		cone, err := coneOf(how.Sparse)
		if err == nil {
			err = r.putCone(cone)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err = transact(r, func(t *tx) (struct{}, error) {
		n, ok := tracked(t.view, Origin+"/"+name)
		if !ok {
			return struct{}{}, noSuch("bookmark", name)
		}
		var err error
		if res.State, err = r.stateRef(n); err != nil {
			return struct{}{}, err
		}
		done, err := t.switchTo(ctx, res.State)
		if err != nil {
			return struct{}{}, err
		}
		res.Written = done.Written
		t.view.Current = name
		t.view.Bookmarks[name] = n
		if err := t.passedOver(); err != nil { // to undo it is to remove the directory
			return struct{}{}, err
		}
		if err := t.commit("clone"); err != nil {
			return struct{}{}, err
		}
		r.saveManifest()
		r.finish(unfinishedClone)
		return struct{}{}, nil
	})
	if err == nil && (len(how.Path) > 0 || how.Depth > 0) {
		var left []change.Hash
		left, err = r.allLacking()
		res.Promised = len(left)
	}
	return res, err
}

// standFirst takes a fresh clone to where its pin says.
func (r *Repo) standFirst(ctx context.Context, p *Pin) error {
	_, err := transact(r, func(t *tx) (struct{}, error) {
		if err := t.standOn(ctx, p); err != nil {
			return struct{}{}, err
		}
		if err := t.passedOver(); err != nil {
			return struct{}{}, err
		}
		if err := t.commit("clone"); err != nil {
			return struct{}{}, err
		}
		r.saveManifest()
		return struct{}{}, nil
	})
	return err
}
