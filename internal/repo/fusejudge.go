package repo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// judge brings a file's entry up to what its acts and its weave say.
func (f *fuse) judge(x *fused) error {
	if x.judged || x.forget {
		return nil
	}
	x.judged = true
	if (len(x.acts) == 0 || x.sameActs) && !x.cutActs {
		return f.shape(x) // it was added, and its text edited: its entry tells the rest
	}
	deeds, err := f.deeds(x)
	if err != nil {
		return err
	}
	v := state.Judge(deeds, f.history(x))
	wasText := x.exists && x.entry.Kind == change.Text
	x.kinds = v.Kinds() | x.kinds&state.DisputedText
	if v.Several() {
		x.kinds |= state.Several
	}
	e := &x.entry
	at := func(d *state.Deed) change.FileID { return change.FileID{Change: d.Change, Ord: d.Ord} }
	place, mode, body := v.Place[0], v.Mode[0], v.Body[0]
	e.Path, e.Place = place.Did.Path, at(place)
	e.Exec, e.Mode = mode.Did.Exec, at(mode)
	if v.BodyText {
		e.Kind, e.Body = change.Text, at(textWrite(v, deeds))
	} else {
		e.Kind, e.Body, e.Size, e.Hash = body.Did.Kind, at(body), body.Did.Size, body.Did.Content
		if e.Weave == 0 && deeds[0].Did.Kind == change.Text { // only its weave keeps its text for later
			if err := f.load(x); err != nil {
				return err
			}
		}
	}
	if x.exists = v.Exists; !x.exists {
		x.by, x.kinds = at(v.GoneBy), 0
		return f.keepWeave(x)
	}
	if v.BodyText && !wasText {
		x.newWeave = true // what shows is not known
	}
	return f.shape(x)
}

// textWrite is the deed that made the file the text that is shown: of those that stand the first, else the last of all.
func textWrite(v *state.Verdict, deeds []state.Deed) *state.Deed {
	for _, d := range v.Body {
		if d.Did.Writes&change.WritesBody != 0 && d.Did.Kind == change.Text {
			return d
		}
	}
	for i := len(deeds) - 1; i > 0; i-- {
		if d := &deeds[i]; !d.Undoes && d.Did.Writes&change.WritesBody != 0 && d.Did.Kind == change.Text {
			return d
		}
	}
	return &deeds[0]
}

// deeds lists what was done to a file: its adding, the acts on its registers, and the edits of its text.
func (f *fuse) deeds(x *fused) ([]state.Deed, error) {
	return f.r.deeds(x.id, x.acts, func() (*weave.Weave, error) {
		if err := f.load(x); err != nil {
			return nil, err
		}
		return x.weave.w, nil
	})
}

