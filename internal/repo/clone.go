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
	if a.Scheme == sync.Path && !filepath.IsAbs(a.Path) {
		address = filepath.Join(how.Dir, a.Path)
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
	if _, err := l.list(ctx); err != nil {
		return nil, nil, err
	}
	r, err := Init(dir, opt)
	if err != nil {
		return nil, nil, err
	}
	res, err := r.cloneInto(ctx, l, address, how)
	if err != nil {
		err = errors.Join(err, r.Close())
		if fresh {
			_ = opt.FS.RemoveAll(r.root)
		} else {
			_ = opt.FS.RemoveAll(r.dir)
		}
		return nil, nil, err
	}
	return r, res, nil
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

func (r *Repo) cloneInto(ctx context.Context, l *link, address string, how SyncOptions) (*CloneResult, error) {
	if err := r.AddRemote(Origin, address, how.Dir); err != nil {
		return nil, err
	}
	l.name = Origin
	got, refs, err := r.fetch(ctx, l, false, nil)
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
