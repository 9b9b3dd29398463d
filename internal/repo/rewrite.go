package repo

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// Rewritten is a change and what stands in its stead.
type Rewritten struct {
	Old, New uint32
}

// RewriteResult says what an amend, a reword, a squash or a split of earlier changes did.
type RewriteResult struct {
	MoveResult
	Made    []uint32    // the new changes that were asked for
	Changes []Rewritten // every change that has another in its stead: those that were asked for and those that depend on them
}

// rewriting puts new changes in the stead of some, and of those that depend on them. What the others did is recorded again,
// each on what it knew, upon the new ones; what does not depend on the changed ones stays as it is.
type rewriting struct {
	t    *tx
	ctx  context.Context
	from StateRef
	gone []uint32 // the changes that go, with all that depend on them, ascending
	// before is the state without them, and its tree.
	before StateRef
	tree   state.Tree

	instead map[uint32][]uint32             // for each that goes, what stands in its stead; none yet for those not reached
	stood   map[uint32][]uint32             // for each new one, in whose stead it stands; an amend's edits among them
	files   map[change.FileID]change.FileID // of files that they added, the new identities
	made    []uint32                        // all new changes, in order
}

func (t *tx) newRewriting(ctx context.Context, from StateRef, of []uint32) (*rewriting, error) {
	w := &rewriting{t: t, ctx: ctx, from: from, instead: map[uint32][]uint32{}, stood: map[uint32][]uint32{}, files: map[change.FileID]change.FileID{}}
	var err error
	if w.gone, err = t.r.goneWith(from, of); err != nil {
		return nil, err
	}
	if w.before, err = t.stateWithout(from, w.gone); err != nil {
		return nil, err
	}
	tree, err := t.r.tree(from.Num)
	if err != nil {
		return nil, err
	}
	if w.before.Num == NoState {
		w.tree = t.r.blocks.Tree(state.Root{})
		return w, nil
	}
	f, err := t.r.newFuse(tree, t.r.newReach())
	if err != nil {
		return nil, err
	}
	if err := f.remove(w.gone); err != nil {
		return nil, err
	}
	w.tree, err = f.finish()
	return w, err
}

// with gives the tree of what stays with some changes more.
func (w *rewriting) with(tree state.Tree, nums []uint32) (state.Tree, error) {
	if len(nums) == 0 {
		return tree, nil
	}
	f, err := w.t.r.newFuse(tree, w.t.r.newReach())
	if err != nil {
		return state.Tree{}, err
	}
	for _, n := range nums {
		if err := f.add(n); err != nil {
			return state.Tree{}, err
		}
	}
	return f.finish()
}

// known gives, of the changes that go, those in the pasts of some and beyond these, and the new ones in their stead. Whoever
// knows one of several that became one knows them all from now on.
func (w *rewriting) known(of []uint32) (old, new []uint32) {
	h := w.t.r.newReach()
	queue := slices.Clone(of)
	take := func(n uint32) {
		if !slices.Contains(of, n) && !slices.Contains(old, n) {
			old, queue = append(old, n), append(queue, n)
		}
	}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		for _, n := range w.gone {
			if h.Reaches(c, n) {
				take(n)
			}
		}
		for _, m := range w.instead[c] {
			for _, n := range w.stood[m] {
				take(n)
			}
		}
	}
	slices.Sort(old)
	for _, n := range old {
		new = append(new, w.instead[n]...)
	}
	slices.Sort(new)
	return old, slices.Compact(new)
}

// put records one change in the stead of some. part, if not nil, leaves of what they did a part; meta says who, when and why.
func (w *rewriting) put(of []uint32, meta *change.Change, part *part) (uint32, error) {
	old, fresh := w.known(of)
	if part != nil && part.rest {
		fresh = append(fresh, w.instead[of[0]]...)
	}
	a, err := w.with(w.tree, old)
	if err != nil {
		return 0, err
	}
	b, err := w.with(a, of)
	if err != nil {
		return 0, err
	}
	on, err := w.with(w.tree, fresh)
	if err != nil {
		return 0, err
	}
	return w.record(of, a, b, on, meta, part)
}

