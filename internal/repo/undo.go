package repo

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// standsAt tells which operation's view the view of op n is: its own, or of an undo or a redo the one brought back.
func standsAt(v *store.View, n uint32) uint32 {
	if at, ok := keptOp(v, keptUndo, n); ok {
		return at
	}
	return n
}

// keptOp reads the number of an operation that the view of op n keeps. It is one before.
func keptOp(v *store.View, key string, n uint32) (uint32, bool) {
	b := v.Kept[key]
	at, k := binary.Uvarint(b)
	return uint32(at), len(b) > 0 && k == len(b) && at < uint64(n)
}

func (t *tx) keepOp(key string, n uint32) {
	t.view.Kept[key] = binary.AppendUvarint(nil, uint64(n))
}

// switchesFiles tells whether an operation of a kind wrote the working files of the state that it went to.
func switchesFiles(kind string) bool {
	switch kind {
	case "checkout", "restore", "merge", "pull", "pick", "unrecord", "rollback", "reword", "squash", "split":
		return true
	}
	return false
}

// bring makes what a view says true, but for what it keeps for oxy itself. With files the working files go along.
func (t *tx) bring(ctx context.Context, v *store.View, files bool) error {
	if files {
		to, err := t.r.stateRef(baseOf(v))
		if err != nil {
			return err
		}
		if _, err := t.switchTo(ctx, to); err != nil {
			return err
		}
	}
	kept := t.view.Kept
	t.view = v.Clone()
	if delete(kept, keptSettled); len(v.Kept[keptSettled]) > 0 {
		kept[keptSettled] = v.Kept[keptSettled]
	}
	t.view.Kept = kept
	return nil
}

// bringSignatures takes from the signatures and the checkpoints what one view has beyond another, and adds what it lacks of that, for undo and
// redo. What others sent since stays, as with a restore of an old view.
func (t *tx) bringSignatures(now, from, to *store.View) error {
	t.view.Checkpoints = slices.DeleteFunc(slices.Clone(now.Checkpoints), func(n uint32) bool {
		return slices.Contains(from.Checkpoints, n) && !slices.Contains(to.Checkpoints, n)
	})
	for _, n := range to.Checkpoints {
		if !slices.Contains(from.Checkpoints, n) && !slices.Contains(t.view.Checkpoints, n) {
			t.view.Checkpoints = append(t.view.Checkpoints, n)
		}
	}
	slices.Sort(t.view.Checkpoints)
	is, was, other := now.Kept[keptSigned], from.Kept[keptSigned], to.Kept[keptSigned]
	switch {
	case bytes.Equal(was, other):
		return nil
	case bytes.Equal(is, was):
		if delete(t.view.Kept, keptSigned); len(other) > 0 {
			t.view.Kept[keptSigned] = other
		}
		return nil
	}
	less, err := t.r.signedIn(&store.View{Kept: map[string][]byte{keptSigned: was}}, everything)
	if err != nil {
		return err
	}
	all, err := t.r.signedIn(&store.View{Kept: map[string][]byte{keptSigned: is}}, everything)
	if err != nil {
		return err
	}
	more, err := t.r.signedIn(&store.View{Kept: map[string][]byte{keptSigned: other}}, everything)
	if err != nil {
		return err
	}
	result := map[change.ID][]sign.Entry{}
	for id, i := range all.at {
		_, gone := less.at[id]
		if _, stays := more.at[id]; !gone || stays {
			result[all.list[i].Change] = append(result[all.list[i].Change], all.list[i].Entry)
		}
	}
	for id, i := range more.at {
		_, had := less.at[id]
		if _, is := all.at[id]; !had && !is {
			result[more.list[i].Change] = append(result[more.list[i].Change], more.list[i].Entry)
		}
	}
	delete(t.view.Kept, keptSigned)
	if len(result) == 0 {
		return nil
	}
	return t.addSignatures(result)
}

// arrive brings the manifest to where the view is now. Files that did not go along, as those of a commit that is undone, are
// unrecorded edits then.
func (t *tx) arrive() {
	to, err := t.r.stateRef(baseOf(t.view))
	if err != nil {
		return // it is derived: the next command brings it there
	}
	if _, err := t.r.loadManifest(to); err == nil {
		t.r.saveManifest()
	}
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
	if first, _ := foreign(now); undone <= first {
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
	list, err := r.asideOf(what.Kept[keptDiscarded])
	if err != nil {
		return nil, err
	}
	if err := r.refuseOutsideOf(from, list, keptMovesOf(what.Kept[keptMoves])); err != nil {
		return nil, err
	}
	if err := t.moveBack(keptMovesOf(what.Kept[keptMoves])); err != nil {
		return nil, err
	}
	if err := t.bring(ctx, before, switchesFiles(string(what.Kept[keptKind]))); err != nil {
		return nil, err
	}
	if err := t.bringSignatures(now, what, before); err != nil {
		return nil, err
	}
	t.keepOp(keptUndo, standsAt(before, undone-1))
	t.keepOp(keptRedo, last)
	var over *plan
	var kept map[string]vfs.Stat
	if len(list) > 0 {
		m, err := r.loadManifest(from)
		if err != nil {
			return nil, err
		}
		if kept, err = t.keepInPlaceOf(list); err != nil {
			return nil, err
		}
		if over, err = t.bringBack(ctx, m, list); err != nil {
			return nil, err
		}
	}
	if err := t.commit("undo"); err != nil {
		return nil, err
	}
	t.arrive()
	if err := t.writeLate(ctx, over, kept); err != nil {
		return nil, err
	}
	return r.opInfo(undone)
}

// writeLate writes over files that the operation, which stands now, keeps as they were with these stats.
func (t *tx) writeLate(ctx context.Context, p *plan, kept map[string]vfs.Stat) error {
	if p == nil || len(p.plan) == 0 {
		return nil
	}
	base, err := t.r.stateRef(baseOf(t.view))
	if err != nil {
		return err
	}
	m, err := t.r.loadManifest(base)
	if err != nil {
		return err
	}
	return t.writeAside(ctx, m, p, kept)
}
