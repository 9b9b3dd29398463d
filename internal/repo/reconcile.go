package repo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// extra is what a record does to a file beyond what the disk shows: a hidden twin goes with the one that is shown, a name is
// confirmed, a conflict is settled.
type extra struct {
	file    change.File
	content []byte // of a body that is settled; nil when it is in the store already
}

// reconcile completes a record on a state in which files were changed side by side: it names all values that each op
// replaces, settles what a person settled, and sees to it that afterwards every file is shown where the disk has it. It gives
// all that the record depends on.
func (w *work) reconcile(self uint32) ([]uint32, error) {
	h := w.t.r.newReach()
	before, err := w.t.r.newFuse(w.tree, h)
	if err != nil {
		return nil, err
	}
	w.before = before
	if w.tree.Disputed() {
		if err := w.dropTwins(); err != nil {
			return nil, err
		}
		if err := w.settleConflicts(h); err != nil {
			return nil, err
		}
		if w.settling != nil {
			if err := w.settling(h); err != nil {
				return nil, err
			}
		}
	}
	// Each round adds ops and takes none away; three have always been enough.
	const maxRounds = 20
	for range maxRounds {
		n, err := w.complete()
		if err != nil {
			return nil, err
		}
		if !w.tree.Disputed() {
			return w.claimed(n)
		}
		after, err := w.tryOut(self, n)
		if err != nil {
			return nil, err
		}
		again, err := w.correct(after)
		if err != nil {
			return nil, err
		}
		if !again {
			w.after = after
			return w.claimedBy(n, after)
		}
	}
	return nil, errors.New("the record's names do not come to rest")
}

// opsOf finds what the record does to a file of the state that it stands on.
func (w *work) opsOf(x *fused) *change.File {
	for i := range w.recs {
		if old := w.recs[i].old; old != nil && old.File == x.id {
			return &w.recs[i].file
		}
	}
	for i := range w.extra {
		if w.extra[i].file.ID == x.id {
			return &w.extra[i].file
		}
	}
	w.extra = append(w.extra, extra{file: change.File{ID: x.id}})
	return &w.extra[len(w.extra)-1].file
}

