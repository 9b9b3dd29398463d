package repo

import (
	"context"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// Redo takes back the last undo that was not redone yet, and says which operation it did again. Anything else done since
// the undo ends that.
func (r *Repo) Redo(ctx context.Context) (*OpInfo, error) {
	return transact(r, func(t *tx) (*OpInfo, error) { return t.redo(ctx) })
}

// redo brings back the view that the last undo left. An undo keeps the number of the operation before it; a redo goes
// there, and keeps what that operation kept: so one undo after the other is taken back, latest first.
func (t *tx) redo(ctx context.Context) (*OpInfo, error) {
	r := t.r
	last := r.store.NumOps() - 1
	now, err := r.store.OpView(last)
	if err != nil {
		return nil, storeError(err)
	}
	left, ok := keptOp(now, keptRedo, last)
	if !ok {
		return nil, &Error{Text: "there is nothing to redo", Next: "Redo takes back undos, until something else is done. See what was done with: oxy op log", No: true}
	}
	then, err := r.store.OpView(left)
	if err != nil {
		return nil, storeError(err)
	}
	again := standsAt(then, left)
	what, err := r.store.OpView(again)
	if err != nil {
		return nil, storeError(err)
	}
	took, err := r.takenAgain(what.Kept[keptDiscarded], left)
	if err != nil {
		return nil, err
	}
	base, err := r.stateRef(baseOf(now))
	if err != nil {
		return nil, err
	}
	if err := r.refuseOutsideOf(base, took.list, keptMovesOf(what.Kept[keptMoves])); err != nil {
		return nil, err
	}
	var p *plan
	var kept map[string]vfs.Stat
	if len(took.list) > 0 {
		if p, kept, err = t.planTaking(took); err != nil {
			return nil, err
		}
		t.view.Kept[keptDiscarded] = what.Kept[keptDiscarded]
	}
	if err := t.bring(ctx, then, switchesFiles(string(what.Kept[keptKind]))); err != nil {
		return nil, err
	}
	undo, err := r.store.OpView(left + 1)
	if err != nil {
		return nil, storeError(err)
	}
	if err := t.bringSignatures(now, undo, then); err != nil {
		return nil, err
	}
	t.keepOp(keptUndo, again)
	if next, ok := keptOp(then, keptRedo, left); ok {
		t.keepOp(keptRedo, next)
	}
	if err := t.commit("redo"); err != nil {
		return nil, err
	}
	t.arrive()
	if err := t.writeLate(ctx, p, kept); err != nil {
		return nil, err
	}
	if err := t.moveAll(keptMovesOf(what.Kept[keptMoves])); err != nil {
		return nil, err
	}
	return r.opInfo(again)
}

// taking is what a discard took, and what stood in its place before the undo brought it back.
type taking struct {
	list    []aside
	instead map[string]aside
}

// takenAgain reads what a discard took and its undo put there. left is the operation before the undo.
func (r *Repo) takenAgain(kept []byte, left uint32) (t taking, err error) {
	if t.list, err = r.asideOf(kept); err != nil || len(t.list) == 0 {
		return t, err
	}
	undo, err := r.store.OpView(left + 1)
	if err != nil {
		return t, storeError(err)
	}
	list, err := r.asideOf(undo.Kept[keptDiscarded])
	if err != nil {
		return t, err
	}
	t.instead = make(map[string]aside, len(list))
	for _, a := range list {
		t.instead[string(a.Path)] = a
	}
	return t, nil
}

// planTaking plans to put back what stood there before, unless somebody edited the files meanwhile. It gives the stats of
// what goes.
func (t *tx) planTaking(took taking) (*plan, map[string]vfs.Stat, error) {
	r := t.r
	now, stats, err := t.readAll(took.list)
	if err != nil {
		return nil, nil, err
	}
	p := &plan{r: r, entries: map[string]state.Entry{}}
	var edited []string
	for _, a := range took.list {
		path := string(a.Path)
		is, there := now[path]
		to, write := took.instead[path]
		switch {
		case there == write && (!there || is.same(&to)): // as it shall be
		case !there || !is.same(&a):
			edited = append(edited, path)
		case !write:
			p.plan = append(p.plan, worktree.Action{Path: path, Op: worktree.Remove})
		default:
			e := to.entry()
			if err := p.write(&e); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(edited) > 0 {
		return nil, nil, &Error{Text: "this would overwrite what is not recorded: " + quoteSome(edited), Next: "Record it with oxy commit, or drop it with oxy discard."}
	}
	return p, stats, nil
}
