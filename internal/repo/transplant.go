package repo

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// transplant does to the files of one tree what was done to those of another.
type transplant struct {
	w                    *rewriting
	fresh                []uint32 // new ones that they know
	of                   []uint32
	f                    *fuse // of the tree that it is recorded on
	n                    *needs
	a, b                 state.Tree // before and after, where it was done first
	aDisputes, bDisputes []state.Dispute
	self                 uint32
	change               *change.Change
	contents             [][]byte
	differ               diff.Differ
}

// file does again what was done to one file.
func (x *transplant) file(file int, did *change.File, part *part) error {
	now, err := wasIn(x.b, x.bDisputes, did.ID)
	if err != nil {
		return err
	}
	writes := did.Writes
	var text []byte
	if part != nil {
		var ok bool
		if writes, text, ok, err = part.takes(x, file, did, &now); err != nil || !ok {
			return err
		}
	}
	id, kept := x.w.files[did.ID]
	if slices.Contains(x.of, did.ID.Change) && !kept {
		return x.addFile(did.ID, &now)
	}
	if !kept {
		if id = did.ID; slices.Contains(x.w.gone, id.Change) {
			return &Error{Text: fmt.Sprintf("%s, which others change, would never have been there", safepath.Quote(now.place)), No: true}
		}
	}
	on, err := x.f.file(id)
	if err != nil {
		return err
	}
	f := change.File{ID: id, Writes: writes}
	if writes&change.WritesPlace != 0 {
		f.Path = did.Path
	}
	if writes&change.WritesMode != 0 {
		f.Exec = did.Exec
	}
	if writes&change.WritesBody != 0 {
		f.Kind = did.Kind
	}
	var content []byte
	if len(did.Hunks) > 0 {
		var deps []uint32
		if f.Hunks, content, deps, err = x.hunks(did, on, &now, text); err != nil {
			return fmt.Errorf("record %s again: %w", safepath.Quote(now.place), err)
		}
		f.Size, f.Content = uint64(len(content)), hashOf(content)
		x.n.deps = append(x.n.deps, deps...)
	} else if f.Kind != change.Text {
		f.Size, f.Content = did.Size, did.Content
		e := state.Entry{Path: now.place, Kind: did.Kind, Size: did.Size, Hash: did.Content}
		if e.Body, err = x.wrote(did.ID); err != nil {
			return err
		}
		if content, err = x.value(&e); err != nil {
			return err
		}
	}
	if f.Writes == 0 && len(f.Hunks) == 0 {
		return nil // nothing is left of it
	}
	over := f.Writes
	if over&change.Gone != 0 {
		over = change.WritesPlace | change.WritesMode | change.WritesBody
	}
	if f.Over, err = x.f.standing(on, over); err != nil {
		return err
	}
	x.change.Files, x.contents = append(x.change.Files, f), append(x.contents, content)
	return x.n.act(on, f.Writes, len(f.Hunks) > 0, false)
}

// hunks records again what happened to a file's text, or, of a split, the part of it that text is.
func (x *transplant) hunks(did *change.File, on *fused, now *was, text []byte) ([]change.Hunk, []byte, []uint32, error) {
	if text != nil {
		return x.edit(did, on, text, false)
	}
	was, err := wasIn(x.a, x.aDisputes, did.ID)
	if err != nil {
		return nil, nil, nil, err
	}
	if (was.kinds|now.kinds)&state.DisputedText != 0 {
		return x.editAlone(&was, on, now)
	}
	if text, err = x.text(now); err != nil {
		return nil, nil, nil, err
	}
	return x.edit(did, on, text, true)
}

// editAlone records again what happened to a text on what the changes knew of it and nothing else: beside that there are
// conflicts which are none of theirs.
func (x *transplant) editAlone(was *was, on *fused, now *was) ([]change.Hunk, []byte, []uint32, error) {
	r := x.w.t.r
	fail := func(err error) ([]change.Hunk, []byte, []uint32, error) { return nil, nil, nil, err }
	h := r.newReach()
	knows := func(n uint32) bool { return slices.ContainsFunc(x.of, func(c uint32) bool { return h.Reaches(c, n) }) }
	only := func(l *loaded, in func(n uint32) bool) (*loaded, error) {
		w, err := l.w.Only(in, r.fileHistory(h, on.id, func() *loaded { return l }))
		if err != nil {
			return nil, err
		}
		return l.with(w), nil
	}
	after, err := r.loadWeave(&now.entry)
	if err != nil {
		return fail(err)
	}
	if after, err = only(after, knows); err != nil {
		return fail(err)
	}
	if len(after.w.Open()) > 0 {
		return fail(&Error{Text: fmt.Sprintf("%s leaves a conflict open that it knew of", r.nameChanges(x.of)), No: true,
			Next: "What is made anew would settle it. Record what you want on top instead."})
	}
	before, err := r.loadWeave(&was.entry)
	if err != nil {
		return fail(err)
	}
	if before, err = only(before, func(n uint32) bool { return knows(n) && !slices.Contains(x.of, n) }); err != nil {
		return fail(err)
	}
	if err := x.f.load(on); err != nil {
		return fail(err)
	}
	stands, err := only(on.weave, func(n uint32) bool {
		// What the new ones depend on may be more than the old ones knew.
		return knows(n) && !slices.Contains(x.w.gone, n) || slices.ContainsFunc(x.fresh, func(c uint32) bool { return h.Reaches(c, n) })
	})
	if err != nil {
		return fail(err)
	}
	text, err := r.render(nil, after)
	if err != nil {
		return fail(err)
	}
	rec := recorded{old: &on.entry, now: fileNow{path: on.entry.Path, kind: change.Text, size: uint64(len(text)), data: text}}
	if len(before.w.Open())+len(stands.w.Open()) > 0 {
		err = r.recordOn(&x.differ, &rec, stands)
		return rec.file.Hunks, rec.content, rec.text, err
	}
	a, err := r.render(nil, before)
	if err != nil {
		return fail(err)
	}
	b, err := r.render(nil, stands)
	if err != nil {
		return fail(err)
	}
	if bytes.Equal(a, b) {
		err = rec.record(stands, weave.EditsBetween(before.w, after.w))
	} else {
		err = r.recordOn(&x.differ, &rec, stands)
	}
	return rec.file.Hunks, rec.content, rec.text, err
}

