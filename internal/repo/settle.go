package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// settle brings the manifest to the new base. What was recorded is known by its stat; the rest differs as before.
func (w *work) settle(next StateRef) {
	r := w.t.r
	done := r.opt.Timings.Phase("manifest")
	defer done(0)
	if err := w.updateManifest(next); err != nil {
		// It is derived: without it the next command looks at every file.
		if r.manifest != nil {
			_ = r.manifest.Close()
			r.manifest = nil
		}
		return
	}
	_ = r.manifest.Save()
	if err := w.forgetPending(); err != nil {
		w.warnings = append(w.warnings, err.Error())
	}
}

func (w *work) updateManifest(next StateRef) error {
	r := w.t.r
	cone, err := r.workingCone()
	if err != nil {
		return err
	}
	if w.opt.Amend {
		// The manifest speaks of the state that was amended: what the two differ in is looked at again, save what
		// was just read.
		if err := r.moveManifest(r.manifest, w.base, next); err != nil {
			return err
		}
	}
	var edits []worktree.Edit
	for i := range w.recs {
		if rec := &w.recs[i]; rec.gone {
			edits = append(edits, worktree.Edit{Path: rec.old.Path, Delete: true})
		} else if rec.old != nil && rec.old.Path != rec.now.path {
			edits = append(edits, worktree.Edit{Path: rec.old.Path, Delete: true})
		}
	}
	if w.opt.Amend {
		edits = nil // moveManifest has done it
	}
	if w.fresh.m != nil || w.fresh.err != nil {
		if w.fresh.err != nil {
			return w.fresh.err
		}
		if r.manifest != nil {
			_ = r.manifest.Close() // nothing of it is used any more
		}
		r.manifest = w.fresh.m
		return nil
	}
	for i := range w.recs {
		if rec := &w.recs[i]; !rec.gone && cone.Holds(rec.now.path, diskEntryKind(rec.now.kind)) {
			edits = append(edits, worktree.Edit{Path: rec.now.path, Entry: w.seen(rec)})
		}
	}
	if err := r.manifest.Update(edits); err != nil {
		return err
	}
	r.manifest.SetBase(next.Num, cone.BaseID(next.ID))
	return nil
}

// freshManifest is the manifest of a first record, made whole.
type freshManifest struct {
	m   *worktree.Manifest
	err error
}

// startManifest makes the manifest of a first record beside the tree, which it takes as long as. Of any other record the
// manifest is altered instead, and nothing is made here.
func (w *work) startManifest(next StateRef) <-chan freshManifest {
	out := make(chan freshManifest, 1)
	if w.base.Num != NoState || len(w.recs) < massFiles {
		out <- freshManifest{}
		return out
	}
	r := w.t.r
	cone, err := r.workingCone()
	if err != nil {
		out <- freshManifest{err: err}
		return out
	}
	go func() {
		m, err := worktree.Build(r.fs, r.manifestDir(), next.Num, cone.BaseID(next.ID), func(yield func(string, worktree.Entry) bool) {
			for i := range w.recs {
				if !yield(w.recs[i].now.path, w.seen(&w.recs[i])) {
					return
				}
			}
		})
		out <- freshManifest{m, err}
	}()
	return out
}

// seen is the manifest's entry of a recorded file.
func (w *work) seen(rec *recorded) worktree.Entry {
	if rec.onDisk {
		e := worktree.NewEntry(&rec.stat, diskHash(rec.now.hash), w.clock)
		e.Exec = rec.now.exec && rec.now.kind != change.Link
		return e
	}
	e := state.Entry{Kind: rec.now.kind, Exec: rec.now.exec, Size: rec.now.size, Hash: rec.now.hash}
	return unseen(&e)
}

// forgetPending drops the notes that this record has taken up.
func (w *work) forgetPending() error {
	p := w.pending
	if len(p.Moves)+len(p.Untracked) == 0 {
		return nil
	}
	done := map[string]bool{}
	for i := range w.recs {
		if old := w.recs[i].old; old != nil {
			done[old.Path] = true
		}
	}
	// A note of what the base had not was taken up before, by a record that was cut off before it dropped the note.
	// Should the path come back, it would speak of another file.
	tree, err := w.t.r.tree(w.base.Num)
	if err != nil {
		return err
	}
	stale := func(path string) bool {
		_, there, err := tree.Get(path)
		return done[path] || err == nil && !there
	}
	p.Moves = slices.DeleteFunc(p.Moves, func(m move) bool { return stale(m.From) })
	p.Untracked = slices.DeleteFunc(p.Untracked, stale)
	return w.t.r.savePending(p)
}
