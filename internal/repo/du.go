package repo

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// GitDir is beneath the repository's directory: what oxy git clone, fetch and push have git keep.
const GitDir = "git"

// DiskUse is where the repository's bytes are.
type DiskUse struct {
	Log      store.Usage // of what is committed
	Indexes  int64       // index/ and head
	Trees    int64       // trees/
	InUse    int64       // of Trees, what the trees needed when they were last counted
	Seen     int64       // what was last seen in the working copy
	Leftover int64       // in log/, and of no operation: what a process left that did not live to end it
	Aside    int64       // what repairs took out and kept beside, until a person removes it
	Git      int64       // the Git repository that stands between this one and a remote of Git's
	Other    int64       // settings, notes, the lock
	Total    int64
}

// DiskUse tells where the bytes are.
func (r *Repo) DiskUse(ctx context.Context) (*DiskUse, error) {
	u := &DiskUse{}
	var err error
	if u.Log, err = r.store.Usage(ctx); err != nil {
		return nil, storeError(err)
	}
	if h, err := state.DecodeHint(r.store.Hint()); err == nil {
		u.InUse = int64(min(h.Live, 1<<62))
	}
	inLog := int64(0)
	err = r.eachFile(r.dir, func(name string, size int64) {
		u.Total += size
		rel, err := filepath.Rel(r.dir, name)
		if err != nil {
			rel = name
		}
		switch top, rest, _ := strings.Cut(filepath.ToSlash(rel), "/"); {
		case top == "log":
			inLog += size
		case top == "index", top == "head":
			u.Indexes += size
		case top == "trees":
			u.Trees += size
		case top == "wc" && strings.HasPrefix(rest, "manifest"):
			u.Seen += size
		case top == GitDir:
			u.Git += size
		case top == lostDir:
			u.Aside += size
		default:
			u.Other += size
		}
	})
	if err != nil {
		return nil, fileError("look at the repository", err)
	}
	l := &u.Log
	u.Leftover = max(0, inLog-l.Contents.Bytes-l.Changes.Bytes-l.States.Bytes-l.Ops.Bytes-l.Segments.Bytes)
	u.InUse = min(u.InUse, u.Trees)
	return u, nil
}

// Size is what the history here takes on disk, bytes: neither working files nor what Git keeps for itself are among them.
func (r *Repo) Size() (int64, error) {
	sum := int64(0)
	between := filepath.Join(r.dir, GitDir) + string(filepath.Separator)
	err := r.eachFile(r.dir, func(name string, size int64) {
		if !strings.HasPrefix(name, between) {
			sum += size
		}
	})
	if err != nil {
		return 0, fileError("look at the repository", err)
	}
	return sum, nil
}

// eachFile calls fn for each file beneath a directory.
func (r *Repo) eachFile(dir string, fn func(name string, size int64)) error {
	names, err := r.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		name := filepath.Join(dir, n)
		var st vfs.Stat
		err := r.fs.Lstat(name, &st)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case st.Kind != vfs.KindDir:
			fn(name, st.Size)
			continue
		}
		if err := r.eachFile(name, fn); err != nil {
			return err
		}
	}
	return nil
}