// dropTwins lets the hidden twins go of every file that the record does something to.
func (w *work) dropTwins() error {
	for i := range w.recs {
		if old := w.recs[i].old; old != nil {
			if err := w.dropTwinsOf(old.File); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *work) dropTwinsOf(id change.FileID) error {
	at, ok, err := w.tree.ByFile(id)
	if err != nil || !ok || !at.Shown() {
		return err
	}
	for i := range w.before.disputes {
		d := &w.before.disputes[i]
		if d.Hidden == nil || d.Shown != at.Path {
			continue
		}
		if err := w.drop(d.File); err != nil {
			return err
		}
	}
	return nil
}

// drop removes a file that is not shown, whatever the record did to it so far.
func (w *work) drop(id change.FileID) error {
	x, err := w.before.file(id)
	if err != nil {
		return err
	}
	*w.opsOf(x) = change.File{ID: id, Writes: change.Gone}
	return nil
}

// place has the record put a file, without its hidden twins, at a path.
func (w *work) place(x *fused, path string) (changed bool, err error) {
	f := w.opsOf(x)
	if f.Writes&change.Gone != 0 || f.Writes&change.WritesPlace != 0 && f.Path == path {
		return false, nil
	}
	f.Writes = f.Writes&^change.Keep | change.WritesPlace
	f.Path = path
	return true, w.dropTwinsOf(x.id)
}

// stay has the record say that a file is where it is, unless it says otherwise.
func (w *work) stay(x *fused, path string) (changed bool) {
	f := w.opsOf(x)
	if f.Writes&(change.Gone|change.WritesPlace) != 0 {
		return false
	}
	f.Writes, f.Path = f.Writes&^change.Keep|change.WritesPlace, path
	return true
}

// settleConflicts decides the conflicts that a person settled as the working copy has them.
func (w *work) settleConflicts(h *reach) error {
	settled := settledIn(w.t.view)
	if len(settled) == 0 && !w.opt.Amend {
		return nil
	}
	all, err := w.t.r.conflictsIn(w.tree, h, nil)
	if err != nil {
		return err
	}
	var left []Conflict // what the change that is replaced left open
	if w.opt.Amend {
		tip, err := w.t.r.tree(w.base.Num)
		if err != nil {
			return err
		}
		if left, err = w.t.r.conflictsIn(tip, h, nil); err != nil {
			return err
		}
	}
	for i := range all {
		c := &all[i]
		amended := w.opt.Amend && !c.openIn(left, false)
		if !amended && !slices.Contains(settled, c.ID) {
			continue
		}
		x, err := w.before.file(c.File)
		if err != nil {
			return err
		}
		if err := w.settleOne(c, x); err != nil {
			return fmt.Errorf("settle conflict %s: %w", c.ID, err)
		}
	}
	return nil
}

func (w *work) settleOne(c *Conflict, x *fused) error {
	if c.Kind == "text" || c.Kind != "name" && w.gone(x.id) {
		return nil // the text says it, or nothing is left to say
	}
	switch c.Kind {
	case "place":
		w.stay(x, x.was.place)
	case "mode":
		if f := w.opsOf(x); f.Writes&change.WritesMode == 0 {
			f.Writes, f.Exec = f.Writes&^change.Keep|change.WritesMode, x.was.entry.Exec
		}
	case "body":
		return w.settleBody(x)
	case "life":
		if f := w.opsOf(x); f.Writes == 0 && len(f.Hunks) == 0 {
			f.Writes = change.Keep
		}
	case "name":
		ids := []change.FileID{c.File}
		if d := disputeOf(w.before.disputes, c.File); d != nil {
			ids = append(ids, d.Meets...)
		}
		for _, id := range ids {
			y, err := w.before.file(id)
			if err != nil {
				return err
			}
			if q, ok := w.wanted(y); ok && !w.gone(id) {
				if _, err := w.place(y, q); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// settleBody has the record write the body that is shown, unless it writes another.
func (w *work) settleBody(x *fused) error {
	f := w.opsOf(x)
	if f.Writes&change.WritesBody != 0 {
		return nil
	}
	e := &x.was.entry
	f.Writes, f.Kind = f.Writes&^change.Keep|change.WritesBody, e.Kind
	if e.Kind == change.Text {
		return nil
	}
	f.Size, f.Content = e.Size, e.Hash
	if e.Size >= inlineBelow { // it is in the store by itself
		return nil
	}
	content, err := w.t.r.content(nil, e)
	for i := range w.recs {
		if old := w.recs[i].old; old != nil && old.File == x.id {
			w.recs[i].content = content
		}
	}
	for i := range w.extra {
		if w.extra[i].file.ID == x.id {
			w.extra[i].content = content
		}
	}
	return err
}

// recordOf finds what is recorded of a file of the state that the record stands on.
func (w *work) recordOf(id change.FileID) *recorded {
	for i := range w.recs {
		if old := w.recs[i].old; old != nil && old.File == id {
			return &w.recs[i]
		}
	}
	return nil
}

// gone tells whether the record removes a file.
func (w *work) gone(id change.FileID) bool {
	for i := range w.recs {
		if old := w.recs[i].old; old != nil && old.File == id {
			return w.recs[i].gone
		}
	}
	for i := range w.extra {
		if w.extra[i].file.ID == id {
			return w.extra[i].file.Writes&change.Gone != 0
		}
	}
	return false
}

// wanted is where the disk has a file after the record; false if it shall not be shown.
func (w *work) wanted(x *fused) (string, bool) {
	for i := range w.recs {
		rec := &w.recs[i]
		if rec.old != nil && rec.old.File == x.id || rec.old == nil && rec.file.ID == x.id {
			return rec.now.path, !rec.gone
		}
	}
	if w.gone(x.id) || !x.was.alive || x.was.hidden {
		return "", false
	}
	return x.was.shown, true
}

// complete names the values that each op replaces, and finds what the record depends on in the tree.
func (w *work) complete() (*needs, error) {
	w.dropEmptyExtras()
	n := &needs{f: w.before}
	one := func(f *change.File, text []uint32) error {
		x, err := w.before.file(f.ID)
		if err != nil {
			return err
		}
		over := f.Writes
		if over&change.Gone != 0 {
			over = change.WritesPlace | change.WritesMode | change.WritesBody
		}
		if f.Over, err = w.before.standing(x, over); err != nil {
			return err
		}
		n.deps = append(n.deps, text...)
		return n.act(x, f.Writes, len(f.Hunks) > 0, false)
	}
	for i := range w.recs {
		if rec := &w.recs[i]; rec.old != nil {
			if err := one(&rec.file, rec.text); err != nil {
				return nil, err
			}
		}
	}
	for i := range w.extra {
		if err := one(&w.extra[i].file, nil); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// tryOut has the record's change added to the tree that it stands on.
func (w *work) tryOut(self uint32, n *needs) (*fuse, error) {
	r := w.t.r
	b := &body{undoes: NoState, files: w.allFiles(), contents: w.allContents()}
	r.setFresh(self, b)
	h := w.t.r.newReach()
	h.inTheMaking(self, n.deps)
	after, err := r.newFuse(w.tree, h)
	if err != nil {
		return nil, err
	}
	after.upon = r.kept != nil
	if err := after.add(self); err != nil {
		return nil, err
	}
	return after, after.decide()
}

// allFiles lists what the record does, in the order of ordinals.
func (w *work) allFiles() []change.File {
	out := make([]change.File, 0, len(w.recs)+len(w.extra))
	for i := range w.recs {
		out = append(out, w.recs[i].file)
	}
	for i := range w.extra {
		out = append(out, w.extra[i].file)
	}
	return out
}

func (w *work) allContents() [][]byte {
	out := make([][]byte, 0, len(w.recs)+len(w.extra))
	for i := range w.recs {
		out = append(out, w.recs[i].content)
	}
	for i := range w.extra {
		out = append(out, w.extra[i].content)
	}
	return out
}

// correct adds what is missing: a place for each file that would not be shown where the disk has it, or that stands aside and
// would newly meet another; and whoever stays when a meeting of names ends is confirmed where it stays, so that another way
// of ending it conflicts with this one.
func (w *work) correct(after *fuse) (again bool, err error) {
	put := func(x *fused, path string) {
		if err == nil {
			var changed bool
			changed, err = w.place(x, path)
			again = again || changed
		}
	}
	old := func(id change.FileID) *fused {
		x, e := w.before.file(id)
		err = errors.Join(err, e)
		return x
	}
	for id, x := range after.files {
		was := old(id)
		if err != nil {
			return false, err
		}
		path, want := w.wanted(was)
		if !want {
			continue
		}
		others, newly := newMeetings(disputeOf(w.before.disputes, id), x)
		if was.was.known && (!x.exists || x.hidden || x.shown != path || newly && x.entry.Path != path) {
			put(was, path)
		}
		for _, m := range others {
			o := after.files[m]
			if path, want := w.wanted(old(m)); want && o != nil && o.entry.Path != path {
				put(old(m), path)
			}
		}
	}
	if again || err != nil {
		return again, err
	}
	for i := range w.before.disputes {
		more, err := w.confirm(&w.before.disputes[i], after)
		if err != nil {
			return false, err
		}
		again = again || more
	}
	return again, nil
}

// newMeetings lists the files that a file meets at its name and did not before, and tells whether there are any or a directory is.
func newMeetings(d *state.Dispute, x *fused) (others []change.FileID, newly bool) {
	if d == nil || d.Kinds&state.DisputedName == 0 {
		return x.meets, len(x.meets) > 0 || x.dir
	}
	for _, m := range x.meets {
		if !slices.Contains(d.Meets, m) {
			others = append(others, m)
		}
	}
	return others, len(others) > 0 || x.dir && !d.Dir
}

// confirm puts those who stay when a meeting of names ends where they stay.
func (w *work) confirm(d *state.Dispute, after *fuse) (again bool, err error) {
	x := after.files[d.File]
	if d.Kinds&state.DisputedName == 0 || x == nil {
		return false, nil
	}
	var stay []change.FileID
	meets := func(x *fused, id change.FileID) bool { return x != nil && x.exists && slices.Contains(x.meets, id) }
	for _, m := range d.Meets {
		if !meets(x, m) && !meets(after.files[m], d.File) {
			stay = append(stay, m)
		}
	}
	dir := d.Dir && !(x.exists && x.dir && x.entry.Path == d.Place)
	if len(stay) > 0 || dir {
		stay = append(stay, d.File)
	}
	if dir { // the directory that keeps its name: all that is in it
		err := w.tree.Walk(d.Place, func(e *state.Entry) error {
			if e.Path != d.Place {
				stay = append(stay, e.File)
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	for i := range w.before.disputes { // a hidden twin stays with the one shown
		t := &w.before.disputes[i]
		if t.Hidden == nil {
			continue
		}
		e, ok, err := w.tree.Get(t.Shown)
		if err != nil {
			return false, err
		}
		if ok && slices.Contains(stay, e.File) {
			stay = append(stay, t.File)
		}
	}
	for _, id := range stay {
		was, err := w.before.file(id)
		if err != nil {
			return false, err
		}
		path, exists := was.was.place, was.was.alive
		if x := after.files[id]; x != nil {
			path, exists = x.entry.Path, x.exists
		}
		if exists && w.stay(was, path) {
			again = true
		}
	}
	return again, nil
}

// dropEmptyExtras forgets files that were looked at and to which nothing is done.
func (w *work) dropEmptyExtras() {
	w.extra = slices.DeleteFunc(w.extra, func(e extra) bool { return e.file.Writes == 0 && len(e.file.Hunks) == 0 })
}

// claimed adds what the record depends on for the paths that files come to, of a tree without conflicts.
func (w *work) claimed(n *needs) ([]uint32, error) {
	for i := range w.recs {
		rec := &w.recs[i]
		if rec.gone || rec.old != nil && rec.old.Path == rec.now.path {
			continue
		}
		if err := n.took(rec.now.path); err != nil {
			return nil, err
		}
	}
	return n.deps, nil
}

// claimedBy is claimed, of what the record was found to do.
func (w *work) claimedBy(n *needs, after *fuse) ([]uint32, error) {
	for _, x := range after.files {
		if !x.exists || x.was.alive && x.was.place == x.entry.Path {
			continue
		}
		if err := n.claim(x, x.entry.Path); err != nil {
			return nil, err
		}
	}
	return n.deps, nil
}
