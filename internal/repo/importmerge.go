package repo

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// merge records a version with several parents: their union, and upon it a change that settles what is in conflict there and
// makes of it what the version has.
func (im *Importer) merge(c *Imported) (uint32, error) {
	first, err := im.on(c.Parents[0])
	if err != nil {
		return 0, err
	}
	u := first
	for _, s := range c.Parents[1:] {
		other, err := im.on(s)
		if err != nil {
			return 0, err
		}
		if u, err = im.unite(u, other); err != nil {
			return 0, fmt.Errorf("unite what it merges: %w", err)
		}
	}
	im.Stats.Merges++
	p := &importing{im: im, c: c, base: u, tree: u.tree, first: first}
	return p.put()
}

// setOf is the set of changes of a state.
func (im *Importer) setOf(g *grownState) (state.Set, error) {
	if g.set == nil {
		s, err := im.r.setOf(g.ref.Num)
		if err != nil {
			return s, err
		}
		g.set = &s
	}
	return *g.set, nil
}

// unite makes the state of all that two have.
func (im *Importer) unite(a, b *grownState) (*grownState, error) {
	for _, g := range []*grownState{a, b} {
		if _, err := im.setOf(g); err != nil {
			return nil, err
		}
	}
	g, err := im.r.uniteGrown(a, b)
	if err != nil || g == a || g == b {
		return g, err
	}
	g.hash = a.hash
	g.ref, err = im.t.putStep(a.ref, &g.hash, slices.Collect(b.set.Minus(*a.set).All()), true)
	return g, err
}

// uniteGrown gives what two states have together, one of them if it has all, else without a number.
func (r *Repo) uniteGrown(a, b *grownState) (*grownState, error) {
	onlyA, onlyB := a.set.Minus(*b.set), b.set.Minus(*a.set)
	switch {
	case onlyB.Empty():
		return a, nil
	case onlyA.Empty():
		return b, nil
	}
	g := &grownState{hash: a.hash}
	all := a.set.Union(*b.set)
	g.set = &all
	base, from, mine, theirs := a.tree, b.tree, onlyA, onlyB
	if onlyB.Len() > onlyA.Len() {
		base, from, mine, theirs = b.tree, a.tree, onlyB, onlyA
	}
	f, err := r.newFuse(base, r.newReach())
	if err != nil {
		return nil, err
	}
	if err := f.apart(mine, theirs); err != nil {
		return nil, err
	}
	if err := f.uniteWith(from); err != nil {
		return nil, err
	}
	g.tree, err = f.finish()
	return g, err
}

// apart tells a fuse by the changes that each of two states has alone what they know of a file beyond each other.
func (f *fuse) apart(mine, theirs state.Set) error {
	f.theirs, f.mine = map[change.FileID][]uint32{}, mine
	if err := f.r.touched.each(theirs, func(n uint32, id change.FileID) { f.theirs[id] = append(f.theirs[id], n) }); err != nil {
		return err
	}
	if err := f.r.touched.learn(mine); err != nil {
		return err
	}
	f.knows = func(id change.FileID) knowledge {
		switch _, ok := f.theirs[id]; {
		case !ok:
			return knowsLess
		case f.r.touched.by(id, mine):
			return knowsApart
		}
		return knowsMore
	}
	return nil
}

// wants lists what a merge shall have where its union may show something else, beside what it differs in from its first parent.
func (p *importing) wants() error {
	named := make(map[string]bool, len(p.c.Files))
	for i := range p.c.Files {
		named[p.c.Files[i].Path] = true
	}
	return state.Diff(p.first.tree, p.tree, func(old, new *state.Entry) error {
		path := pathOf(old, new)
		if named[path] {
			return nil
		}
		f := ImportedFile{Path: path, Gone: old == nil}
		if old != nil {
			f.Kind, f.Exec, f.Like = old.Kind, old.Exec && old.Kind != change.Link, 1
			if f.Kind == change.Binary {
				f.Kind = change.Text // its content says
			}
		}
		p.c.Files = append(p.c.Files, f)
		return nil
	})
}

