package repo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
	"github.com/zeebo/blake3"
)

// overlay applies changes, in the order of a log, to a tree. Only the files that they touch are read, each once, however
// many changes touch it; finish writes the tree that results.
type overlay struct {
	r     *Repo
	base  state.Tree
	files map[change.FileID]*touched
	// Files that the changes add and nothing touched since, ascending by identity: a first commit has as many as
	// the tree, too many for a map.
	added   []state.Entry
	vacated []state.Vacated
}

// touched is a file with what the changes made of it.
type touched struct {
	was   *state.Entry // in base; nil if it was not there
	now   state.Entry
	gone  bool
	by    change.FileID // who removed it
	weave *loaded
	// What the records since the weave was loaded are, for as long as there is one only: then it is stored as a
	// record, else the whole weave is.
	src     weave.Source
	hunks   []change.Hunk
	applied bool // hunks are in weave
	records int
	unknown bool // the content's hash and size must be found by rendering
	acts    []state.Act
}

// known is the content of a file after a change, where the caller has it at hand.
type known func(ord uint32) (size uint64, hash change.Hash, text func() ([]byte, error), ok bool)

func (r *Repo) newOverlay(base state.Tree) *overlay {
	return &overlay{r: r, base: base, files: map[change.FileID]*touched{}}
}

// file finds a living file.
func (o *overlay) file(id change.FileID) (*touched, error) {
	if t, ok := o.files[id]; ok {
		return t, nil
	}
	if i, ok := slices.BinarySearchFunc(o.added, id, func(e state.Entry, id change.FileID) int { return compareFiles(e.File, id) }); ok {
		t := &touched{now: o.added[i]}
		o.added = slices.Delete(o.added, i, i+1)
		o.files[id] = t
		return t, nil
	}
	at, ok, err := o.base.ByFile(id)
	if err != nil {
		return nil, err
	}
	if !ok || !at.Shown() {
		return nil, fmt.Errorf("%w: file %d.%d is not there", weave.ErrMismatch, id.Change, id.Ord)
	}
	e, ok, err := o.base.Get(at.Path)
	if err != nil {
		return nil, err
	}
	if !ok || e.File != id {
		return nil, fmt.Errorf("%w: %q is another file", state.ErrDamaged, at.Path)
	}
	t := &touched{was: &e, now: e}
	o.files[id] = t
	return t, nil
}

func compareFiles(a, b change.FileID) int {
	return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Ord, b.Ord))
}

// apply adds change n, whose files are bound.
func (o *overlay) apply(n uint32, files []change.File, know known) error {
	for i := range files {
		f := &files[i]
		ref := change.FileID{Change: n, Ord: uint32(i)}
		if f.ID == ref {
			o.added = append(o.added, state.Entry{Path: f.Path, File: ref, Kind: f.Kind, Exec: f.Exec, Size: f.Size, Hash: f.Content, Place: ref, Mode: ref, Body: ref})
			continue
		}
		t, err := o.file(f.ID)
		if err != nil {
			return err
		}
		if t.gone {
			return fmt.Errorf("%w: change %d writes to a removed file", weave.ErrMismatch, n)
		}
		if f.Writes != 0 {
			t.acts = append(t.acts, state.Act{Change: n, Ord: uint32(i)})
		}
		if f.Writes&change.Gone != 0 {
			t.gone, t.by = true, ref
			o.vacate(t.now.Path, n)
			continue
		}
		if f.Writes&change.WritesPlace != 0 {
			if f.Path != t.now.Path {
				o.vacate(t.now.Path, n)
			}
			t.now.Path, t.now.Place = f.Path, ref
		}
		if f.Writes&change.WritesMode != 0 {
			t.now.Exec, t.now.Mode = f.Exec, ref
		}
		if err := o.body(t, f, ref, know); err != nil {
			return err
		}
	}
	return nil
}

// vacate notes that change n took a file away from a path.
func (o *overlay) vacate(path string, n uint32) {
	o.vacated = append(o.vacated, state.Vacated{Path: path, By: n})
}

// body applies what a change does to a file's content.
func (o *overlay) body(t *touched, f *change.File, ref change.FileID, know known) error {
	text := t.now.Kind == change.Text
	if f.Writes&change.WritesBody != 0 {
		becomes := f.Kind == change.Text
		if text != becomes {
			// The entry tells what a file's text was only while it is text, or was born as something else: from
			// here on a weave must. It is read as the entry stands before.
			if err := o.load(t); err != nil {
				return err
			}
			t.records = max(t.records, 2)
		}
		t.now.Kind, t.now.Body = f.Kind, ref
		if !becomes {
			t.now.Size, t.now.Hash, t.unknown = f.Size, f.Content, false
			return nil
		}
		t.unknown = t.unknown || !text
	}
	if len(f.Hunks) > 0 {
		if t.weave == nil {
			if err := o.load(t); err != nil {
				return err
			}
		}
		src := weave.Source{Change: ref.Change, Ord: ref.Ord, Size: uint32(f.Size)}
		if f.Size >= inlineBelow { // a small one is found in the change's own frame
			src.Hash = f.Content
		}
		t.records++
		if t.records == 1 {
			t.src, t.hunks = src, f.Hunks
		} else {
			if err := o.settle(t); err != nil {
				return err
			}
			t.hunks = nil
			if err := o.r.applyShown(t.weave, src, f.Hunks); err != nil {
				return err
			}
		}
		t.unknown = true
	}
	if t.unknown && know != nil {
		if size, hash, text, ok := know(ref.Ord); ok {
			if t.weave != nil {
				t.weave.shown = nil // need not be followed
			}
			return o.store(t, size, hash, text)
		}
	}
	return nil
}

