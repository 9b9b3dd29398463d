package repo

import (
	"context"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// MoveResult says what a merge, a pick, an unrecord or a rollback did to the state that the working copy stands on.
type MoveResult struct {
	From, State StateRef
	Bookmark    string   // the current one, or ""
	Came, Went  []uint32 // changes that came into the state and that left it, in the order of the log
	// Files that differ between the two states, and lines of text, counted only for a dry run and a pick.
	Files, Added, Deleted int
	Counted               bool
	Written, Removed      int         // working files
	Conflicts             []Conflict  // open now and not before
	Solved                int         // conflicts that were open before and are not now
	Strays                []Stray     // of a merge: files that others added beneath a directory that was moved
	Made                  *ChangeInfo // the change that a rollback, or a merge that follows, recorded; the store has it only once it stands
	Followed              uint32      // of a merge that moved the strays too: the change that says so, or NoState
	// Of a merge: changes that are here now together with what stands in their stead, where one of the two came; and what
	// depends on the old ones and has no others in its stead.
	Replaced []Rewritten
	Needed   []uint32
}

// moveTo makes a state the base of the working copy and the current bookmark's, and writes the files that differ.
func (t *tx) moveTo(ctx context.Context, res *MoveResult, next StateRef, kind string) error {
	base := res.From
	res.State, res.Bookmark = next, t.view.Current
	conflicts, err := t.r.newConflicts(base, next)
	if err != nil {
		return err
	}
	res.Conflicts, res.Solved = conflicts.came, conflicts.went
	done, err := t.switchTo(ctx, next)
	if err != nil {
		return err
	}
	res.Written, res.Removed = done.Written, done.Removed
	t.pointAt(next)
	if err := t.commit(kind); err != nil {
		return err
	}
	t.r.saveManifest()
	return nil
}

// preview finds what moving to a state would do, without doing it.
func (t *tx) preview(ctx context.Context, res *MoveResult, next StateRef) error {
	res.State, res.Bookmark = next, t.view.Current
	conflicts, err := t.r.newConflicts(res.From, next)
	if err != nil {
		return err
	}
	res.Conflicts, res.Solved = conflicts.came, conflicts.went
	return t.r.countLines(ctx, res)
}

// countLines counts the files that differ between two states, and the lines of text.
func (r *Repo) countLines(ctx context.Context, res *MoveResult) error {
	set, err := r.DiffStates(res.From, res.State, nil)
	if err != nil {
		return err
	}
	res.Counted = true
	res.Files = len(set.Files)
	for i := range set.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		added, deleted, err := r.linesOf(set, i)
		if err != nil {
			return err
		}
		res.Added += added
		res.Deleted += deleted
	}
	return nil
}

// linesOf counts the lines of text by which file i of a set differs.
func (r *Repo) linesOf(set *DiffSet, i int) (added, deleted int, err error) {
	f := &set.Files[i]
	text := func(s *Side) bool { return s == nil || s.Kind == change.Text }
	if !text(f.Old) || !text(f.New) {
		return 0, 0, nil
	}
	old, err := set.Old(nil, i)
	if err != nil {
		return 0, 0, err
	}
	now, err := set.New(nil, i)
	if err != nil {
		return 0, 0, err
	}
	var d diff.Differ
	for _, e := range d.Lines(old, now, diff.Options{}) {
		added += e.B1 - e.B0
		deleted += e.A1 - e.A0
	}
	return added, deleted, nil
}

// stayAt moves the view to a state and leaves the working files as they are.
func (t *tx) stayAt(next StateRef, kind string) error {
	t.pointAt(next)
	if err := t.commit(kind); err != nil {
		return err
	}
	t.arrive()
	return nil
}

// pointAt makes a state the view's base and the current bookmark's.
func (t *tx) pointAt(next StateRef) {
	b := t.view.Current
	if next.Num == NoState {
		t.view.Base = -1
		delete(t.view.Bookmarks, b)
		return
	}
	t.view.Base = int64(next.Num)
	if b != "" {
		t.view.Bookmarks[b] = next.Num
	}
}

