package repo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// importing is one version on its way into a change.
type importing struct {
	im   *Importer
	c    *Imported
	base *grownState // the state that the change is recorded on
	tree state.Tree  // of that
	// Of a merge, its first parent, and what its files shall hold.
	first    *grownState
	hashes   map[string]change.Hash
	disputes []state.Dispute // of tree

	w *work
}

// put records the change upon base, and keeps the state that it leads to.
func (p *importing) put() (uint32, error) {
	im := p.im
	r, t := im.r, im.t
	w := &work{ctx: im.ctx, t: t, base: p.base.ref, on: p.base.ref, opt: &CommitOptions{Message: p.c.Message}, tree: p.tree, keep: true}
	p.w = w
	if p.first != nil {
		var err error
		if p.disputes, err = p.tree.Disputes(); err != nil {
			return 0, err
		}
		p.hashes, w.settling = map[string]change.Hash{}, p.settle
		if err := p.wants(); err != nil {
			return 0, err
		}
	}
	if err := p.find(); err != nil {
		return 0, err
	}
	self := r.store.NumChanges() + uint32(len(t.made))
	draft(self, w.recs)
	c := &change.Change{Author: p.c.Author, Time: p.c.Time, Message: p.c.Message, Extra: p.c.Extra, DirMoves: w.dirMoves()}
	deps, err := p.deps(self)
	if err != nil {
		return 0, err
	}
	files, contents := w.allFiles(), w.allContents()
	c.Files = slices.Clone(files)
	for i := range c.Files {
		c.Files[i].Hunks = cloneHunks(files[i].Hunks)
		c.Files[i].Over = slices.Clone(files[i].Over)
	}
	texts, err := im.store(files, contents)
	if err != nil {
		return 0, err
	}
	b := &body{undoes: NoState, files: files, contents: contents, message: c.Message}
	n, err := t.encode(c, b, r.shared.whole.minimal(deps), self, texts)
	if err != nil {
		return 0, err
	}
	r.shared.made(n)
	if n != self {
		return 0, fmt.Errorf("change %s is there already", t.idOf(n).Short())
	}
	g := &grownState{hash: p.base.hash}
	if g.ref, err = t.putStep(p.base.ref, &g.hash, []uint32{n}, false); err != nil {
		return 0, err
	}
	if err := w.grow(n, g.ref); err != nil {
		return 0, err
	}
	if g.tree, err = r.tree(g.ref.Num); err != nil {
		return 0, err
	}
	if p.first != nil {
		if err := p.check(g.tree); err != nil {
			return 0, err
		}
	}
	set, err := im.setOf(p.base)
	if err != nil {
		return 0, err
	}
	set = set.Union(state.NewSet(n))
	g.set = &set
	im.keep(g)
	im.did(n, w, files)
	return g.ref.Num, nil
}

// did notes what the next ones will ask about.
func (im *Importer) did(n uint32, w *work, files []change.File) {
	im.count++
	im.Stats.Changes++
	im.Stats.Files += len(files)
	for i := range files {
		f := &files[i]
		im.Stats.Bytes += int64(f.Size)
		im.bytes += int(f.Size) + 200 // with what stands around it
		if f.Writes != 0 && f.ID.Change != n {
			im.acts[state.Act{Change: n, Ord: uint32(i)}] = f.Writes
		}
		if i >= len(w.recs) {
			continue
		}
		rec := &w.recs[i]
		if rec.old == nil && rec.now.kind == change.Text {
			im.r.kept.putNew(f.ID, f, rec.now.data)
		}
	}
}

// store puts the contents of a change, as sink.contents does, and packs them with those of its neighbours.
func (im *Importer) store(files []change.File, contents [][]byte) (texts []byte, err error) {
	total := 0
	for i := range files {
		if files[i].Size < inlineBelow {
			total += int(files[i].Size)
		}
	}
	for i := range files {
		f := &files[i]
		switch {
		case f.Size == 0:
		case f.Size < inlineBelow && total <= inlineTotal:
			texts = append(texts, contents[i]...)
		default:
			if err := im.packer.Put(f.Content, contents[i]); err != nil {
				return nil, err
			}
		}
	}
	return texts, nil
}

// find sorts out what becomes of each path, and records each file.
func (p *importing) find() error {
	w, r := p.w, p.im.r
	var added []recorded
	now := map[string]fileNow{}
	for i := range p.c.Files {
		f := &p.c.Files[i]
		old, there, err := p.tree.Get(f.Path)
		if err != nil {
			return err
		}
		if f.Gone {
			if there {
				w.removed = append(w.removed, old)
			}
			continue
		}
		n, err := p.now(f, &old, there)
		if err != nil {
			return err
		}
		if p.hashes != nil {
			p.hashes[f.Path] = n.hash
		}
		if there {
			if p.first == nil || n.kind != old.Kind || n.hash != old.Hash || n.kind != change.Link && n.exec != old.Exec || p.disputed(old.File) {
				w.edited = append(w.edited, edited{old, f.Path})
				now[f.Path] = n
			}
			continue
		}
		if err := safepath.Check(f.Path); err != nil {
			return err
		}
		added = append(added, recordAdded(n))
	}
	if len(added) > 0 && len(w.removed) > 0 {
		for i := range added {
			now[added[i].now.path] = added[i].now
		}
		slices.SortFunc(w.removed, func(a, b state.Entry) int { return state.ComparePaths(a.Path, b.Path) })
		var err error
		if added, err = w.pair(p.im.moved(w, added)); err != nil {
			return err
		}
	}
	w.recs = added
	for i := range w.edited {
		e := &w.edited[i]
		rec, differs, err := r.recordEdited(&p.im.d, &e.old, now[e.path])
		if err != nil {
			return err
		}
		if p.first != nil && rec.weave == nil && p.openText(e.old.File) && now[e.path].kind == change.Text {
			// It shows what it shall, and yet its conflicts are open.
			if err := r.recordText(&p.im.d, &rec); err != nil {
				return err
			}
			differs = differs || len(rec.file.Hunks) > 0
		}
		if differs {
			w.recs = append(w.recs, rec)
		}
	}
	for i := range w.removed {
		rec, err := p.im.removed(&w.removed[i])
		if err != nil {
			return err
		}
		w.recs = append(w.recs, rec)
	}
	return nil
}