// load reads the file's weave as it stands before the change at hand.
func (o *overlay) load(t *touched) (err error) {
	if t.weave != nil {
		return nil
	}
	e := t.now
	t.weave, err = o.r.loadWeave(&e)
	return err
}

// settle applies the one record that was held back.
func (o *overlay) settle(t *touched) error {
	if t.hunks == nil || t.applied {
		return nil
	}
	t.applied = true
	return o.r.applyShown(t.weave, t.src, t.hunks)
}

// store writes the file's weave. Its content is known.
func (o *overlay) store(t *touched, size uint64, hash change.Hash, text func() ([]byte, error)) (err error) {
	if err = o.settle(t); err != nil {
		return err
	}
	if t.records == 1 && t.hunks != nil {
		t.now.Weave, err = o.r.extend(t.weave, t.src, t.hunks, text)
	} else {
		t.now.Weave, err = o.r.putSnapshot(t.weave, text)
	}
	if err == nil && o.r.kept != nil && !t.gone && t.now.Kind == change.Text {
		err = o.r.kept.putAs(t.now.File, t.weave, text)
	}
	t.now.Size, t.now.Hash = size, hash
	t.weave, t.hunks, t.applied, t.records, t.unknown = nil, nil, false, 0, false
	return err
}

// finish renders what is not known yet and writes the tree.
func (o *overlay) finish() (state.Tree, error) {
	at := map[string]state.Edit{} // what stands at each path that is touched
	var lost []state.FileEdit     // files that came and went between
	var missing lackings
	for _, t := range o.files {
		if err := o.keep(t); missing.took(err) {
			continue
		} else if err != nil {
			return state.Tree{}, err
		}
		if t.was == nil && t.gone {
			lost = append(lost, state.FileEdit{Tombstone: state.Tombstone{File: t.now.File, Path: t.now.Path, By: t.by, Weave: t.now.Weave, Acts: t.now.Acts}})
		}
		if t.was != nil && (t.gone || t.was.Path != t.now.Path) {
			e := at[t.was.Path] // another file may take the path
			e.Path, e.Delete, e.By = t.was.Path, e.Entry.Path == "", t.by
			e.TombWeave, e.TombActs = t.now.Weave, t.now.Acts
			at[t.was.Path] = e
		}
		if !t.gone {
			e := at[t.now.Path]
			e.Path, e.Delete, e.Entry = t.now.Path, false, t.now
			at[t.now.Path] = e
		}
	}
	if err := missing.err(); err != nil {
		return state.Tree{}, err
	}
	if len(at)+len(lost) == 0 && o.base.Root() == (state.Root{}) {
		return o.build()
	}
	for i := range o.added {
		e := &o.added[i]
		edit := at[e.Path]
		edit.Path, edit.Delete, edit.Entry = e.Path, false, *e
		at[e.Path] = edit
	}
	edits := slices.SortedFunc(maps.Values(at), func(a, b state.Edit) int { return state.ComparePaths(a.Path, b.Path) })
	tree, err := o.base.Edit(edits)
	if err != nil {
		return state.Tree{}, err
	}
	if len(lost) > 0 {
		if tree, err = tree.EditFiles(lost); err != nil {
			return state.Tree{}, err
		}
	}
	sortVacated(o.vacated)
	return tree.Vacate(o.vacated)
}

// keep stores what changed of a file's text and of the acts on it.
func (o *overlay) keep(t *touched) (err error) {
	switch {
	case !t.gone && (t.unknown || t.records > 0):
		err = o.render(t)
	case t.records > 0: // it may come back
		err = o.store(t, t.now.Size, t.now.Hash, func() ([]byte, error) { return o.r.render(nil, t.weave) })
	}
	if err == nil && len(t.acts) > 0 {
		t.now.Acts, err = o.r.blocks.PutActs(t.now.Acts, t.acts)
	}
	return err
}

// build makes a first tree: all files were added and nothing else happened.
func (o *overlay) build() (state.Tree, error) {
	slices.SortFunc(o.added, func(a, b state.Entry) int { return state.ComparePaths(a.Path, b.Path) })
	return state.Build(o.r.blocks, func(yield func(*state.Entry) bool) {
		for i := range o.added {
			if !yield(&o.added[i]) {
				return
			}
		}
	})
}

// render finds the content of a file from its weave, and stores that.
func (o *overlay) render(t *touched) error {
	if t.now.Kind != change.Text { // only its weave is kept for later
		return o.store(t, t.now.Size, t.now.Hash, func() ([]byte, error) { return o.r.render(nil, t.weave) })
	}
	if err := o.settle(t); err != nil {
		return err
	}
	b := t.weave.shown
	if b == nil {
		var err error
		if b, err = o.r.render(nil, t.weave); err != nil {
			return fmt.Errorf("read %q: %w", t.now.Path, err)
		}
	}
	return o.store(t, uint64(len(b)), hashOf(b), func() ([]byte, error) { return b, nil })
}

// hashOf is the hash by which a content is known; that of nothing is zero.
func hashOf(b []byte) (h change.Hash) {
	if len(b) > 0 {
		h = blake3.Sum256(b)
	}
	return h
}
