package repo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// fuse makes the tree of a state whose changes were not each recorded on the one before: it unites trees, adds changes
// beside others that they do not know of, and takes changes away. It looks at the files that these touch and at those
// that share a name with them. What they make of one file says state.Judge, and the file's weave (docs/spec/tree.md).
type fuse struct {
	r        *Repo
	h        *reach
	base     state.Tree
	files    map[change.FileID]*fused
	disputes []state.Dispute // of base, ascending by file
	byPlace  map[string][]change.FileID
	// Paths that changes took files away from, and those of changes that are taken away themselves.
	vacated, unvacated []state.Vacated
	out                func(n uint32) bool              // changes taken away; nil for none
	upon               bool                             // what is added was recorded upon the base, and knows all that is there
	knows              func(id change.FileID) knowledge // of two trees that are united, if it is known without looking
	theirs             map[change.FileID][]uint32       // with knows: of what the other tree has alone, the changes that act on a file, ascending
	mine               state.Set                        // with knows: what this tree has alone
	plain              []state.Edit                     // of files that stay where they are and of which nothing is to be decided
	// Of these, what the union knows: should another file meet one at its name, something is to be decided after all.
	united  map[change.FileID]was
	beneath map[string]bool // directories that files lie in which are at hand, made when first asked
	waiting []*fused        // files with patches that wait, while many changes are added
	waits   bool            // patches wait
}

// fused is a file that the changes touch, or one that shares a name with such a file.
type fused struct {
	id  change.FileID
	was was

	acts     []state.Act
	actsRef  state.Ref // of all acts but the last newActs
	newActs  int
	cutActs  bool // some were taken away: the chain is written anew
	weave    *loaded
	newWeave bool
	besides  []weave.Patch // with newWeave: what was added to the weave of before, none of which met what it does not know of
	before   *loaded
	waiting  []weave.Patch // what is still to be added to the weave
	text     []byte        // what it shows, for a while
	sameActs bool          // what was done to its registers is as in the entry: edits came, which decide nothing there
	judged   bool          // its entry is up to date

	forget bool // the set has nothing of it
	exists bool
	entry  state.Entry // its Path is its place, where it would stand if it met no other
	kinds  state.Disputed
	by     change.FileID // of one that is gone

	shown  string
	hidden bool
	meets  []change.FileID
	dir    bool
}

// was is what base knows of a file.
type was struct {
	known, alive, hidden bool
	place, shown         string
	entry                state.Entry
	kinds                state.Disputed
	by                   change.FileID
}

func (r *Repo) newFuse(base state.Tree, h *reach) (*fuse, error) {
	f := &fuse{r: r, h: h, base: base, files: map[change.FileID]*fused{}, byPlace: map[string][]change.FileID{}}
	var err error
	if f.disputes, err = base.Disputes(); err != nil {
		return nil, err
	}
	for i := range f.disputes {
		d := &f.disputes[i]
		f.byPlace[d.Place] = append(f.byPlace[d.Place], d.File)
	}
	return f, nil
}

func disputeOf(ds []state.Dispute, id change.FileID) *state.Dispute {
	i, ok := slices.BinarySearchFunc(ds, id, func(d state.Dispute, id change.FileID) int { return compareFiles(d.File, id) })
	if !ok {
		return nil
	}
	return &ds[i]
}

