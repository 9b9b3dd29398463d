package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/store"
)

// Restore makes the bookmarks, the tags and the place of the working copy those after operation n, and the working files
// those recorded there. Unrecorded edits stay where the files do not differ, and are never overwritten.
func (r *Repo) Restore(ctx context.Context, n uint32) (*CheckoutResult, error) {
	return transact(r, func(t *tx) (*CheckoutResult, error) { return t.restore(ctx, n) })
}

func (t *tx) restore(ctx context.Context, n uint32) (*CheckoutResult, error) {
	r := t.r
	if err := r.checkOp(n); err != nil {
		return nil, err
	}
	then, err := r.store.OpView(n)
	if err != nil {
		return nil, storeError(err)
	}
	if sameView(then, t.view) {
		return nil, &Error{Text: fmt.Sprintf("everything is as it was after operation %d", n), No: true}
	}
	to, err := r.stateRef(baseOf(then))
	if err != nil {
		return nil, err
	}
	res, err := t.switchTo(ctx, to)
	if err != nil {
		return nil, err
	}
	if err := t.bring(ctx, then, false); err != nil {
		return nil, err
	}
	res.Bookmark = t.view.Current
	if err := t.commit("restore"); err != nil {
		return nil, err
	}
	r.saveManifest()
	return res, nil
}

// sameView tells whether two views say the same, but for what they keep for oxy itself.
func sameView(a, b *store.View) bool {
	return a.Base == b.Base && a.Current == b.Current && maps.Equal(a.Bookmarks, b.Bookmarks) && maps.Equal(a.Tags, b.Tags) &&
		slices.Equal(a.Checkpoints, b.Checkpoints)
}
