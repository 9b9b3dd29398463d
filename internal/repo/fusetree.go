package repo

import (
	"cmp"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// decide finds what becomes of every file that is touched, and under which names they are shown.
func (f *fuse) decide() error {
	if err := f.judgeAll(); err != nil {
		return err
	}
	return f.names()
}

// finish decides, and writes the tree that results.
func (f *fuse) finish() (state.Tree, error) {
	if err := f.decide(); err != nil {
		return state.Tree{}, err
	}
	return f.write()
}

// write writes the tree of what was decided.
func (f *fuse) write() (state.Tree, error) {
	at := map[string]state.Edit{} // what stands at each path that is touched
	for i := range f.plain {
		at[f.plain[i].Path] = f.plain[i]
	}
	var lost []state.FileEdit // of files that stand nowhere before and after
	for _, x := range f.files {
		from, to := "", ""
		if x.was.alive && !x.was.hidden {
			from = x.was.shown
		}
		if x.exists && !x.hidden {
			to = x.shown
		}
		if from != "" && from != to {
			e := at[from] // another file may take the path
			e.Path, e.Delete = from, e.Entry.Path == ""
			switch {
			case x.forget:
				e.Forget = true
			case x.hidden:
				e.Hide = x.entry.Path
			default:
				e.By, e.TombWeave, e.TombActs, e.TombPath = x.by, x.entry.Weave, x.entry.Acts, x.entry.Path
			}
			at[from] = e
		}
		if to != "" {
			e := at[to]
			e.Path, e.Delete, e.Entry = to, false, x.entry
			e.Entry.Path = to
			at[to] = e
		}
		if from == "" && to == "" {
			if edit, ok := x.nowhere(); ok {
				lost = append(lost, edit)
			}
		}
	}
	tree, err := f.base.Edit(slices.SortedFunc(maps.Values(at), func(a, b state.Edit) int { return state.ComparePaths(a.Path, b.Path) }))
	if err != nil {
		return state.Tree{}, err
	}
	if len(lost) > 0 {
		if tree, err = tree.EditFiles(lost); err != nil {
			return state.Tree{}, err
		}
	}
	if tree, err = tree.WithDisputes(f.nowDisputed()); err != nil {
		return state.Tree{}, err
	}
	sortVacated(f.unvacated)
	if tree, err = tree.Unvacate(f.unvacated); err != nil {
		return state.Tree{}, err
	}
	sortVacated(f.vacated)
	return tree.Vacate(f.vacated)
}

func sortVacated(vs []state.Vacated) {
	slices.SortFunc(vs, func(a, b state.Vacated) int {
		return cmp.Or(state.ComparePaths(a.Path, b.Path), cmp.Compare(a.By, b.By))
	})
}

// nowhere says what becomes of a file that stood nowhere and stands nowhere; ok is false if base knows that already.
func (x *fused) nowhere() (e state.FileEdit, ok bool) {
	e.File = x.id
	switch {
	case x.forget:
		e.Forget = true
		return e, x.was.known
	case x.hidden:
		e.Hide, e.Path = true, x.entry.Path
		return e, !x.was.hidden || x.was.place != x.entry.Path
	}
	e.Path, e.By, e.Weave, e.Acts = x.entry.Path, x.by, x.entry.Weave, x.entry.Acts
	return e, true
}

// nowDisputed lists the files that are not plain in the tree that results.
func (f *fuse) nowDisputed() []state.Dispute {
	out := slices.DeleteFunc(slices.Clone(f.disputes), func(d state.Dispute) bool { return f.files[d.File] != nil })
	for _, x := range f.files {
		if !x.exists || x.kinds == 0 && !x.hidden && x.shown == x.entry.Path && len(x.meets) == 0 && !x.dir {
			continue
		}
		d := state.Dispute{File: x.id, Place: x.entry.Path, Shown: x.shown, Kinds: x.kinds &^ state.DisputedName, Dir: x.dir, Meets: x.meets}
		if x.dir || len(x.meets) > 0 {
			d.Kinds |= state.DisputedName
		}
		if x.hidden {
			e := x.entry
			d.Hidden = &e
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b state.Dispute) int { return compareFiles(a.File, b.File) })
	return out
}

// takeAs has a file as another tree does, which knows all of it that this one does.
func (x *fused) takeAs(w *was) {
	x.exists, x.entry, x.kinds, x.by, x.judged = w.alive, w.entry, w.kinds, w.by, true
	x.weave, x.newWeave, x.besides, x.before, x.newActs, x.cutActs, x.actsRef = nil, false, nil, nil, 0, false, w.entry.Acts
}

// unite has a file with what both this tree and another know of it.
func (f *fuse) unite(x *fused, w *was) error {
	x.judged = false
	theirs, err := f.actsOf(w.entry.Acts)
	if err != nil {
		return err
	}
	mine := len(x.acts)
	for _, a := range theirs {
		if !slices.Contains(x.acts[:mine], a) {
			x.acts, x.newActs = append(x.acts, a), x.newActs+1
		}
	}
	// Where both know the same acts, and nothing is in dispute, registers stay as they are.
	x.sameActs = x.newActs == 0 && len(theirs) == mine && x.was.alive && w.alive && x.was.kinds|w.kinds == 0 && !x.was.hidden && !w.hidden &&
		x.entry.Place == w.entry.Place && x.entry.Mode == w.entry.Mode && x.entry.Body == w.entry.Body
	if w.entry.Weave == x.was.entry.Weave {
		return nil // neither edited it
	}
	if err := f.load(x); err != nil {
		return err
	}
	if done, err := f.uniteBeside(x); done || err != nil {
		return err
	}
	o := fused{id: x.id, exists: w.alive, entry: w.entry}
	if err := f.load(&o); err != nil {
		return err
	}
	merged, err := weave.Merge(x.weave.w, o.weave.w, f.history(x))
	if err != nil {
		return err
	}
	x.weave, x.newWeave = x.weave.with(merged), true
	switch {
	case o.weave.shown != nil:
		x.weave.other, x.weave.otherText = o.weave.w, o.weave.shown
	case o.weave.text != nil:
		x.weave.other, x.weave.otherText = o.weave.from, o.weave.text
	}
	return nil
}

// besideHistory answers for changes that one of two sets has alone, beside those that the other has alone: each is closed under dependency.
type besideHistory struct {
	*fileHistory
	others state.Set
}

func (h besideHistory) Reaches(a, b uint32) bool {
	return !h.others.Has(b) && h.fileHistory.Reaches(a, b)
}

// mostBesides is up to how many changes are added to a text one by one, in place of uniting two weaves.
const mostBesides = 64

// uniteBeside adds what the other tree's changes did to a text, if they are few and none of them meets what it does not know of. The
// other weave is not read.
func (f *fuse) uniteBeside(x *fused) (done bool, err error) {
	changes := f.theirs[x.id]
	if len(changes) == 0 || len(changes) > mostBesides || x.newWeave {
		return false, nil
	}
	var add []weave.Patch
	for _, n := range changes {
		b, err := f.r.bodyOf(n)
		if err != nil {
			return false, storeError(err)
		}
		i, ok := b.file(x.id)
		if b.undoes != NoState || !ok || x.id.Change == n {
			return false, nil
		}
		if did := &b.files[i]; len(did.Hunks) > 0 {
			add = append(add, weave.Patch{Source: sourceOf(n, uint32(i), did), Hunks: did.Hunks})
		}
	}
	if len(add) == 0 {
		return true, nil
	}
	w, ok, err := x.weave.w.Beside(add, besideHistory{f.history(x), f.mine})
	if err != nil || !ok {
		return false, err
	}
	x.before, x.besides = x.weave, add
	x.weave, x.newWeave = x.weave.with(w), true
	return true, nil
}
