package worktree

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// remove takes away the files that go, then the directories that this empties, the deepest first.
func (c *checkout) remove() error {
	goes := func(j *job) bool {
		return j.Op == Remove && (j.seen.Kind == vfs.KindFile || j.seen.Kind == vfs.KindLink)
	}
	if err := c.eachChunk(goes, (*applier).removeChunk); err != nil {
		return err
	}
	empty := map[string]bool{}
	for i := range c.jobs {
		if goes(&c.jobs[i]) {
			dir, _ := split(c.jobs[i].Path)
			empty[dir] = true
		} else if j := &c.jobs[i]; j.Op == Remove && j.tracked && j.old.Kind == Subrepo && j.seen.Kind == vfs.KindDir && j.alias == 0 {
			empty[j.Path] = true // one that was never cloned
		}
	}
	if len(empty) == 0 {
		return nil
	}
	return c.removeDirs(empty, c.writtenDirs())
}

// writtenDirs are the directories that the plan writes into. They are kept: somebody's shell may stand in one.
func (c *checkout) writtenDirs() map[string]bool {
	kept := map[string]bool{"": true}
	for i := range c.jobs {
		if c.jobs[i].Op != Write {
			continue
		}
		for dir, _ := split(c.jobs[i].Path); !kept[dir]; dir, _ = split(dir) {
			kept[dir] = true
		}
	}
	return kept
}

func (c *checkout) removeDirs(empty, kept map[string]bool) error {
	byDepth := func(a, b string) int { return cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/")) }
	for list := slices.SortedFunc(maps.Keys(empty), byDepth); len(list) > 0; list = list[1:] {
		path := list[0]
		if kept[path] {
			continue
		}
		up, name := split(path)
		d, _, err := c.openExisting(up)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		err = d.Rmdir(name)
		closeChain(d, c.root)
		// Whatever the reason, a directory that stays does no harm: most hold ignored files.
		if err == nil && !empty[up] {
			empty[up] = true
			i, _ := slices.BinarySearchFunc(list[1:], up, byDepth)
			list = slices.Insert(list, i+1, up)
		}
	}
	return nil
}

func (w *applier) removeChunk(jobs []job) error {
	dir, _ := split(jobs[0].Path)
	d, _, err := w.openExisting(dir)
	if err != nil || d == nil {
		return err
	}
	defer closeChain(d, w.root)
	for i := range jobs {
		j := &jobs[i]
		if j.Op != Remove || j.seen.Kind != vfs.KindFile && j.seen.Kind != vfs.KindLink {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.removeOne(d, j); err != nil {
			return fmt.Errorf("remove %w", withPath(err, j.Path))
		}
		w.progress(0)
	}
	return nil
}

func (w *applier) removeOne(d vfs.Dir, j *job) error {
	if gone, err := w.stillSeen(d, j); err != nil || gone {
		return err
	}
	if err := d.Remove(j.name()); err != nil && !isGone(err) {
		return err
	}
	return nil
}

// stillSeen makes sure that a path is as it was when it was checked: the check of a large plan takes a while.
func (w *applier) stillSeen(d vfs.Dir, j *job) (gone bool, err error) {
	if err := d.Lstat(j.name(), &w.st); err != nil {
		if isGone(err) {
			return true, nil
		}
		return false, err
	}
	if w.st != j.seen {
		return false, ErrChanging
	}
	return false, nil
}

// clear empties a directory that gives way to a file and removes it. There are only directories left in it.
func (w *applier) clear(d vfs.Dir, name string) error {
	sub, err := d.OpenDir(name)
	if err != nil {
		return err
	}
	names, err := sub.ReadDir(nil)
	if isRepository(sub) {
		err = ErrChanging // it came after the check
	}
	for _, n := range names {
		if err != nil {
			break
		}
		var st vfs.Stat
		if err = sub.Lstat(n.Name, &st); err != nil {
			break
		}
		switch {
		case st.Kind == vfs.KindDir:
			err = w.clear(sub, n.Name)
		case isLeftover(n.Name):
			err = sub.Remove(n.Name)
		default:
			err = ErrChanging
		}
	}
	sub.Close()
	if err != nil {
		return err
	}
	return d.Rmdir(name)
}