// settle decides all conflicts of the union as the merge has it.
func (p *importing) settle(h *reach) error {
	w := p.w
	for i := range w.before.disputes {
		d := &w.before.disputes[i]
		if d.Hidden != nil {
			if err := w.drop(d.File); err != nil {
				return err
			}
		}
	}
	all, err := p.conflicts(h)
	if err != nil {
		return err
	}
	for i := range all {
		x, err := w.before.file(all[i].File)
		if err != nil {
			return err
		}
		if err := w.settleOne(&all[i], x); err != nil {
			return fmt.Errorf("settle a conflict of %s: %w", safepath.Quote(all[i].Path), err)
		}
	}
	p.im.Stats.Settled += len(all)
	for i := range w.before.disputes {
		d := &w.before.disputes[i]
		if d.Hidden != nil || d.Kinds&state.Several == 0 {
			continue
		}
		if err := p.single(d.File); err != nil {
			return err
		}
	}
	return nil
}

// conflicts lists what is to be decided, and counts what hunks decide that were found already.
func (p *importing) conflicts(h *reach) (all []Conflict, err error) {
	ds := p.disputes
	for i := range ds {
		d := ds[i]
		if d.Hidden != nil {
			continue
		}
		if rec := p.w.recordOf(d.File); rec != nil && rec.whole {
			p.im.Stats.Settled += rec.blocks
			d.Kinds &^= state.DisputedText
		}
		if d.Kinds&^state.Several == 0 {
			continue
		}
		more, err := p.im.r.conflictsOf(p.tree, ds, &d, h)
		if err != nil {
			return nil, fmt.Errorf("look at the conflicts of %s: %w", safepath.Quote(d.Shown), err)
		}
		all = append(all, more...)
	}
	slices.SortStableFunc(all, func(a, b Conflict) int { return state.ComparePaths(a.Path, b.Path) })
	return all, nil
}

// single has one value stand in each register of a file in which several do.
func (p *importing) single(id change.FileID) error {
	w := p.w
	x, err := w.before.file(id)
	if err != nil || w.gone(id) {
		return err
	}
	for _, reg := range []change.Writes{change.WritesPlace, change.WritesMode, change.WritesBody} {
		values, err := w.before.standing(x, reg)
		if err != nil {
			return err
		}
		f := w.opsOf(x)
		if len(values) < 2 || f.Writes&reg != 0 {
			continue
		}
		switch reg {
		case change.WritesPlace:
			w.stay(x, x.was.place)
		case change.WritesMode:
			f.Writes, f.Exec = f.Writes&^change.Keep|change.WritesMode, x.was.entry.Exec
		case change.WritesBody:
			if err := w.settleBody(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// check makes sure that a merge shows what it shall, and that nothing is in conflict.
func (p *importing) check(tree state.Tree) error {
	if tree.Disputed() {
		ds, err := tree.Disputes()
		if err != nil {
			return err
		}
		return fmt.Errorf("conflicts stay open in %d files, in %s for one (%+v)", len(ds), safepath.Quote(ds[0].Place), ds[0])
	}
	for i := range p.c.Files {
		f := &p.c.Files[i]
		e, there, err := tree.Get(f.Path)
		if err != nil {
			return err
		}
		if there == f.Gone || there && e.Hash != p.hashes[f.Path] {
			return fmt.Errorf("%s is not as it shall be", safepath.Quote(f.Path))
		}
	}
	return nil
}

// recordWhole finds the hunks that make of a text with open conflicts what a merge has, which settles them all.
func (r *Repo) recordWhole(d *diff.Differ, rec *recorded) error {
	l := rec.weave
	view, err := l.w.View(r.fileHistory(r.newReach(), rec.old.File, func() *loaded { return l }))
	if err != nil {
		return err
	}
	rec.whole, rec.blocks = true, len(view.Blocks())
	segments := view.Whole()
	t := &texts{r: r, l: l}
	var before []byte
	for _, s := range segments[0].Text {
		b, err := t.run(&weave.Run{Change: s.Change, Off: s.Off, Len: s.Len})
		if err != nil {
			return err
		}
		before = append(before, b...)
	}
	var edits []weave.Edit
	for _, e := range d.Lines(before, rec.now.data, diff.Options{}) {
		edits = append(edits, weave.Edit{A0: e.AOff0, A1: e.AOff1, B0: e.BOff0, B1: e.BOff1})
		rec.content = append(rec.content, rec.now.data[e.BOff0:e.BOff1]...)
	}
	hunks, deps, err := view.Record(segments, [][]weave.Edit{edits})
	if err != nil {
		return err
	}
	rec.wrote(hunks, deps)
	return nil
}
