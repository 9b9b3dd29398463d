package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// sparseFile, in the repository's own directory, says which directories a sparse working copy has: docs/spec/sparse.md. It is of
// this working copy alone, and never travels.
const sparseFile = "sparse"

// mendSparse: whatever stood in it, the working copy shows.
const mendSparse = "Say again which directories the working copy has: oxy sparse set DIRS"

// Sparse is what a working copy has that has not all files.
type Sparse struct {
	Dirs []string // ascending; with the files that lie directly in those above them, the root's first of all
}

// Sparse tells which directories the working copy has; nil is that it has all.
func (r *Repo) Sparse() (*Sparse, error) {
	cone, err := r.workingCone()
	if err != nil || cone == nil {
		return nil, err
	}
	return &Sparse{cone.Dirs()}, nil
}

// workingCone is what the working copy has, as a transaction found it or as it was first asked for.
func (r *Repo) workingCone() (*worktree.Cone, error) {
	r.coneMu.Lock()
	defer r.coneMu.Unlock()
	if r.coned {
		return r.cone, nil
	}
	b, err := r.fs.ReadFile(filepath.Join(r.dir, sparseFile), worktree.MaxConeFile)
	if errors.Is(err, fs.ErrNotExist) {
		r.cone, r.coned = nil, true
		return nil, nil
	}
	if err != nil {
		return nil, readError("which directories the working copy has", err)
	}
	if r.cone, err = worktree.DecodeCone(b); err != nil {
		return nil, &Error{Text: fmt.Sprintf("%s says which directories the working copy has, and cannot be used: %v", filepath.Join(r.dir, sparseFile), err), Next: mendSparse, Err: err}
	}
	r.coned = true
	return r.cone, nil
}

func (r *Repo) forgetCone() {
	r.coneMu.Lock()
	r.cone, r.coned = nil, false
	r.coneMu.Unlock()
}

// putCone makes a cone the working copy's, durably.
func (r *Repo) putCone(cone *worktree.Cone) error {
	name := filepath.Join(r.dir, sparseFile)
	var err error
	if cone != nil {
		err = vfs.WriteFileAtomic(r.fs, name, cone.Encode(), true)
	} else if err = r.fs.Remove(name); err == nil {
		err = r.fs.SyncDir(r.dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		r.forgetCone()
		return fileError("note which directories the working copy has", err)
	}
	r.coneMu.Lock()
	r.cone, r.coned = cone, true
	r.coneMu.Unlock()
	return nil
}

// inCone tells whether the working copy has an entry of a state.
func inCone(cone *worktree.Cone, e *state.Entry) bool {
	return cone == nil || cone.Holds(e.Path, diskEntryKind(e.Kind))
}

// diskEntryKind is a body's kind as the manifest knows it.
func diskEntryKind(k change.Kind) worktree.Kind {
	switch k {
	case change.Link:
		return worktree.Link
	case change.Subrepo:
		return worktree.Subrepo
	}
	return worktree.File
}

// outsideError says that something is not in the working copy, and how to have it there. Of a path with '/' behind it is itself the
// directory to take in.
func outsideError(what, path string) error {
	dir := path[:max(strings.LastIndexByte(path, '/'), 0)]
	return &Error{Text: what + " is outside of the sparse working copy", Next: "Take it in with: oxy sparse add " + safepath.Quote(dir)}
}

// refuseOutside refuses a path that a person named and that is not in the working copy.
func (r *Repo) refuseOutside(base StateRef, path string) error {
	cone, err := r.workingCone()
	if err != nil || cone.Enters(path) {
		return err
	}
	if !cone.Holds(path, worktree.File) {
		return outsideError(safepath.Quote(path), path)
	}
	// Its name stands in a directory that has only its files: it must be none itself.
	tree, err := r.tree(base.Num)
	if err != nil {
		return err
	}
	e, file, err := tree.Get(path)
	if err != nil {
		return err
	}
	dir := file && e.Kind == change.Subrepo
	if !file {
		if dir, err = tree.Under(path); err != nil {
			return err
		}
	}
	if !dir {
		var st vfs.Stat
		dir = r.fs.Lstat(r.disk(path), &st) == nil && st.Kind == vfs.KindDir
	}
	if dir {
		return outsideError(safepath.Quote(path), path+"/")
	}
	return nil
}

// refusePartly also refuses a directory of which the working copy has not all: what a verb does to it would be done to half.
func (r *Repo) refusePartly(base StateRef, path, verb string) error {
	if err := r.refuseOutside(base, path); err != nil {
		return err
	}
	cone, err := r.workingCone()
	if err != nil || cone.Within(path) {
		return err
	}
	tree, err := r.tree(base.Num)
	if err != nil {
		return err
	}
	return tree.Walk(path, func(e *state.Entry) error {
		if inCone(cone, e) {
			return nil
		}
		next := "Take all of it in first: oxy sparse add " + safepath.Quote(path)
		if path == "" {
			next = "Take all of it in first: oxy sparse off"
		}
		return &Error{Text: fmt.Sprintf("%s is in part outside of the sparse working copy, as %s: %s would do half", safepath.Quote(path), safepath.Quote(e.Path), verb), Next: next}
	})
}

// refuseMoveOut refuses to move a file or a directory to where the working copy has none.
func (r *Repo) refuseMoveOut(base StateRef, from, to string) error {
	cone, err := r.workingCone()
	if err != nil || cone.Within(to) {
		return err
	}
	var st vfs.Stat
	if r.fs.Lstat(r.disk(from), &st) == nil && st.Kind == vfs.KindDir {
		return outsideError(safepath.Quote(to), to+"/")
	}
	return r.refuseOutside(base, to)
}

// refuseOutsideOf refuses to bring back what an operation took from, or moved away from, where the working copy has nothing now.
func (r *Repo) refuseOutsideOf(base StateRef, list []aside, moves []move) error {
	for i := range list {
		if err := r.refuseOutside(base, string(list[i].Path)); err != nil {
			return err
		}
	}
	for _, m := range moves {
		for _, path := range []string{m.From, m.To} {
			if err := r.refuseOutside(base, path); err != nil {
				return err
			}
		}
	}
	return nil
}
