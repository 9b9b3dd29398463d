package repo

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// work is a record in the making: which files differ from the state that the change will stand on, and what the change
// says of each.
type work struct {
	ctx     context.Context
	t       *tx
	opt     *CommitOptions
	pending *pending
	base    StateRef // the working copy's
	on      StateRef // what the change stands on: base, or when amending the state before it
	tree    state.Tree
	sink    *sink
	clock   int64 // the file system's time before anything was read

	replaces change.ID
	amended  *ChangeInfo
	moves    []move // known moves, beside those found by content

	removed []state.Entry
	added   []string
	edited  []edited
	chosen  map[string][]byte // with hunks chosen: what each file shall hold

	recs     []recorded
	keep     bool                 // contents stay in memory: the change is read again before it stands
	general  bool                 // the tree that it stands on has files that are not plain
	extra    []extra              // beyond what the disk shows
	settling func(h *reach) error // of an import: settles what a merge brought
	before   *fuse                // of the state that the change stands on, when it was needed
	after    *fuse                // then: with the change, which had no id yet
	fresh    freshManifest
	warnings []string
	skipped  []string
}

// edited is a file that stays, perhaps elsewhere, and may differ.
type edited struct {
	old  state.Entry
	path string
}

// standBefore makes the change stand where the last one stands, which it replaces.
func (w *work) standBefore() error {
	r := w.t.r
	if w.base.Num == NoState {
		return &Error{Text: "there is no change to amend yet", Next: "Record one with: oxy commit -m MESSAGE", No: true}
	}
	n, pos, _, err := r.lastChange(w.base.Num)
	if err != nil {
		return err
	}
	before, err := r.atPosition(w.base.Num, pos)
	if err == nil {
		before, err = w.t.real(before)
	}
	if err != nil {
		return err
	}
	if w.on, err = r.stateRef(before); err != nil {
		return err
	}
	if w.amended, err = r.Info(n); err != nil {
		return err
	}
	w.replaces = w.amended.ID
	b, err := r.bodyOf(n)
	if err != nil {
		return storeError(err)
	}
	tree, err := r.tree(w.on.Num)
	if err != nil {
		return err
	}
	for i := range b.files {
		if f := &b.files[i]; f.ID.Change != n && f.Writes&change.WritesPlace != 0 {
			if from, ok, err := tree.ByFile(f.ID); err != nil {
				return err
			} else if ok && from.Shown() && from.Path != f.Path { // else it stays: a name was decided
				w.moves = append(w.moves, move{from.Path, f.Path})
			}
		}
	}
	return nil
}

// find lists what differs, reads it, and records each file.
func (w *work) find() (err error) {
	r := w.t.r
	if w.tree, err = r.tree(w.on.Num); err != nil {
		return err
	}
	if len(w.opt.pins) > 0 {
		return w.findPins()
	}
	if err := r.checkNamed(w.base, w.opt.Paths); err != nil {
		return err
	}
	res, err := r.scan(w.ctx, w.base, worktree.Options{Paths: nonRoot(w.opt.Paths)})
	if err != nil {
		return err
	}
	if err := problems("record all", res.Errors); err != nil {
		return err
	}
	w.skipped = slices.Concat(res.Nested, res.Special)
	diffs, err := r.differences(w.base, res, w.pending)
	if err != nil {
		return err
	}
	if len(w.opt.Hunks) > 0 {
		if diffs, res.Untracked, err = w.choose(diffs, res.Untracked); err != nil {
			return err
		}
	}
	if err := w.classify(diffs, res.Untracked); err != nil {
		return err
	}
	if err := checkPaths(w.added); err != nil {
		return err
	}
	w.clock = r.manifest.Clock()
	done := r.opt.Timings.Phase("read and compare")
	defer done(0)
	if err := w.read(); err != nil {
		return err
	}
	if len(w.opt.Paths)+len(w.opt.Hunks) > 0 {
		return w.checkFits()
	}
	return nil
}

