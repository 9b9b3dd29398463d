package repo

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

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
}

// Clone makes a repository in dir of one elsewhere: all its bookmarks and tags, and the working files of the bookmark that people
// are on there, or of the one that opt names. If anything fails, nothing is left of what it made.
func Clone(ctx context.Context, address, dir string, opt Options, how SyncOptions) (*Repo, *CloneResult, error) {
	a, err := parseAddress(address)
	if err != nil {
		return nil, nil, err
	}
	from := a.Path
	if a.Scheme == sync.Path && !filepath.IsAbs(from) {
		from = filepath.Join(how.Dir, from)
		address = from
	}
	opt = opt.withDefaults()
	fresh, err := emptyPlace(opt.FS, dir)
	if err != nil {
		return nil, nil, err
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
		return nil, nil, err
	}
	if a.Scheme == sync.Path {
		r, res, err := cloneHere(ctx, l, from, dir, opt, how, refs)
		if err == nil {
			return r, res, nil
		}
		if cleared := clearAway(opt.FS, dir, fresh); cleared != nil || !errors.Is(err, errOtherwise) {
			return nil, nil, errors.Join(err, cleared)
		}
	}
	r, err := Init(dir, opt)
	if err != nil {
		return nil, nil, err
	}
	res, err := r.cloneInto(ctx, l, address, how, func() (*FetchResult, []sync.Ref, error) { return r.fetch(ctx, l, false, nil) })
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(), clearAway(opt.FS, dir, fresh))
	}
	return r, res, nil
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
		return f.res, refs, f.settle(updates, nil)
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
	if err := r.AddRemote(Origin, address, how.Dir); err != nil {
		return nil, err
	}
	l.name = Origin
	got, refs, err := take()
	if err != nil {
		return nil, err
	}
	res := &CloneResult{FetchResult: *got, Root: r.root, State: StateRef{Num: NoState}}
	name := how.Bookmark
	if name != "" {
		if _, err := choose(refs, []string{name}); err != nil {
			return nil, err
		}
	} else if len(refs) > 0 && refs[0].Kind == sync.Bookmark {
		name = refs[0].Name
	}
	if name == "" { // nothing is there yet
		res.Bookmark = FirstBookmark
		return res, nil
	}
	res.Bookmark = name
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
		return struct{}{}, nil
	})
	return res, err
}