// logBack gives the log of a state, latest first, down to where the last of some changes came in, and the state before that.
type logBack struct {
	nums   []uint32
	before uint32 // the state of all that comes before them, or NoState
}

func (r *Repo) logDownTo(s uint32, changes []uint32) (out logBack, missing []uint32, err error) {
	left := leftOut{}.with(changes)
	out.before = NoState
	err = r.eachStep(s, func(step *logStep) (bool, error) {
		if len(left) == 0 && step.whole {
			out.before = step.at
			return false, nil
		}
		for _, n := range slices.Backward(step.changes) {
			out.nums = append(out.nums, n)
			delete(left, n)
		}
		return true, nil
	})
	return out, left.sorted(), err
}

// stateWithout makes the state of a log without some of its changes, on which none of the others depends. They ascend. What it
// costs is in proportion to them, however far back they stand: the state leaves them out of the log that there is.
func (t *tx) stateWithout(from StateRef, gone []uint32) (StateRef, error) {
	r := t.r
	left := leftOut{}.with(gone)
	at, st := uint32(NoState), store.State{Parent: -1}
	err := r.eachStep(from.Num, func(step *logStep) (bool, error) {
		if step.whole && len(left) == 0 {
			at = step.at
			return false, nil
		}
		if !slices.ContainsFunc(step.changes, func(n uint32) bool { return !left.has(n) }) {
			for _, n := range step.changes { // they stand at the end: what comes before does not have them
				delete(left, n)
			}
			return true, nil
		}
		below, err := r.state(step.at)
		if err != nil {
			return false, storeError(err)
		}
		st.Parent = int64(step.at)
		st.Without = slices.Concat(step.under.beyond(below.Without), step.passed, left.sorted())
		slices.Sort(st.Without)
		return false, nil
	})
	if err != nil {
		return StateRef{}, err
	}
	if st.Parent < 0 {
		return r.stateRef(at)
	}
	set, err := state.ParseSetHash(from.ID)
	if err != nil {
		return StateRef{}, err
	}
	for _, n := range gone {
		set.Remove(t.idOf(n))
	}
	st.ID, st.Pos = set.Bytes(), from.Len-uint64(len(gone))
	next := StateRef{ID: st.ID, Len: st.Pos}
	next.Num, err = t.putState(st)
	return next, err
}

// treeWithout makes the tree of a state without some changes, on which no others of it depend.
func (t *tx) treeWithout(next, from StateRef, gone []uint32) error {
	if next.Num == NoState || t.r.hasTree(next.Num) {
		return nil
	}
	tree, err := t.r.tree(from.Num)
	if err != nil {
		return err
	}
	f, err := t.r.newFuse(tree, t.r.newReach())
	if err != nil {
		return err
	}
	if err := f.remove(gone); err != nil {
		return err
	}
	return t.keepTree(next, f)
}

// hasTree tells whether a state's tree is stored.
func (r *Repo) hasTree(s uint32) bool {
	b, err := r.openBlocks()
	if err != nil {
		return false
	}
	_, ok, err := b.Root(s)
	return ok && err == nil
}

// treeWith makes the tree of a state with changes beside it, whose pasts it has.
func (t *tx) treeWith(next, from StateRef, more []uint32) error {
	tree, err := t.r.tree(from.Num)
	if err != nil {
		return err
	}
	return t.growTree(next, tree, more)
}

func (t *tx) growTree(next StateRef, tree state.Tree, more []uint32) error {
	f, err := t.r.newFuse(tree, t.r.newReach())
	if err != nil {
		return err
	}
	f.upon = t.r.kept != nil
	if err := f.addAll(more); err != nil {
		return err
	}
	return t.keepTree(next, f)
}
