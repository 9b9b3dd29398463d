package worktree

import (
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// kid is a directory to go on with.
type kid struct {
	name    string
	ref     dirRef
	tracked bool
	outside bool // of the cone
	only    *selection
}

// walkTracked looks at a directory of the base state.
func (w *worker) walkTracked(t task) {
	d, p, m := t.dir, t.place, w.m
	info := m.info(t.ref)
	if err := d.Self(&w.st); err != nil {
		w.fail(p.path, err)
		d.Close()
		return
	}
	self := w.st
	listed := info.unchanged(&self) && !w.opts.Ignored // its names are the same as when all others were ignored
	p.files = info.Flags &^ Listed
	if !listed && !w.list(d, p, &self) {
		d.Close()
		return
	}
	var err error
	if w.files, err = m.appendEntries(w.files[:0], t.ref); err != nil {
		w.abort(err)
		d.Close()
		return
	}
	w.checkFiles(d, p)
	if p.print, err = printOf(d, upPrint(p), p.files, &w.clean); err != nil {
		w.fail(p.path, err)
	}
	if listed && p.print != info.Rules {
		listed = false
		if !w.list(d, p, &self) {
			d.Close()
			return
		}
	}
	kids := w.trackedKids(t.ref)
	if !listed {
		tracked := len(kids)
		var others bool
		kids, others = w.compareNames(d, p, kids)
		w.note(p, &info, &self, others || len(kids) > tracked)
	}
	w.descend(d, p, kids)
}

func upPrint(p *place) uint64 {
	if p.up == nil {
		return p.print
	}
	return p.up.print
}

func (w *worker) trackedKids(ref dirRef) []kid {
	refs := w.m.children(ref)
	if len(refs) == 0 {
		return nil
	}
	kids := make([]kid, len(refs))
	for i, r := range refs {
		kids[i] = kid{name: r.name, ref: r.dirRef, tracked: true}
	}
	return kids
}

// list reads the names of a directory. Its stat is taken again between the clock and the reading, so that later changes
// to a directory whose times are then settled show.
func (w *worker) list(d vfs.Dir, p *place, self *vfs.Stat) bool {
	w.now()
	err := d.Self(&w.st)
	*self = w.st
	if err == nil {
		w.names, err = d.ReadDir(w.names[:0])
	}
	if err != nil {
		w.fail(p.path, err)
		return false
	}
	slices.SortFunc(w.names, func(a, b vfs.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	p.files = 0
	for i := range w.names {
		p.files |= ignoreFlag(w.names[i].Name)
	}
	return true
}

// checkFiles looks at the tracked files of a directory.
func (w *worker) checkFiles(d vfs.Dir, p *place) {
	w.clean = [len(ignoreFiles)]change.Hash{}
	w.found.Files += len(w.files)
	for i := range w.files {
		f := &w.files[i]
		if !w.check(d, p, f) || p.files == 0 {
			continue
		}
		for j := range ignoreFiles {
			if f.name == ignoreFiles[j].name && f.Kind == File {
				w.clean[j] = f.Hash
			}
		}
	}
}

// compareNames judges the names on disk that are not tracked. It appends directories to look into to the tracked ones
// and tells whether there is anything else that is not ignored.
func (w *worker) compareNames(d vfs.Dir, p *place, kids []kid) (all []kid, others bool) {
	if slices.ContainsFunc(w.files, func(f namedEntry) bool { return f.Alias != 0 }) {
		slices.SortFunc(w.files, func(a, b namedEntry) int { return strings.Compare(diskName(&a), diskName(&b)) })
	}
	tracked, files := kids, w.files
	for _, n := range w.names {
		for len(files) > 0 && diskName(&files[0]) < n.Name {
			files = files[1:]
		}
		for len(tracked) > 0 && tracked[0].name < n.Name {
			tracked = tracked[1:]
		}
		if isOwn(n.Name) {
			continue
		}
		kind, ok := w.kindOf(d, p, n)
		if !ok {
			others = true
			continue
		}
		if kind == vfs.KindDir {
			if len(tracked) > 0 && tracked[0].name == n.Name {
				continue
			}
			if len(files) > 0 && diskName(&files[0]) == n.Name && files[0].Kind == Subrepo {
				continue
			}
		} else if len(files) > 0 && diskName(&files[0]) == n.Name {
			continue
		}
		enter, other := w.untracked(p, n.Name, kind)
		others = others || other
		if enter {
			kids = append(kids, kid{name: n.Name, outside: !w.enters(p, n.Name)})
		}
	}
	return kids, others
}

// untracked judges a name that is not tracked: enter says that it is a directory to look into, other that it is
// something else that is not ignored.
func (w *worker) untracked(p *place, name string, kind vfs.Kind) (enter, other bool) {
	if p.matches(&w.rules, name, kind == vfs.KindDir) {
		w.ignored(p, name, kind)
		return false, false
	}
	switch kind {
	case vfs.KindDir:
		return true, false
	case vfs.KindFile, vfs.KindLink:
		w.found.Untracked = append(w.found.Untracked, owned(p.path, name))
	default:
		w.found.Special = append(w.found.Special, owned(p.path, name))
	}
	return false, true
}

func (w *worker) ignored(p *place, name string, kind vfs.Kind) {
	if !w.opts.Ignored {
		return
	}
	path := owned(p.path, name)
	if kind == vfs.KindDir {
		path += "/"
	}
	w.found.Ignored = append(w.found.Ignored, path)
}

// note remembers a directory in which every name is tracked or ignored, if its times are old enough to prove that later.
// An untracked directory, even an empty one, forbids it: what comes to be in it would not show here.
func (w *worker) note(p *place, old *DirInfo, self *vfs.Stat, others bool) {
	if others || !settled(self, w.now()) {
		return
	}
	info := DirInfo{Mtime: self.Mtime, Ctime: self.Ctime, Ino: self.Ino, Rules: p.print, Flags: Listed | p.files}
	if info != *old {
		w.dirs = append(w.dirs, dirNote{p.path, info})
	}
}

// descend goes on with the directories in d and closes it.
func (w *worker) descend(d vfs.Dir, p *place, kids []kid) {
	for i := range kids {
		k := &kids[i]
		next := task{place: &place{up: p, name: k.name, path: join(p.path, k.name)}, ref: k.ref, tracked: k.tracked, outside: k.outside, only: k.only}
		var err error
		next.dir, err = d.OpenDir(k.name)
		if err != nil {
			w.notOpened(d, &next, err)
		}
		last := i == len(kids)-1
		if last {
			d.Close() // before going down: a chain of any depth holds one directory open
		}
		switch {
		case err != nil:
		case !last && w.queue.hungry():
			w.queue.offer(next)
		default:
			w.walk(next)
		}
	}
	if len(kids) == 0 {
		d.Close()
	}
}

// notOpened finds out why a directory cannot be opened. If it is none any more, its files are missing.
func (w *worker) notOpened(d vfs.Dir, t *task, err error) {
	switch lstat := d.Lstat(t.place.name, &w.st); {
	case lstat == nil && w.st.Kind == vfs.KindDir || lstat != nil && !isGone(lstat):
		w.fail(t.place.path, err)
	case t.tracked:
		w.missing(t.ref, t.place.path, t.only)
	}
}

// missing reports everything tracked in a directory that is not there.
func (w *worker) missing(ref dirRef, path string, only *selection) {
	files, err := w.m.appendEntries(nil, ref)
	if err != nil {
		w.abort(err)
		return
	}
	for i := range files {
		f := &files[i]
		if only == nil || only.kids[f.name] != nil && only.within(f.name) == nil {
			w.found.Files++
			if f.Kind == Subrepo {
				w.found.Subrepos = append(w.found.Subrepos, owned(path, f.name))
				continue
			}
			w.found.Changed = append(w.found.Changed, Item{Path: owned(path, f.name), Status: Missing, Base: f.Entry})
		}
	}
	for _, c := range w.m.children(ref) {
		switch {
		case only == nil:
			w.missing(c.dirRef, join(path, c.name), nil)
		case only.kids[c.name] != nil:
			w.missing(c.dirRef, join(path, c.name), only.within(c.name))
		}
	}
}
