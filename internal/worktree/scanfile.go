package worktree

import (
	"strconv"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// check looks at one tracked file and tells whether its content is that of the base state for certain.
func (w *worker) check(d vfs.Dir, p *place, f *namedEntry) bool {
	if f.Kind == Subrepo {
		w.found.Subrepos = append(w.found.Subrepos, owned(p.path, f.name))
	}
	if err := d.Lstat(diskName(f), &w.st); err != nil {
		if isGone(err) && f.Kind == Subrepo {
			return true // not there yet, or put away: its pin stays
		}
		if isGone(err) {
			w.changed(p, f, Item{Status: Missing})
		} else {
			w.fail(join(p.path, f.name), err)
		}
		return false
	}
	if f.Valid && f.unchanged(&w.st) && !w.execDiffers(&f.Entry) {
		return true
	}
	return w.examine(d, p, f)
}

// diskName is the name of an entry's file.
func diskName(f *namedEntry) string {
	if f.Alias == 0 {
		return f.name
	}
	return aliased(f.name, f.Alias)
}

func aliased(name string, alias uint8) string { return name + "~" + strconv.Itoa(int(alias)) }

func (w *worker) execDiffers(e *Entry) bool {
	return e.Kind == File && w.st.Kind == vfs.KindFile && e.Exec != w.st.Exec && !w.opts.IgnoreExec
}

// examine classifies a file whose stat, in w.st, is not the one remembered.
func (w *worker) examine(d vfs.Dir, p *place, f *namedEntry) (clean bool) {
	switch {
	case w.st.Kind == vfs.KindDir:
		if f.Kind != Subrepo {
			w.changed(p, f, Item{Status: Missing})
		}
		return f.Kind == Subrepo
	case w.st.Kind == vfs.KindOther:
		w.changed(p, f, Item{Status: Missing})
		w.found.Special = append(w.found.Special, owned(p.path, f.name))
		return false
	case !f.sameKind(&w.st):
		w.changed(p, f, w.read(d, p, f, Item{Status: TypeChanged}, w.opts.Exact))
		return false
	case f.Size != w.st.Size:
		w.changed(p, f, w.read(d, p, f, Item{Status: Modified}, w.opts.Exact))
		return false
	case f.Valid && f.unchanged(&w.st):
		w.changed(p, f, Item{Status: ModeChanged, Stat: w.st, Hash: f.Hash, Hashed: true})
		return true
	}
	item := w.read(d, p, f, Item{Status: Modified}, true)
	if !item.Hashed || item.Hash != f.Hash || !f.sameKind(&item.Stat) {
		w.changed(p, f, item)
		return false
	}
	w.refresh(p, f, &item.Stat)
	w.st = item.Stat
	if w.execDiffers(&f.Entry) {
		item.Status = ModeChanged
		w.changed(p, f, item)
	}
	return true
}

// read hashes the file if wanted. The stat is that of the content hashed.
func (w *worker) read(d vfs.Dir, p *place, f *namedEntry, item Item, wanted bool) Item {
	item.Stat = w.st
	if !wanted {
		return item
	}
	if w.hasher == nil {
		w.hasher = newFileHasher()
	}
	w.now()
	w.found.Read++
	sum, err := w.hasher.sum(d, diskName(f), w.st.Kind)
	if err != nil {
		w.fail(join(p.path, f.name), err)
		return item
	}
	item.Stat, item.Hash, item.Hashed = w.hasher.guard.st, sum, true
	return item
}

func (w *worker) changed(p *place, f *namedEntry, item Item) {
	item.Path, item.Base = owned(p.path, f.name), f.Entry
	w.found.Changed = append(w.found.Changed, item)
}

// refresh remembers that a file with this stat has the base state's content, if that can be proof later.
func (w *worker) refresh(p *place, f *namedEntry, st *vfs.Stat) {
	e := NewEntry(st, f.Hash, w.now())
	e.Exec, e.Alias = f.Exec, f.Alias
	if e.Valid {
		w.fresh = append(w.fresh, Edit{Path: owned(p.path, f.name), Entry: e})
	}
}
