package worktree

import (
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// walkSome looks at some names of a directory and at nothing else there.
func (w *worker) walkSome(t task) {
	d, p := t.dir, t.place
	if !t.tracked && isRepository(d) {
		w.found.Nested = append(w.found.Nested, owned(p.path, ""))
		d.Close()
		return
	}
	p.files = findIgnoreFiles(d)
	w.clean = [len(ignoreFiles)]change.Hash{}
	var err error
	if p.print, err = printOf(d, upPrint(p), p.files, &w.clean); err != nil {
		w.fail(p.path, err)
	}
	var kids []kid
	for _, name := range t.only.names() {
		if isOwn(name) || name == "." || name == ".." {
			continue
		}
		if k, ok := w.some(&t, name); ok {
			kids = append(kids, k)
		}
	}
	w.descend(d, p, kids)
}

// some looks at one name and tells whether to go down into it.
func (w *worker) some(t *task, name string) (k kid, enter bool) {
	p := t.place
	k = kid{name: name, only: t.only.within(name)}
	f := namedEntry{name: name}
	var isFile bool
	if t.tracked {
		var err error
		if f.Entry, isFile, err = w.m.lookupIn(t.ref, name); err != nil {
			w.abort(err)
			return k, false
		}
		k.ref, k.tracked = w.m.child(join(p.path, name))
	}
	if isFile && k.only == nil {
		w.found.Files++
		w.check(t.dir, p, &f)
	}
	onDisk := name
	if isFile {
		onDisk = diskName(&f)
	}
	if err := t.dir.Lstat(onDisk, &w.st); err != nil {
		switch {
		case !isGone(err):
			w.fail(join(p.path, name), err)
		case k.tracked:
			w.missing(k.ref, join(p.path, name), k.only)
		}
		return k, false
	}
	if w.st.Kind == vfs.KindDir {
		switch {
		case k.tracked:
			return k, true
		case isFile && f.Kind == Subrepo:
			return k, false
		}
		enter, _ := w.untracked(p, name, vfs.KindDir)
		k.outside = !w.enters(p, name)
		return k, enter
	}
	if k.tracked {
		w.missing(k.ref, join(p.path, name), k.only)
	}
	if !isFile && k.only == nil {
		w.untracked(p, name, w.st.Kind)
	}
	return k, false
}

// isRepository tells whether a directory is a repository of its own.
func isRepository(d vfs.Dir) bool {
	var st vfs.Stat
	return d.Lstat(".oxy", &st) == nil || d.Lstat(".git", &st) == nil
}