// record makes the change that does on one tree what others did between a and b.
func (w *rewriting) record(of []uint32, a, b, on state.Tree, meta *change.Change, part *part) (uint32, error) {
	t := w.t
	r := t.r
	self := r.store.NumChanges() + uint32(len(t.made))
	h := t.r.newReach()
	f, err := r.newFuse(on, h)
	if err != nil {
		return 0, err
	}
	c := *meta
	n := needs{f: f}
	if len(of) == 1 {
		if o, err := r.origin(of[0]); err != nil {
			return 0, err
		} else if o.undoes {
			return w.undoAgain(of[0], o.undone, f, &c)
		}
	}
	did, err := w.compose(of)
	if err != nil {
		return 0, err
	}
	x := &transplant{w: w, of: of, f: f, n: &n, a: a, b: b, self: self, change: &c}
	if x.aDisputes, err = a.Disputes(); err != nil {
		return 0, err
	}
	if x.bDisputes, err = b.Disputes(); err != nil {
		return 0, err
	}
	for i := range did {
		if err := x.file(i, &did[i], part); err != nil {
			return 0, err
		}
	}
	if len(c.Files) == 0 && part != nil {
		return 0, &Error{Text: "a split needs something for each of the two changes", Next: "See what there is to choose from with: oxy hunks --change " + r.ShortID(of[0]), No: true}
	}
	b2 := &body{undoes: NoState, files: c.Files, contents: x.contents, message: c.Message}
	if err := t.claimsOf(f, &n, b2, self); err != nil {
		return 0, err
	}
	num, err := t.putWith(&c, x.contents, minimalOf(n.deps, t.depsOf))
	if err == nil && num != self { // it was there before
		for old, id := range w.files {
			if id.Change == self {
				w.files[old] = change.FileID{Change: num, Ord: id.Ord}
			}
		}
	}
	return num, err
}

// undoAgain records the undoing of what stands in the stead of an undone change.
func (w *rewriting) undoAgain(n, undone uint32, f *fuse, meta *change.Change) (uint32, error) {
	if in, ok := w.instead[undone]; ok {
		if len(in) != 1 {
			return 0, &Error{Text: fmt.Sprintf("%s undoes %s, which does not stay one change", w.t.r.ShortID(n), w.t.r.ShortID(undone)), Next: "Take the undoing away first: oxy unrecord " + w.t.r.ShortID(n)}
		}
		undone = in[0]
	}
	c, deps, err := w.t.undoing(f, undone)
	if err != nil {
		return 0, err
	}
	c.Author, c.Time, c.Message, c.Extra = meta.Author, meta.Time, meta.Message, meta.Extra
	return w.t.putDraft(c, deps)
}

// compose gives what changes, one after the other, do to each file.
func (w *rewriting) compose(of []uint32) ([]change.File, error) {
	if len(of) == 1 {
		b, err := w.t.r.bodyOf(of[0])
		if err != nil {
			return nil, storeError(err)
		}
		return b.files, nil
	}
	var out []change.File
	at := map[change.FileID]int{}
	for _, n := range of {
		b, err := w.t.r.bodyOf(n)
		if err != nil {
			return nil, storeError(err)
		}
		if b.undoes != NoState {
			return nil, &Error{Text: fmt.Sprintf("%s undoes another change: it cannot become part of one", w.t.r.ShortID(n))}
		}
		for i := range b.files {
			next := &b.files[i]
			k, ok := at[next.ID]
			if !ok {
				at[next.ID] = len(out)
				out = append(out, *next)
				continue
			}
			join(&out[k], next, slices.Contains(of, next.ID.Change))
		}
	}
	return slices.DeleteFunc(out, func(f change.File) bool { return f.Writes == 0 && len(f.Hunks) == 0 }), nil
}

// join adds to what is done to a file what is done next.
func join(f, next *change.File, added bool) {
	switch {
	case next.Writes&change.Gone != 0 && added:
		*f = change.File{ID: f.ID} // it came and went
		return
	case next.Writes&change.Gone != 0:
		*f = change.File{ID: f.ID, Writes: change.Gone}
		return
	}
	if f.Writes&change.Gone != 0 { // it is there after all
		*f = *next
		return
	}
	f.Writes |= next.Writes
	if f.Writes&^change.Keep != 0 {
		f.Writes &^= change.Keep
	}
	if next.Writes&change.WritesPlace != 0 {
		f.Path = next.Path
	}
	if next.Writes&change.WritesMode != 0 {
		f.Exec = next.Exec
	}
	if next.Writes&change.WritesBody != 0 {
		f.Kind, f.Size, f.Content, f.Hunks = next.Kind, next.Size, next.Content, next.Hunks
	}
	if len(next.Hunks) > 0 {
		f.Hunks = next.Hunks
	}
}