// classify sorts all paths that may differ into removed, added and edited, by what the tree has there and the disk.
func (w *work) classify(diffs []difference, untracked []string) error {
	if w.on.Num == NoState && w.on == w.base && len(diffs) == 0 {
		w.added = untracked
		return nil
	}
	there := map[string]bool{} // whether the disk has a path
	for i := range diffs {
		d := &diffs[i]
		if d.What == Moved {
			w.moves = append(w.moves, move{d.Old.Path, d.New.Path})
			there[d.New.Path] = true
			continue
		}
		there[d.Old.Path] = d.New != nil
	}
	for _, p := range untracked {
		there[p] = true
	}
	for _, m := range w.moves {
		if _, known := there[m.From]; !known {
			there[m.From] = false
		}
	}
	if w.on != w.base {
		tip, err := w.t.r.tree(w.base.Num)
		if err != nil {
			return err
		}
		cone, err := w.t.r.workingCone()
		if err != nil {
			return err
		}
		err = state.Diff(w.tree, tip, func(old, new *state.Entry) error {
			path := pathOf(old, new)
			if old != nil && !inCone(cone, old) || new != nil && !inCone(cone, new) {
				return outsideError("the change that is amended has "+safepath.Quote(path)+", which", path)
			}
			if _, known := there[path]; !known {
				there[path] = new != nil
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := w.followMoves(there); err != nil {
		return err
	}
	for path, on := range there {
		old, ok, err := w.tree.Get(path)
		switch {
		case err != nil:
			return err
		case ok && on:
			w.edited = append(w.edited, edited{old, path})
		case ok:
			w.removed = append(w.removed, old)
		case on:
			w.added = append(w.added, path)
		}
	}
	slices.SortFunc(w.removed, func(a, b state.Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(w.edited, func(a, b edited) int { return strings.Compare(a.path, b.path) })
	slices.Sort(w.added)
	return nil
}

// followMoves takes the known moves out of what is there: the files are edited, at their new paths. In a ring a path is
// both one file's old place and another's new one.
func (w *work) followMoves(there map[string]bool) error {
	to := map[string]bool{}
	for _, m := range w.moves {
		to[m.To] = true
	}
	left, taken := map[string]bool{}, map[string]bool{}
	for _, m := range w.moves {
		old, ok, err := w.tree.Get(m.From)
		if err != nil {
			return err
		}
		if ok && there[m.To] && (!there[m.From] || to[m.From]) && !left[m.From] && !taken[m.To] {
			left[m.From], taken[m.To] = true, true
			w.edited = append(w.edited, edited{old, m.To})
		}
	}
	for p := range left {
		delete(there, p)
	}
	for p := range taken {
		delete(there, p)
	}
	return nil
}

func pathOf(old, new *state.Entry) string {
	if new != nil {
		return new.Path
	}
	return old.Path
}

// checkFits refuses a part of the differences that would leave a file where the rest has a directory.
func (w *work) checkFits() error {
	gone := map[string]bool{}
	for i := range w.recs {
		if rec := &w.recs[i]; rec.old != nil && (rec.gone || rec.old.Path != rec.now.path) {
			gone[rec.old.Path] = true
		}
	}
	for i := range w.recs {
		rec := &w.recs[i]
		if rec.gone || rec.old != nil && rec.old.Path == rec.now.path {
			continue
		}
		for d := filepath.ToSlash(filepath.Dir(rec.now.path)); d != "."; d = filepath.ToSlash(filepath.Dir(d)) {
			if _, ok, err := w.tree.Get(d); err != nil {
				return err
			} else if ok && !gone[d] {
				return fitError(rec.now.path, d)
			}
		}
		var in string
		err := w.tree.Walk(rec.now.path, func(e *state.Entry) error {
			if e.Path != rec.now.path && !gone[e.Path] {
				in = e.Path
				return fmt.Errorf("found")
			}
			return nil
		})
		if in != "" {
			return fitError(rec.now.path, in)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func fitError(path, other string) error {
	return &Error{Text: fmt.Sprintf("cannot record %s without the removal of %s", safepath.Quote(path), safepath.Quote(other)),
		Next: "Name both, or record everything: oxy commit"}
}
