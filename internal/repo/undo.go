package repo

import (
	"context"
	"encoding/binary"

	"github.com/oxy-vcs/oxy/internal/store"
)

// standsAt tells which operation's view the view of op n is: its own, or of an undo the one brought back.
func standsAt(v *store.View, n uint32) uint32 {
	if b := v.Kept[keptUndo]; len(b) > 0 {
		if at, k := binary.Uvarint(b); k == len(b) && at < uint64(n) {
			return uint32(at)
		}
	}
	return n
}

// Undo takes back the last operation that was not undone yet, and says which. Files that it had changed in the working
// copy come back; unrecorded edits stay.
func (r *Repo) Undo(ctx context.Context) (*OpInfo, error) {
	return transact(r, func(t *tx) (*OpInfo, error) { return t.undo(ctx) })
}

func (t *tx) undo(ctx context.Context) (*OpInfo, error) {
	r := t.r
	last := r.store.NumOps() - 1
	now, err := r.store.OpView(last)
	if err != nil {
		return nil, storeError(err)
	}
	undone := standsAt(now, last)
	if undone == 0 {
		return nil, &Error{Text: "there is nothing left to undo", Next: "See what was done with: oxy op log", No: true}
	}
	what, err := r.store.OpView(undone)
	if err != nil {
		return nil, storeError(err)
	}
	before, err := r.store.OpView(undone - 1)
	if err != nil {
		return nil, storeError(err)
	}
	from, err := r.stateRef(baseOf(now))
	if err != nil {
		return nil, err
	}
	to, err := r.stateRef(baseOf(before))
	if err != nil {
		return nil, err
	}
	kind := string(what.Kept[keptKind])
	if kind == "checkout" {
		if _, err := t.switchTo(ctx, to); err != nil {
			return nil, err
		}
	}
	list, err := r.asideOf(what.Kept[keptDiscarded])
	if err != nil {
		return nil, err
	}
	kept := t.view.Kept
	t.view = before.Clone()
	t.view.Kept = kept
	t.view.Kept[keptUndo] = binary.AppendUvarint(nil, uint64(standsAt(before, undone-1)))
	if len(list) > 0 {
		m, err := r.loadManifest(from)
		if err != nil {
			return nil, err
		}
		if err := t.bringBack(ctx, m, list); err != nil {
			return nil, err
		}
	}
	if err := t.commit("undo"); err != nil {
		return nil, err
	}
	if _, err := r.loadManifest(to); err == nil { // what was recorded stays in the files, unrecorded
		r.saveManifest()
	}
	return r.opInfo(undone)
}