// addFile adds a file anew, with another identity.
func (x *transplant) addFile(old change.FileID, now *was) error {
	e := now.entry
	f := change.File{ID: change.FileID{Change: x.self, Ord: uint32(len(x.change.Files))}, Path: now.place, Exec: e.Exec, Kind: e.Kind,
		Writes: change.WritesPlace | change.WritesMode | change.WritesBody, Size: e.Size, Content: e.Hash}
	x.w.files[old] = f.ID
	content, err := x.value(&e)
	x.change.Files, x.contents = append(x.change.Files, f), append(x.contents, content)
	return err
}

// wrote gives the last write of a file's body among the changes.
func (x *transplant) wrote(id change.FileID) (change.FileID, error) {
	for _, n := range slices.Backward(x.of) {
		b, err := x.w.t.r.bodyOf(n)
		if err != nil {
			return change.FileID{}, storeError(err)
		}
		if i, ok := b.file(id); ok && b.files[i].Writes&change.WritesBody != 0 {
			return change.FileID{Change: n, Ord: uint32(i)}, nil
		}
	}
	return change.FileID{}, fmt.Errorf("%w: nothing writes file %d.%d", weave.ErrMismatch, id.Change, id.Ord)
}

// value reads a content that is to be recorded again; nil for one that is in the store by itself.
func (x *transplant) value(e *state.Entry) ([]byte, error) {
	if e.Kind != change.Text && e.Size >= inlineBelow {
		return nil, nil
	}
	return x.w.t.r.content(nil, e)
}

// text is what a file's text was after the change.
func (x *transplant) text(now *was) ([]byte, error) {
	l, err := x.w.t.r.loadWeave(&now.entry)
	if err != nil {
		return nil, err
	}
	return x.w.t.r.render(nil, l)
}

// edit records on what a file's weave shows what happened to its text. Where that shows what was there before the change, the
// lines themselves tell what came and went: of equal ones a comparison might find others.
func (x *transplant) edit(did *change.File, on *fused, text []byte, exact bool) (hunks []change.Hunk, content []byte, deps []uint32, err error) {
	r := x.w.t.r
	if err := x.f.load(on); err != nil {
		return nil, nil, nil, err
	}
	rec := recorded{old: &on.entry, now: fileNow{path: on.entry.Path, kind: change.Text, size: uint64(len(text)), data: text}}
	if exact && len(on.weave.w.Open()) == 0 {
		edits, ok, err := x.edits(did, on.weave)
		if err != nil {
			return nil, nil, nil, err
		}
		if ok {
			err := rec.record(on.weave, edits)
			return rec.file.Hunks, rec.content, rec.text, err
		}
	}
	err = r.recordOn(&x.differ, &rec, on.weave)
	return rec.file.Hunks, rec.content, rec.text, err
}

// edits tells what a change did to a text that shows the same as a weave; ok is false if it shows something else.
func (x *transplant) edits(did *change.File, on *loaded) (edits []weave.Edit, ok bool, err error) {
	r := x.w.t.r
	was, err := wasIn(x.a, x.aDisputes, did.ID)
	if err != nil || was.kinds&state.DisputedText != 0 {
		return nil, false, err
	}
	now, err := wasIn(x.b, x.bDisputes, did.ID)
	if err != nil {
		return nil, false, err
	}
	before, err := r.loadWeave(&was.entry)
	if err != nil {
		return nil, false, err
	}
	after, err := r.loadWeave(&now.entry)
	if err != nil {
		return nil, false, err
	}
	a, err := r.render(nil, before)
	if err != nil {
		return nil, false, err
	}
	b, err := r.render(nil, on)
	if err != nil || !bytes.Equal(a, b) {
		return nil, false, err
	}
	return weave.EditsBetween(before.w, after.w), true, nil
}
