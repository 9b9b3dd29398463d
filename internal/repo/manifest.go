package repo

import (
	"errors"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// emptyHash is the BLAKE3 hash of nothing. The manifest names every content by its hash, the empty one too; a change has
// no hash for nothing. It is written out, since a start of oxy must not hash.
var emptyHash = change.Hash{
	0xaf, 0x13, 0x49, 0xb9, 0xf5, 0xf9, 0xa1, 0xa6, 0xa0, 0x40, 0x4d, 0xea, 0x36, 0xdc, 0xc9, 0x49,
	0x9b, 0xcb, 0x25, 0xc9, 0xad, 0xc1, 0x12, 0xb7, 0xcc, 0x9a, 0x93, 0xca, 0xe4, 0x1f, 0x32, 0x62,
}

func diskHash(h change.Hash) change.Hash {
	if h == (change.Hash{}) {
		return emptyHash
	}
	return h
}

// unseen is the manifest's entry of a file of a state before anybody looked at the disk.
func unseen(e *state.Entry) worktree.Entry {
	w := worktree.Entry{Size: int64(e.Size), Hash: diskHash(e.Hash), Exec: e.Exec}
	switch e.Kind {
	case change.Link:
		w.Kind, w.Exec = worktree.Link, false
	case change.Subrepo:
		w.Kind, w.Exec = worktree.Subrepo, false
	}
	return w
}

// loadManifest gives the manifest for the working copy's base. One that is missing or damaged is made from the base's tree,
// one of another state, as a crash between two steps leaves it, is brought to this one: the next scan then reads the
// files that it is not sure of.
func (r *Repo) loadManifest(base StateRef) (*worktree.Manifest, error) {
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	if r.manifest != nil {
		if s, id := r.manifest.Base(); s == base.Num && id == cone.BaseID(base.ID) {
			return r.manifest, nil
		}
	}
	done := r.opt.Timings.Phase("load manifest")
	defer done(0)
	dir := r.manifestDir()
	m := r.manifest
	if m == nil {
		var err error
		m, err = worktree.Load(r.fs, dir)
		if errors.Is(err, worktree.ErrNotFound) || errors.Is(err, worktree.ErrDamaged) {
			return r.rebuildManifest(base)
		}
		if err != nil {
			return nil, readError("the manifest", err)
		}
		r.manifest = m
	}
	s, id := m.Base()
	if s == base.Num && id == cone.BaseID(base.ID) {
		return m, nil
	}
	was, err := r.stateRef(s)
	if err != nil || cone.BaseID(was.ID) != id {
		return r.rebuildManifest(base)
	}
	if err := r.moveManifest(m, was, base); err != nil {
		if errors.Is(err, worktree.ErrDamaged) {
			return r.rebuildManifest(base)
		}
		return nil, err
	}
	return m, nil
}

// moveManifest makes the manifest speak of another base: of what differs between the two it knows only what should
// be there.
func (r *Repo) moveManifest(m *worktree.Manifest, from, to StateRef) error {
	cone, err := r.workingCone()
	if err != nil {
		return err
	}
	edits, err := r.manifestEdits(cone, from, to)
	if err != nil {
		return err
	}
	if err := m.Update(edits); err != nil {
		return err
	}
	m.SetBase(to.Num, cone.BaseID(to.ID))
	return nil
}

func (r *Repo) manifestEdits(cone *worktree.Cone, from, to StateRef) (edits []worktree.Edit, err error) {
	a, err := r.tree(from.Num)
	if err != nil {
		return nil, err
	}
	b, err := r.tree(to.Num)
	if err != nil {
		return nil, err
	}
	var gone, come []worktree.Edit
	err = state.Diff(a, b, func(old, new *state.Entry) error {
		if new == nil || !inCone(cone, new) {
			gone = append(gone, worktree.Edit{Path: pathOf(old, new), Delete: true})
		} else {
			come = append(come, worktree.Edit{Path: new.Path, Entry: unseen(new)})
		}
		return nil
	})
	return append(gone, come...), err
}

func (r *Repo) rebuildManifest(base StateRef) (*worktree.Manifest, error) {
	t, err := r.tree(base.Num)
	if err != nil {
		return nil, err
	}
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	dir := r.manifestDir()
	var walkErr error
	m, err := worktree.Build(r.fs, dir, base.Num, cone.BaseID(base.ID), func(yield func(string, worktree.Entry) bool) {
		stop := errors.New("stop")
		walkErr = t.Walk("", func(e *state.Entry) error {
			if inCone(cone, e) && !yield(e.Path, unseen(e)) {
				return stop
			}
			return nil
		})
		if walkErr == stop {
			walkErr = nil
		}
	})
	if err := errors.Join(walkErr, err); err != nil {
		return nil, err
	}
	if r.manifest != nil {
		_ = r.manifest.Close() // it was damaged, and is only read
	}
	r.manifest = m
	return m, nil
}

// saveManifest keeps what scans learnt. It is derived: where it cannot be written, as in a read-only tree, the next
// scan learns it again.
func (r *Repo) saveManifest() {
	if r.manifest == nil {
		return
	}
	done := r.opt.Timings.Phase("save manifest")
	_ = r.manifest.Save()
	done(0)
}

func (r *Repo) manifestDir() string { return filepath.Join(r.dir, "wc") }