// disputed tells whether something of a file is in conflict in what the change is recorded on.
func (p *importing) disputed(id change.FileID) bool {
	return p.tree.Disputed() && disputeOf(p.disputes, id) != nil
}

func (p *importing) openText(id change.FileID) bool {
	d := disputeOf(p.disputes, id)
	return d != nil && d.Kinds&state.DisputedText != 0
}

// now is what a path shall hold. Of what old, where it is there, has as well the content is not read.
func (p *importing) now(f *ImportedFile, old *state.Entry, there bool) (fileNow, error) {
	n := fileNow{path: f.Path, kind: f.Kind, exec: f.Exec, data: f.Data}
	if f.Like > 0 {
		g, err := p.im.on(p.c.Parents[f.Like-1])
		if err != nil {
			return n, err
		}
		e, ok, err := g.tree.Get(f.Path)
		if err != nil || !ok {
			return n, errors.Join(err, fmt.Errorf("nothing stands at %s in an imported state", safepath.Quote(f.Path)))
		}
		n.size, n.hash = e.Size, e.Hash
		if n.kind == change.Text {
			n.kind = e.Kind
		}
		if there && old.Hash == e.Hash && old.Kind == e.Kind && n.kind == e.Kind && !p.disputed(old.File) {
			return n, nil
		}
		if n.data, err = p.im.r.content([]byte{}, &e); err != nil {
			return n, err
		}
		if f.Kind == change.Text && (e.Kind == change.Link || e.Kind == change.Subrepo) {
			n.kind = textOrBinary(n.data)
		}
		return n, nil
	}
	if n.data == nil {
		n.data = []byte{}
	}
	n.size, n.hash = uint64(len(n.data)), hashOf(n.data)
	if n.kind == change.Text {
		n.kind = textOrBinary(n.data)
	}
	return n, nil
}

func textOrBinary(b []byte) change.Kind {
	if len(b) > change.MaxText || worktree.IsBinary(b) {
		return change.Binary
	}
	return change.Text
}

// removed is recordRemoved, without looking at the text.
func (im *Importer) removed(old *state.Entry) (recorded, error) {
	rec := recorded{gone: true, old: old, file: change.File{ID: old.File, Writes: change.Gone, Over: over(old, change.WritesPlace|change.WritesMode|change.WritesBody)}}
	rec.deps = []uint32{old.File.Change, old.Place.Change, old.Mode.Change, old.Body.Change}
	if old.Weave != 0 {
		l, err := im.r.loadWeave(old)
		if err != nil {
			return rec, fmt.Errorf("read %s: %w", safepath.Quote(old.Path), err)
		}
		rec.deps = append(rec.deps, l.w.Latest()...)
	}
	rec.deps = withoutOwner(rec.deps, old.File.Change)
	return rec, nil
}

// deps finds all that the change depends on.
func (p *importing) deps(self uint32) ([]uint32, error) {
	w := p.w
	if w.tree.Disputed() {
		w.general = true
		return w.reconcile(self)
	}
	f, err := p.im.r.newFuse(w.tree, p.im.r.newReach())
	if err != nil {
		return nil, err
	}
	n := needs{f: f}
	for i := range w.recs {
		rec := &w.recs[i]
		n.deps = append(n.deps, rec.deps...)
		if rec.old != nil && rec.old.Acts != 0 {
			plain, err := p.acted(rec, &n)
			if err != nil {
				return nil, err
			}
			if !plain {
				return w.reconcile(self)
			}
		}
		if rec.gone || rec.old != nil && rec.old.Path == rec.now.path {
			continue
		}
		if err := n.took(rec.now.path); err != nil {
			return nil, err
		}
	}
	return n.deps, nil
}

// acted adds what a record depends on of what was done to its file's registers. Where more has to be looked at it is not plain.
func (p *importing) acted(rec *recorded, n *needs) (plain bool, err error) {
	im := p.im
	acts, err := im.r.blocks.Acts(rec.old.Acts)
	if err != nil {
		return false, err
	}
	for _, a := range acts {
		writes, ok := im.acts[a]
		if !ok {
			d, err := im.r.deed(a, rec.old.File)
			if err != nil {
				return false, err
			}
			if d.Undoes || saysDead(d) {
				return false, nil
			}
			writes = d.Did.Writes
			im.acts[a] = writes
		}
		if writes&change.Gone != 0 || rec.file.Writes&change.WritesBody != 0 {
			return false, nil
		}
		if rec.gone || writes&rec.file.Writes&(change.WritesPlace|change.WritesMode|change.Keep) != 0 || len(rec.file.Hunks) > 0 && writes&change.WritesBody != 0 {
			n.deps = append(n.deps, a.Change)
		}
	}
	return true, nil
}
