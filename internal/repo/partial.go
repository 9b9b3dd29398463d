package repo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// partialKey is the setting that says which directories are wanted of a remote: one a line. What lies elsewhere it may leave out.
func partialKey(remote string) string { return "remote." + remote + ".path" }

// partialOf are the directories that are wanted of a remote; nil: all.
func (r *Repo) partialOf(remote string) ([]string, error) {
	if remote == "" {
		return nil, nil
	}
	value, _, err := r.ConfigGet(partialKey(remote))
	if err != nil || value == "" {
		return nil, err
	}
	dirs := strings.Split(value, "\n")
	if _, err := coneOf(dirs); err != nil {
		return nil, err
	}
	return dirs, nil
}

// setPartial has only some directories of a remote from now on.
func (r *Repo) setPartial(remote string, dirs []string) error {
	for _, d := range dirs {
		if !utf8.ValidString(d) || strings.Contains(d, "\n") {
			return &Error{Text: "a clone cannot be made of " + safepath.Quote(d) + " alone: its name is no plain text"}
		}
	}
	return r.ConfigSet(partialKey(remote), strings.Join(dirs, "\n"), false)
}

// portion says what a clone that is not whole has, beside all changes.
type portion struct {
	dirs  []string // contents of files in these directories; none: of all
	depth uint64   // contents of the states of so many changes before the end of each bookmark; 0: of all
}

func (p *portion) whole() bool { return len(p.dirs) == 0 && p.depth == 0 }

func (p *portion) equal(o *portion) bool { return p.depth == o.depth && slices.Equal(p.dirs, o.dirs) }

// portionOf is what is wanted of a remote.
func (r *Repo) portionOf(remote string) (p portion, err error) {
	if p.dirs, err = r.partialOf(remote); err == nil {
		p.depth, err = r.depthOf(remote)
	}
	return p, err
}

// setPortion has only a part of a remote from now on.
func (r *Repo) setPortion(remote string, p *portion) error {
	return errors.Join(r.setPartial(remote, p.dirs), r.setDepth(remote, p.depth))
}

// checkPartial refuses what cannot be cloned in part.
func checkPartial(a sync.Address, p *portion) error {
	if p.whole() {
		return nil
	}
	if _, err := coneOf(p.dirs); err != nil {
		return err
	}
	if a.Scheme == sync.S3 {
		return &Error{Text: "a bucket cannot be cloned in part: it gives changes with all that they have", Next: "Clone it whole, with the working files of some directories: oxy clone --sparse DIR"}
	}
	return nil
}

// leaving decides which contents a sender leaves out for an asker that wants some directories. Left out is only what no tree is made of, so that
// whoever takes the changes can prove every state: a body that is no text, and the first text of a file that no change of this stream
// edits, each of at least inlineBelow bytes and of a file that was never in the directories, as far as these changes tell.
//
// For an asker that wants no old contents those are left out that nothing young shows, whatever they are: see deep.
type leaving struct {
	r      *Repo
	only   *worktree.Cone // nil: everywhere
	inside map[change.FileID]bool
	edited map[change.FileID]bool
	deep   *deep // nil: however old
}

// newLeaving gives nil for an asker that wants everything.
func (r *Repo) newLeaving(only []string) (*leaving, error) {
	if len(only) == 0 {
		return nil, nil
	}
	cone, err := worktree.NewCone(only)
	if err != nil {
		return nil, &Error{Text: fmt.Sprintf("directories that cannot be: %v", err)}
	}
	return &leaving{r: r, only: cone, inside: map[change.FileID]bool{}, edited: map[change.FileID]bool{}}, nil
}

// note takes in what changes that are about to be sent say of files.
func (l *leaving) note(nums []uint32) error {
	if l.only == nil {
		return nil
	}
	for _, n := range nums {
		b, err := l.r.bodyOf(n)
		if err != nil {
			return storeError(err)
		}
		for i := range b.files {
			f := &b.files[i]
			if f.Writes&change.WritesPlace != 0 && l.only.Holds(f.Path, worktree.File) {
				l.inside[f.ID] = true
			}
			if f.ID.Change != n && (len(f.Hunks) > 0 || f.Writes&change.WritesBody != 0) {
				l.edited[f.ID] = true
			}
		}
	}
	return nil
}

// out tells which contents of a change are left out.
func (l *leaving) out(n uint32) (func(ord int) bool, error) {
	b, err := l.r.bodyOf(n)
	if err != nil {
		return nil, storeError(err)
	}
	left := make([]bool, len(b.files))
	for i := range b.files {
		f := &b.files[i]
		if f.Size < inlineBelow || f.Kind == change.Subrepo {
			continue
		}
		if l.deep.leaves(n, f.Content) {
			left[i] = true
			continue
		}
		if l.only == nil || f.Writes&change.WritesBody == 0 || len(f.Hunks) > 0 || l.inside[f.ID] {
			continue
		}
		first := f.ID == change.FileID{Change: n, Ord: uint32(i)}
		switch {
		case f.Kind == change.Text && (!first || l.edited[f.ID]):
			continue
		case f.Kind != change.Text && !first:
			// Where it stood when it was added, as far as these changes do not tell.
			add, err := l.r.bodyOf(f.ID.Change)
			if err != nil {
				return nil, storeError(err)
			}
			if int(f.ID.Ord) >= len(add.files) || l.only.Holds(add.files[f.ID.Ord].Path, worktree.File) {
				continue
			}
		}
		left[i] = true
	}
	return func(ord int) bool { return left[ord] }, nil
}

// births are the first contents of files that changes edit: a tree with the edits is made of them. They were left out while nobody
// edited those files.
func (r *Repo) births(updates []*sync.Update) func(yield func(change.Hash) bool) {
	return func(yield func(change.Hash) bool) {
		for _, u := range updates {
			for _, id := range u.Added {
				n, ok := r.store.FindChange(id)
				if !ok {
					continue
				}
				b, err := r.bodyOf(n)
				if err != nil {
					continue // whoever makes the tree says so
				}
				for i := range b.files {
					f := &b.files[i]
					if f.ID.Change == n || len(f.Hunks) == 0 && f.Writes&change.WritesBody == 0 {
						continue
					}
					add, err := r.bodyOf(f.ID.Change)
					if err != nil || int(f.ID.Ord) >= len(add.files) {
						continue
					}
					if first := &add.files[f.ID.Ord]; first.Size >= inlineBelow && first.Kind == change.Text && !yield(first.Content) {
						return
					}
				}
			}
		}
	}
}