// wasIn reads what a tree knows of a file.
func wasIn(t state.Tree, ds []state.Dispute, id change.FileID) (w was, err error) {
	at, ok, err := t.ByFile(id)
	if err != nil || !ok {
		return w, err
	}
	w = was{known: true, alive: at.Alive, hidden: at.Hidden, place: at.Path, shown: at.Path}
	d := disputeOf(ds, id)
	if d != nil {
		w.place, w.kinds = d.Place, d.Kinds&^state.DisputedName
	}
	switch {
	case at.Hidden:
		if d == nil || d.Hidden == nil {
			return w, fmt.Errorf("%w: file %d.%d is hidden and nothing says what it is", state.ErrDamaged, id.Change, id.Ord)
		}
		w.entry, w.shown = *d.Hidden, ""
	case at.Alive:
		if w.entry, ok, err = t.Get(at.Path); err != nil {
			return w, err
		} else if !ok || w.entry.File != id {
			return w, fmt.Errorf("%w: %q is another file", state.ErrDamaged, at.Path)
		}
	default:
		tomb, _, err := t.Tombstone(id)
		if err != nil {
			return w, err
		}
		w.shown, w.by = "", tomb.By
		w.entry = state.Entry{Path: tomb.Path, File: id, Weave: tomb.Weave, Acts: tomb.Acts, Place: id, Mode: id, Body: id}
	}
	w.entry.Path = w.place
	return w, nil
}

// file finds a file, which base may not know.
func (f *fuse) file(id change.FileID) (*fused, error) {
	if x := f.files[id]; x != nil {
		return x, nil
	}
	w, err := wasIn(f.base, f.disputes, id)
	if err != nil {
		return nil, err
	}
	x := &fused{id: id, was: w, exists: w.alive, entry: w.entry, kinds: w.kinds, by: w.by, judged: w.known}
	if x.acts, err = f.actsOf(w.entry.Acts); err != nil {
		return nil, err
	}
	x.actsRef = w.entry.Acts
	f.files[id] = x
	if now, ok := f.united[id]; ok {
		x.takeAs(&now)
		delete(f.united, id)
		f.plain = slices.DeleteFunc(f.plain, func(e state.Edit) bool { return e.Entry.File == id })
	}
	return x, nil
}

func (f *fuse) actsOf(ref state.Ref) ([]state.Act, error) {
	if ref == 0 {
		return nil, nil
	}
	b, err := f.r.openBlocks()
	if err != nil {
		return nil, err
	}
	return b.Acts(ref)
}

// load reads a file's weave.
func (f *fuse) load(x *fused) error {
	if x.weave != nil {
		return nil
	}
	var err error
	e := x.entry
	if e.Weave == 0 && (!x.exists || e.Kind != change.Text) {
		if e, err = f.born(x.id); err != nil {
			return err
		}
	}
	x.weave, err = f.r.loadWeave(&e)
	return err
}

// born is a file as its adding made it.
func (f *fuse) born(id change.FileID) (state.Entry, error) {
	b, err := f.r.bodyOf(id.Change)
	if err != nil {
		return state.Entry{}, storeError(err)
	}
	if int(id.Ord) >= len(b.files) {
		return state.Entry{}, fmt.Errorf("%w: change %d has no file %d", weave.ErrMismatch, id.Change, id.Ord)
	}
	n := &b.files[id.Ord]
	return state.Entry{Path: n.Path, File: id, Kind: n.Kind, Exec: n.Exec, Size: n.Size, Hash: n.Content, Place: id, Mode: id, Body: id}, nil
}

// history is what the file's weave asks.
func (f *fuse) history(x *fused) *fileHistory {
	return f.r.fileHistory(f.h, x.id, func() *loaded { return x.weave })
}

// fileHistory answers for one file, whose text is read by its weave.
func (r *Repo) fileHistory(h *reach, id change.FileID, of func() *loaded) *fileHistory {
	return &fileHistory{reach: h, owner: id.Change, text: func(s change.Stretch) ([]byte, error) {
		src, err := r.sourceIn(id, s.Change, of())
		if err != nil {
			return nil, err
		}
		b, err := r.text(nil, src.Change, src.Ord, src.Hash)
		if err != nil || uint64(s.Off)+uint64(s.Len) > uint64(len(b)) {
			return nil, errors.Join(err, errWeaveBlock)
		}
		return b[s.Off : s.Off+s.Len], nil
	}}
}