func (r *Repo) deeds(id change.FileID, acts []state.Act, text func() (*weave.Weave, error)) ([]state.Deed, error) {
	own, err := r.deed(state.Act{Change: id.Change, Ord: id.Ord}, id)
	if err != nil {
		return nil, err
	}
	own.Adds = true
	out := []state.Deed{own}
	edited, nothing := change.File{ID: id, Hunks: make([]change.Hunk, 1)}, change.File{ID: id}
	seen := map[uint32]bool{id.Change: true}
	for _, a := range acts {
		if seen[a.Change] {
			continue
		}
		seen[a.Change] = true
		d, err := r.deed(a, id)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	w, err := text()
	if err != nil {
		return nil, err
	}
	for i, s := range w.Sources {
		if seen[s.Change] {
			continue
		}
		seen[s.Change] = true
		if hunks, ok := w.Edits(i); ok {
			// It is not among the acts: it edited the text and did nothing else, so that the change need not be read.
			did := &edited
			if !hunks {
				did = &nothing
			}
			out = append(out, state.Deed{Change: s.Change, Origin: s.Change, Ord: s.Ord, Did: did})
			continue
		}
		a := state.Act{Change: s.Change, Ord: s.Ord}
		if r.undoing(s.Change) {
			o, err := r.origin(s.Change)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(o.files, func(f change.File) bool { return f.ID == id })
			a.Ord = uint32(i)
		}
		d, err := r.deed(a, id)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	slices.SortFunc(out[1:], func(a, b state.Deed) int { return cmp.Compare(a.Change, b.Change) })
	return out, nil
}

// deed reads what an act is.
func (r *Repo) deed(a state.Act, id change.FileID) (d state.Deed, err error) {
	o, err := r.origin(a.Change)
	if err != nil {
		return d, err
	}
	if uint64(a.Ord) >= uint64(len(o.files)) || o.files[a.Ord].ID != id {
		return d, fmt.Errorf("%w: change %d does not act on file %d.%d", state.ErrDamaged, a.Change, id.Change, id.Ord)
	}
	return state.Deed{Change: a.Change, Undoes: o.undoes, Undone: o.undone, Taken: o.taken, Adds: o.change == id.Change,
		Origin: o.change, Ord: a.Ord, Did: &o.files[a.Ord]}, nil
}

// shape finds what a file that exists looks like.
func (f *fuse) shape(x *fused) error {
	e := &x.entry
	if x.newWeave {
		if e.Kind == change.Text {
			if err := f.load(x); err != nil {
				return err
			}
			if err := f.shapeText(x); err != nil {
				return err
			}
		}
	}
	if e.Kind != change.Text {
		x.kinds &^= state.DisputedText
	}
	return f.keepWeave(x)
}

// shapeText finds a file's text. One that shows all of what its adding brought, and nothing else, need not be read: the adding tells the hash.
func (f *fuse) shapeText(x *fused) error {
	e, w := &x.entry, x.weave.w
	x.kinds &^= state.DisputedText
	if len(w.Sources) == 1 && len(w.Open()) == 0 && w.Size() == uint64(w.Sources[0].Size) && w.Sources[0].Change == x.id.Change && w.Sources[0].Ord == x.id.Ord {
		born, err := f.born(x.id)
		if err != nil {
			return err
		}
		if born.Kind == change.Text {
			e.Size, e.Hash = born.Size, born.Hash
			return nil
		}
	}
	text, err := f.r.show(nil, x.id, x.weave, f.h)
	if err != nil {
		return fmt.Errorf("read %q: %w", e.Path, err)
	}
	if len(w.Open()) > 0 {
		x.kinds |= state.DisputedText
	}
	e.Size, e.Hash = uint64(len(text)), hashOf(text)
	if x.text = text; text == nil {
		x.text = []byte{}
	}
	return nil
}

// putWeave stores a weave: as what came beside what was there, or whole.
func (f *fuse) putWeave(x *fused) (state.Ref, error) {
	text := func() ([]byte, error) {
		if x.text != nil {
			return x.text, nil
		}
		return f.r.render(nil, x.weave)
	}
	if x.besides != nil && x.before.ref == x.was.entry.Weave {
		return f.r.extendBeside(x.before, x.weave, x.besides, text)
	}
	return f.r.putSnapshot(x.weave, text)
}

// keepWeave stores what changed of a file's weave and of the acts on it.
func (f *fuse) keepWeave(x *fused) (err error) {
	e := &x.entry
	if x.newWeave || x.weave != nil && e.Weave == 0 && e.Kind != change.Text {
		if err := f.load(x); err != nil {
			return err
		}
		if w := x.weave.w; len(w.Sources) == 1 && len(w.Open()) == 0 && x.exists && e.Kind == change.Text && w.Size() == e.Size {
			e.Weave = 0 // nobody edited it
		} else if e.Weave, err = f.putWeave(x); err != nil {
			return err
		}
		x.newWeave = false
		if k := f.r.kept; k != nil && x.text != nil && x.exists && e.Kind == change.Text && e.Weave != 0 {
			if len(x.weave.w.Open()) == 0 {
				k.put(x.id, x.weave, x.text)
			} else { // the change that settles it comes next
				k.read(e, x.weave)
			}
		}
		x.text = nil
	}
	switch {
	case x.cutActs && len(x.acts) == 0:
		e.Acts = 0
	case x.cutActs:
		e.Acts, err = f.r.blocks.PutActs(0, x.acts)
	case x.newActs > 0:
		e.Acts, err = f.r.blocks.PutActs(x.actsRef, x.acts[len(x.acts)-x.newActs:])
	}
	x.actsRef, x.newActs, x.cutActs = e.Acts, 0, false
	return err
}
