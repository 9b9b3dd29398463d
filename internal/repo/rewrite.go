package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
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
	gone []uint32   // the changes that go, with all that depend on them, ascending
	log  logBack    // down to the first of them
	tree state.Tree // without them

	instead map[uint32][]uint32             // for each that goes, what stands in its stead; none yet for those not reached
	stood   map[uint32][]uint32             // for each new one, in whose stead it stands; an amend's edits among them
	files   map[change.FileID]change.FileID // of files that they added, the new identities
	made    []uint32                        // all new changes, in order

	old, new growth // what was looked at last
}

func (t *tx) newRewriting(ctx context.Context, from StateRef, of []uint32) (*rewriting, error) {
	w := &rewriting{t: t, ctx: ctx, from: from, instead: map[uint32][]uint32{}, stood: map[uint32][]uint32{}, files: map[change.FileID]change.FileID{}}
	var err error
	if w.gone, err = t.r.goneWith(from, of); err != nil {
		return nil, err
	}
	if w.log, _, err = t.r.logDownTo(from.Num, w.gone); err != nil {
		return nil, err
	}
	tree, err := t.r.tree(from.Num)
	if err != nil {
		return nil, err
	}
	if from.Len == uint64(len(w.gone)) {
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

// growth is what stays with some changes more.
type growth struct {
	nums []uint32
	tree state.Tree
}

// grow is with, upon what stays. One change after the other it goes on where it was: a line of dependents costs each of them
// once.
func (w *rewriting) grow(g *growth, nums []uint32) (state.Tree, error) {
	rest := slices.DeleteFunc(slices.Clone(nums), func(n uint32) bool { return slices.Contains(g.nums, n) })
	if len(rest) != len(nums)-len(g.nums) { // it has what is not wanted
		g.nums, g.tree, rest = nil, state.Tree{}, nums
	}
	from := g.tree
	if len(g.nums) == 0 {
		from = w.tree
	}
	slices.Sort(rest)
	tree, err := w.with(from, rest)
	if err != nil {
		return state.Tree{}, err
	}
	g.nums, g.tree = slices.Clone(nums), tree
	return tree, nil
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
	a, err := w.grow(&w.old, old)
	if err != nil {
		return 0, err
	}
	b, err := w.grow(&w.old, append(old, of...))
	if err != nil {
		return 0, err
	}
	on, err := w.grow(&w.new, fresh)
	if err != nil {
		return 0, err
	}
	return w.record(of, fresh, a, b, on, meta, part)
}

// record makes the change that does on one tree what others did between a and b.
func (w *rewriting) record(of, fresh []uint32, a, b, on state.Tree, meta *change.Change, part *part) (uint32, error) {
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
	x := &transplant{w: w, of: of, fresh: fresh, f: f, n: &n, a: a, b: b, self: self, change: &c}
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
	if err := t.claimsOf(f, &n, b2, self); errors.Is(err, weave.ErrMismatch) {
		// It was recorded again on less than it turns out to depend on, because of a conflict that is none of its own.
		return 0, &Error{Text: fmt.Sprintf("%s cannot be made anew beside the conflicts that are there", r.nameChanges(of)), No: true,
			Next: "Record what you want on top instead.", Err: err}
	} else if err != nil {
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

// replacing gives the extra facts of a change that stands in the stead of another. It is no more the commit or changeset of
// another system that the old one was.
func replacing(extra []change.Field, old ...change.ID) []change.Field {
	out := slices.DeleteFunc(slices.Clone(extra), func(f change.Field) bool {
		return f.Key == keyReplaces || strings.HasPrefix(f.Key, "git.") || strings.HasPrefix(f.Key, "hg.")
	})
	ids := make([]string, len(old))
	for i := range old {
		ids[i] = old[i].String()
	}
	out = append(out, change.Field{Key: keyReplaces, Value: strings.Join(ids, " ")})
	slices.SortFunc(out, func(a, b change.Field) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
	return out
}

// keyReplaces is the extra fact that names the changes in whose stead one stands, by their ids, with a space between.
const keyReplaces = "replaces"

// order is the log from the first change that goes on: each new one where the old one stood, or as soon after as what it depends
// on is there.
func (w *rewriting) order() (out []uint32) {
	waits := make(map[uint32]bool, len(w.log.nums)) // of the log from there on, what is not placed yet
	rest := make([]uint32, 0, len(w.log.nums))
	for _, n := range slices.Backward(w.log.nums) {
		if _, goes := slices.BinarySearch(w.gone, n); !goes {
			rest = append(rest, n)
			waits[n] = true
			continue
		}
		for _, m := range w.instead[n] {
			if !waits[m] { // one may stand for several: where the last of these stood it surely can
				rest = append(rest, m)
				waits[m] = true
			}
		}
	}
	for len(rest) > 0 {
		var later []uint32
		for _, n := range rest {
			if slices.ContainsFunc(w.t.depsOf(n), func(d uint32) bool { return waits[d] }) {
				later = append(later, n)
				continue
			}
			out = append(out, n)
			delete(waits, n)
		}
		rest = later
	}
	return out
}

// finish makes the state with the new changes.
func (w *rewriting) finish() (StateRef, error) {
	before, err := w.t.r.stateRef(w.log.before)
	if err != nil {
		return StateRef{}, err
	}
	next, err := w.t.appendInstead(before, w.order(), w.from, w.log.nums)
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