// sourceIn says where the text of change n in a file lies. The weave at hand may not have it.
func (r *Repo) sourceIn(id change.FileID, n uint32, l *loaded) (weave.Source, error) {
	if l != nil {
		if src, ok := l.w.Source(n); ok {
			return src, nil
		}
	}
	b, err := r.bodyOf(n)
	if err != nil {
		return weave.Source{}, storeError(err)
	}
	i, ok := b.file(id)
	if !ok {
		return weave.Source{}, fmt.Errorf("%w: change %d does not touch file %d.%d", weave.ErrMismatch, n, id.Change, id.Ord)
	}
	return sourceOf(n, uint32(i), &b.files[i]), nil
}

// sourceOf says where the text lies that a change brings for a file.
func sourceOf(n, ord uint32, f *change.File) weave.Source {
	src := weave.Source{Change: n, Ord: ord, Size: uint32(f.Size)}
	if f.Size >= inlineBelow { // a small one is found in the change's own frame
		src.Hash = f.Content
	}
	return src
}

// add puts a change beside what is there. Its past is there.
func (f *fuse) add(n uint32) error {
	b, err := f.r.bodyOf(n)
	if err != nil {
		return storeError(err)
	}
	if b.undoes != NoState {
		return f.addUndoing(n, b)
	}
	for i := range b.files {
		did := &b.files[i]
		ref := change.FileID{Change: n, Ord: uint32(i)}
		x, err := f.file(did.ID)
		if err != nil {
			return err
		}
		x.judged = false
		x.sameActs = f.upon && did.Writes == 0 && f.plainly(x)
		if did.ID == ref {
			x.exists, x.forget = true, false
			x.entry = state.Entry{Path: did.Path, File: ref, Kind: did.Kind, Exec: did.Exec, Size: did.Size, Hash: did.Content, Place: ref, Mode: ref, Body: ref}
			continue
		}
		if did.Writes != 0 {
			x.acts, x.newActs = append(x.acts, state.Act{Change: n, Ord: uint32(i)}), x.newActs+1
			if err := f.vacates(n, did); err != nil {
				return err
			}
		}
		if len(did.Hunks) > 0 {
			if err := f.weaveIn(x, weave.Patch{Source: sourceOf(n, uint32(i), did), Hunks: did.Hunks}); err != nil {
				return fmt.Errorf("apply change %s: %w", f.h.id(n).Short(), err)
			}
		}
	}
	return nil
}

// weaveIn adds a patch to a file's text.
func (f *fuse) weaveIn(x *fused, p weave.Patch) error {
	if f.waits {
		if x.waiting = append(x.waiting, p); len(x.waiting) == 1 {
			f.waiting = append(f.waiting, x)
		}
		return nil
	}
	if err := f.load(x); err != nil {
		return err
	}
	w, err := x.weave.w.Add(p, f.history(x))
	if err != nil {
		return err
	}
	x.weave, x.newWeave, x.besides, x.before = x.weave.with(w), true, nil, nil
	return nil
}

// with is a changed weave: what is known of the text that a snapshot showed stays, for lines are named for ever.
func (l *loaded) with(w *weave.Weave) *loaded {
	if l.shown != nil {
		return &loaded{w: w, length: 1, text: l.shown, from: l.w}
	}
	return &loaded{w: w, length: 1, text: l.text, from: l.from, other: l.other, otherText: l.otherText}
}

// addUndoing puts a change beside what is there that takes another back.
func (f *fuse) addUndoing(n uint32, b *body) error {
	o, err := f.r.origin(n)
	if err != nil {
		return err
	}
	for i := range o.files {
		did := &o.files[i]
		id := did.ID
		x, err := f.file(id)
		if err != nil {
			return err
		}
		x.judged = false
		if did.Writes != 0 {
			x.acts, x.newActs = append(x.acts, state.Act{Change: n, Ord: uint32(i)}), x.newActs+1
			if err := f.vacates(n, did); err != nil {
				return err
			}
		}
		p, ok := undoingPatch(n, b, o.change, did)
		if !ok {
			continue
		}
		if err := f.weaveIn(x, p); err != nil {
			return fmt.Errorf("apply change %s: %w", f.h.id(n).Short(), err)
		}
	}
	return nil
}

