package worktree

import (
	"errors"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// walkUntracked looks into a directory in which nothing is tracked.
func (w *worker) walkUntracked(t task) {
	d, p := t.dir, t.place
	if len(p.path) > maxPath {
		w.fail(p.path[:shownPath]+"...", errTooDeep)
		d.Close()
		return
	}
	if w.opts.Collapse && t.only == nil && w.opts.Cone.Within(p.path) {
		if w.holdsFiles(d, p, true) {
			w.found.Untracked = append(w.found.Untracked, owned(p.path, ""))
		}
		d.Close()
		return
	}
	var self vfs.Stat
	if !w.listUntracked(d, p, &self) {
		d.Close()
		return
	}
	var kids []kid
	for _, n := range w.names {
		if isOwn(n.Name) {
			continue
		}
		kind, ok := w.kindOf(d, p, n)
		if !ok {
			continue
		}
		if enter, _ := w.untracked(p, n.Name, kind); enter {
			kids = append(kids, kid{name: n.Name, outside: !w.enters(p, n.Name)})
		}
	}
	w.descend(d, p, kids)
}

// enters tells whether the working copy has anything of a directory in another.
func (w *worker) enters(p *place, name string) bool {
	return w.opts.Cone == nil || w.opts.Cone.Enters(join(p.path, name))
}

// walkOutside tells of a directory outside of the cone that it holds something, and nothing of what that is. One that cannot
// be read may.
func (w *worker) walkOutside(t task) {
	ignored, errs := len(w.found.Ignored), len(w.found.Errors)
	if w.holdsFiles(t.dir, t.place, false) || len(w.found.Errors) > errs {
		w.found.Outside = append(w.found.Outside, owned(t.place.path, ""))
	}
	w.found.Ignored, w.found.Errors = w.found.Ignored[:ignored], w.found.Errors[:errs]
	t.dir.Close()
}

var errTooDeep = errors.New("path is too long")

// shownPath is how much of a path that is too long an error shows.
const shownPath = 200

// holdsFiles tells whether there is a file in an untracked directory that is not ignored. It looks no further than to
// the first, unless ignored ones are to be listed. A repository inside counts, but the directory itself must be none.
func (w *worker) holdsFiles(d vfs.Dir, p *place, top bool) (found bool) {
	if w.stopped() || len(p.path) > maxPath {
		return false
	}
	var self vfs.Stat
	if nested := len(w.found.Nested); !w.listUntracked(d, p, &self) {
		if len(w.found.Nested) > nested && !top {
			w.found.Nested = w.found.Nested[:nested]
			return true
		}
		return false
	}
	var dirs []string
	for _, n := range w.names {
		if isOwn(n.Name) {
			continue
		}
		kind, ok := w.kindOf(d, p, n)
		switch {
		case !ok:
		case p.matches(&w.rules, n.Name, kind == vfs.KindDir):
			w.ignored(p, n.Name, kind)
		case kind == vfs.KindDir:
			dirs = append(dirs, n.Name)
		case kind == vfs.KindOther:
		case !w.opts.Ignored:
			return true
		default:
			found = true
		}
	}
	for _, name := range dirs {
		sub, err := d.OpenDir(name)
		if err != nil {
			w.fail(join(p.path, name), err)
			continue
		}
		inner := w.holdsFiles(sub, &place{up: p, name: name, path: join(p.path, name)}, false)
		sub.Close()
		if found = found || inner; found && !w.opts.Ignored {
			return true
		}
	}
	return found
}

// listUntracked reads the names of an untracked directory and its rules. It reports one that is a repository of its own
// and returns false.
func (w *worker) listUntracked(d vfs.Dir, p *place, self *vfs.Stat) bool {
	if !w.list(d, p, self) {
		return false
	}
	for _, n := range w.names {
		if n.Name == ".git" || n.Name == ".oxy" {
			w.found.Nested = append(w.found.Nested, owned(p.path, ""))
			return false
		}
	}
	return true
}

func (w *worker) kindOf(d vfs.Dir, p *place, n vfs.DirEntry) (vfs.Kind, bool) {
	if n.Kind != vfs.KindUnknown {
		return n.Kind, true
	}
	if err := d.Lstat(n.Name, &w.st); err != nil {
		if !isGone(err) {
			w.fail(join(p.path, n.Name), err)
		}
		return 0, false
	}
	return w.st.Kind, true
}
