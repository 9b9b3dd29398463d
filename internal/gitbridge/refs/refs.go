// Package refs lists the refs of a Git repository that keeps them as files: loose, packed and symbolic ones, and those
// of worktrees. Names and values are checked; what is wrong is told by name and left out. It reads no objects.
package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What can be wrong with a ref.
var (
	// ErrName is fsck's badRefName: a name that git check-ref-format refuses.
	ErrName = errors.New("not a name of a ref")
	// ErrContent is fsck's badRefContent and badRefOid: neither an id nor a symbolic ref, or more than that.
	ErrContent = errors.New("content is not that of a ref")
	// ErrFileType is fsck's badRefFiletype and symlinkRef: no plain file.
	ErrFileType = errors.New("ref is not a plain file")
	// ErrTarget is a symbolic ref that names no ref, or leads too far: fsck's badReferentName, symrefTargetIsNotARef and
	// badHeadTarget.
	ErrTarget = errors.New("symbolic ref does not lead to a ref")
	// ErrDangling is a symbolic ref whose target is not there. HEAD of a new repository is one.
	ErrDangling = errors.New("symbolic ref leads to nothing")
	// ErrPacked is a packed-refs file that is not taken at all: fsck's badPackedRefHeader, badPackedRefEntry,
	// packedRefEntryNotTerminated and packedRefUnsorted.
	ErrPacked = errors.New("malformed packed-refs")
	// ErrReftable is a repository that keeps its refs in another form, which only git reads.
	ErrReftable = errors.New("refs are in a reftable: use git for-each-ref")
	// ErrTooMany is more refs than are read, or directories nested deeper.
	ErrTooMany = errors.New("too many refs")
)

const (
	// MaxRefs bounds refs: ten times the 100 000 tags and heads of repositories that people called unusable.
	MaxRefs = 1 << 20
	// maxPacked bounds packed-refs: MaxRefs with names of some 200 bytes and a peeled id.
	maxPacked = 320 << 20
	// maxLoose bounds a loose ref: an id or "ref: " and a name.
	maxLoose = 4096 + 64
	// maxName bounds a name; it is the path of a file.
	maxName = 4096
	// maxDepth bounds directories within each other; a name of maxName could otherwise nest 2 048.
	maxDepth = 128
	// maxSymbolic bounds symbolic refs to symbolic refs, as Git does.
	maxSymbolic = 5
	// maxWorktrees bounds worktrees beside the one that is read.
	maxWorktrees = 4096
)

// Ref is a name for an object.
type Ref struct {
	Name   string    // in full: "HEAD", "refs/heads/main", "worktrees/NAME/HEAD"
	ID     object.ID // what it leads to
	Target string    // the ref that a symbolic one names, or empty
	Peeled object.ID // what a tag leads to where packed-refs says it, or zero
}

// Problem is a ref that was left out.
type Problem struct {
	Name string
	Err  error // wraps one of the errors above
}

func (p Problem) Error() string { return fmt.Sprintf("ref %q: %v", p.Name, p.Err) }

// Unwrap is Err.
func (p Problem) Unwrap() error { return p.Err }

// List is all refs of a repository in the order of their names, and what was wrong with others.
type List struct {
	Refs     []Ref
	Problems []Problem
}

// Find is the ref of this full name.
func (l *List) Find(name string) (Ref, bool) {
	i, found := slices.BinarySearchFunc(l.Refs, name, func(r Ref, n string) int { return strings.Compare(r.Name, n) })
	if !found {
		return Ref{}, false
	}
	return l.Refs[i], true
}

// Place says where refs lie and in what format ids are; a DB of package odb tells all of it.
type Place struct {
	GitDir, CommonDir string
	Format            object.Format
	Reftable          bool
}

type reader struct {
	fs    vfs.FS
	place Place
	raw   map[string]value
	list  List
}

// value is what a ref says before symbolic ones are followed.
type value struct {
	id, peeled object.ID
	target     string
}

// Read lists the refs. An error means that none can be told: ErrReftable, ErrPacked, ErrTooMany or one of the disk's.
func Read(fsys vfs.FS, place Place) (*List, error) {
	r := &reader{fs: fsys, place: place, raw: map[string]value{}}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("read refs of %s: %w", place.GitDir, err)
	}
	r.resolve()
	return &r.list, nil
}

func (r *reader) read() error {
	if r.place.Reftable || exists(r.fs, filepath.Join(r.place.CommonDir, "reftable")) {
		return ErrReftable
	}
	switch b, err := r.fs.ReadFile(filepath.Join(r.place.CommonDir, "packed-refs"), maxPacked); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := ParsePacked(r.place.Format, b, r.addPacked); err != nil {
			return err
		}
	}
	if err := r.dir(r.place.CommonDir, "refs", "refs", 0); err != nil {
		return err
	}
	if err := r.file(r.place.GitDir, "HEAD", "HEAD"); err != nil {
		return err
	}
	if r.place.GitDir != r.place.CommonDir {
		for _, own := range []string{"refs/bisect", "refs/worktree", "refs/rewritten"} {
			if err := r.dir(r.place.GitDir, own, own, 0); err != nil {
				return err
			}
		}
	}
	return r.worktrees()
}

// worktrees adds the HEADs of all worktrees: what is checked out there may have no other name.
func (r *reader) worktrees() error {
	names, err := r.fs.ReadDir(filepath.Join(r.place.CommonDir, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(names) > maxWorktrees {
		return fmt.Errorf("%w: %d worktrees", ErrTooMany, len(names))
	}
	for _, name := range names {
		full := "worktrees/" + name + "/HEAD"
		if CheckName(full) != nil {
			r.problem(full, ErrName)
			continue
		}
		if err := r.file(r.place.CommonDir, full, full); err != nil {
			return err
		}
	}
	return nil
}

func exists(fsys vfs.FS, name string) bool {
	var st vfs.Stat
	return fsys.Lstat(name, &st) == nil
}

func (r *reader) problem(name string, err error) {
	r.list.Problems = append(r.list.Problems, Problem{name, err})
}

func (r *reader) addPacked(p PackedRef) error {
	if err := CheckName(p.Name); err != nil {
		r.problem(p.Name, err)
		return nil
	}
	return r.add(p.Name, value{id: p.ID, peeled: p.Peeled})
}

func (r *reader) add(name string, v value) error {
	if len(r.raw)+len(r.list.Problems) >= MaxRefs {
		return ErrTooMany
	}
	r.raw[name] = v
	return nil
}

// resolve follows symbolic refs and sorts.
func (r *reader) resolve() {
	for name, v := range r.raw {
		to, ok := v, true
		for n := 0; ok && to.target != "" && n < maxSymbolic; n++ {
			to, ok = r.raw[to.target]
		}
		switch {
		case !ok:
			r.problem(name, fmt.Errorf("%w: %q", ErrDangling, v.target))
		case to.target != "":
			r.problem(name, fmt.Errorf("%w: %q", ErrTarget, v.target))
		default:
			r.list.Refs = append(r.list.Refs, Ref{Name: name, ID: to.id, Target: v.target, Peeled: to.peeled})
		}
	}
	slices.SortFunc(r.list.Refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(r.list.Problems, func(a, b Problem) int { return strings.Compare(a.Name, b.Name) })
}