// undoingPatch is what an undoing does to a file's text, if the undone did anything to it.
func undoingPatch(n uint32, b *body, origin uint32, did *change.File) (weave.Patch, bool) {
	if !touchesText(origin, did) {
		return weave.Patch{}, false
	}
	p := weave.Patch{Source: weave.Source{Change: n}, Undoes: &b.undoes}
	if i, ok := b.file(did.ID); ok {
		p.Source.Ord, p.Hunks = uint32(i), b.files[i].Hunks
	}
	return p, true
}

// touchesText tells whether what a change does to a file is in the file's weave: its adding is, whatever it is added as.
func touchesText(n uint32, f *change.File) bool { return len(f.Hunks) > 0 || f.ID.Change == n }

// vacates notes the paths that change n takes a file away from. An undoing acts at both ends of a move.
func (f *fuse) vacates(n uint32, did *change.File) error {
	paths, err := f.r.leaves(did, n != did.ID.Change && f.r.undoing(n))
	for _, p := range paths {
		f.vacated = append(f.vacated, state.Vacated{Path: p, By: n})
	}
	return err
}

// leaves gives the paths that a file's ops take it away from: of the places that they replace, and of an undoing also the
// place that was given.
func (r *Repo) leaves(did *change.File, undoing bool) (paths []string, err error) {
	if did.Writes&(change.WritesPlace|change.Gone) == 0 {
		return nil, nil
	}
	if undoing && did.Writes&change.WritesPlace != 0 {
		paths = append(paths, did.Path)
	}
	for _, o := range did.Over {
		if o.Reg != change.WritesPlace {
			continue
		}
		b, err := r.bodyOf(o.Change)
		if err != nil {
			return nil, storeError(err)
		}
		if int(o.Ord) >= len(b.files) {
			return nil, fmt.Errorf("%w: change %d has no file %d", weave.ErrMismatch, o.Change, o.Ord)
		}
		if p := b.files[o.Ord].Path; undoing || p != did.Path {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// remove takes changes away: those of a list, ascending, on which nothing else depends.
func (f *fuse) remove(gone []uint32) error {
	f.out = func(n uint32) bool { _, ok := slices.BinarySearch(gone, n); return ok }
	for _, n := range gone {
		o, err := f.r.origin(n)
		if err != nil {
			return err
		}
		for i := range o.files {
			did := &o.files[i]
			x, err := f.file(did.ID)
			if err != nil {
				return err
			}
			paths, err := f.r.leaves(did, f.r.undoing(n))
			if err != nil {
				return err
			}
			for _, p := range paths {
				f.unvacated = append(f.unvacated, state.Vacated{Path: p, By: n})
			}
			if err := f.without(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// without leaves out of a file what the changes did that are taken away.
func (f *fuse) without(x *fused) error {
	x.judged = false
	if f.out(x.id.Change) {
		x.forget, x.exists = true, false
		return nil
	}
	n := len(x.acts)
	x.acts = slices.DeleteFunc(slices.Clone(x.acts), func(a state.Act) bool { return f.out(a.Change) })
	x.cutActs = x.cutActs || len(x.acts) < n
	if err := f.load(x); err != nil {
		return err
	}
	if !slices.ContainsFunc(x.weave.w.Sources, func(s weave.Source) bool { return f.out(s.Change) }) {
		return nil
	}
	w, err := x.weave.w.Only(func(n uint32) bool { return !f.out(n) }, f.history(x))
	if err != nil {
		return err
	}
	x.weave, x.newWeave, x.besides, x.before = x.weave.with(w), true, nil, nil
	return nil
}