// transplant does to the files of one tree what was done to those of another.
type transplant struct {
	w                    *rewriting
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
		whole := text == nil
		if whole {
			if text, err = x.text(&now); err != nil {
				return err
			}
		}
		var deps []uint32
		if f.Hunks, content, deps, err = x.edit(did, on, text, whole); err != nil {
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
	if now.kinds&state.DisputedText != 0 {
		return nil, &Error{Text: fmt.Sprintf("%s has an open conflict between changes that would be made anew", safepath.Quote(now.place)),
			Next: "Settle it first: oxy conflicts", No: true}
	}
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

// part is some of what changes did: of a split.
type part struct {
	// choose tells what is taken of a file, which is told by its ordinal in the change and where it stands: all, some of its text, which it gives, or nothing. old is nil where the text is not
	// edited, but added or replaced.
	choose func(file int, path string, old, now []byte) (taken, []byte, error)
	took   map[change.FileID]taken
	rest   bool // what the first part did not take
}

type taken uint8

const (
	takenNothing taken = iota
	takenSome
	takenAll
)

// takes tells what to do of a file's ops, and with which text; ok is false for nothing.
func (p *part) takes(x *transplant, file int, did *change.File, now *was) (writes change.Writes, text []byte, ok bool, err error) {
	if p.rest {
		switch p.took[did.ID] {
		case takenAll:
			return 0, nil, false, nil
		case takenSome:
			return 0, nil, true, nil // its ops went along
		}
		return did.Writes, nil, true, nil
	}
	var old, after []byte
	if len(did.Hunks) > 0 {
		w, err := wasIn(x.a, x.aDisputes, did.ID)
		if err != nil {
			return 0, nil, false, err
		}
		if old, err = x.w.t.r.content(nil, &w.entry); err != nil {
			return 0, nil, false, err
		}
		if after, err = x.w.t.r.content(nil, &now.entry); err != nil {
			return 0, nil, false, err
		}
		if old == nil {
			old = []byte{}
		}
	}
	t, text, err := p.choose(file, now.place, old, after)
	p.took[did.ID] = t
	return did.Writes, text, t != takenNothing, err
}

// dependents records again what depends on the changes that were put anew.
func (w *rewriting) dependents(of []uint32) error {
	for _, n := range w.gone {
		if slices.Contains(of, n) {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		info, err := w.t.r.Info(n)
		if err != nil {
			return err
		}
		meta := &change.Change{Author: info.Author, Time: info.Time, Message: info.Message, Extra: replacing(info.Extra, w.t.r.store.ChangeID(n))}
		made, err := w.put([]uint32{n}, meta, nil)
		if err != nil {
			return err
		}
		w.stands(made, n)
	}
	return nil
}

// stands notes that a new change stands in the stead of others.
func (w *rewriting) stands(made uint32, of ...uint32) {
	w.made = append(w.made, made)
	w.stood[made] = of
	for _, n := range of {
		w.instead[n] = append(w.instead[n], made)
	}
}

// replacing gives the extra facts of a change that stands in the stead of another.
func replacing(extra []change.Field, old change.ID) []change.Field {
	out := slices.DeleteFunc(slices.Clone(extra), func(f change.Field) bool { return f.Key == keyReplaces })
	out = append(out, change.Field{Key: keyReplaces, Value: old.String()})
	slices.SortFunc(out, func(a, b change.Field) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
	return out
}

// keyReplaces is the extra fact that names the change in whose stead one stands.
const keyReplaces = "replaces"

// finish makes the state with the new changes.
func (w *rewriting) finish() (StateRef, error) {
	next, err := w.t.appendBeside(w.before, w.made)
	if err != nil {
		return StateRef{}, err
	}
	f, err := w.t.r.newFuse(w.tree, w.t.r.newReach())
	if err != nil {
		return StateRef{}, err
	}
	for _, n := range w.made {
		if err := f.add(n); err != nil {
			return StateRef{}, err
		}
	}
	return next, w.t.keepTree(next, f)
}

// checkSame refuses what would change what is shown: making changes anew is no edit. Where files were in conflict, the marks and
// names of these are told by the changes' ids, and those are others now.
func (w *rewriting) checkSame(before, after StateRef) error {
	a, err := w.t.r.tree(before.Num)
	if err != nil {
		return err
	}
	b, err := w.t.r.tree(after.Num)
	if err != nil {
		return err
	}
	loose := map[string]bool{}
	for _, t := range []state.Tree{a, b} {
		ds, err := t.Disputes()
		if err != nil {
			return err
		}
		for i := range ds {
			loose[ds[i].Shown], loose[ds[i].Place] = true, true
		}
	}
	return state.Diff(a, b, func(old, new *state.Entry) error {
		path := pathOf(old, new)
		if loose[path] || old != nil && new != nil && old.Kind == new.Kind && old.Size == new.Size && old.Hash == new.Hash && (old.Exec == new.Exec || old.Kind == change.Link) {
			return nil
		}
		return &Error{Text: fmt.Sprintf("these changes cannot be made anew: %s would not be as it is", safepath.Quote(path)), No: true,
			Next: "Changes beside them speak of the same lines or names. Record what you want on top instead."}
	})
}

// result tells what was rewritten.
func (w *rewriting) result(asked []uint32) *RewriteResult {
	res := &RewriteResult{MoveResult: MoveResult{From: w.from, Came: w.made, Went: w.gone, Followed: NoState}, Made: asked}
	for _, n := range w.gone {
		for _, m := range w.instead[n] {
			res.Changes = append(res.Changes, Rewritten{n, m})
		}
	}
	return res
}
