package repo

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// GCResult tells what a repository took on the disk before it was packed and takes now, in bytes.
type GCResult struct {
	Before, After int64
}

// GC packs the repository: nothing of it is lost, it only takes less room. Commands that read meanwhile are not
// disturbed, those that write wait.
func (r *Repo) GC(ctx context.Context) (*GCResult, error) {
	before, err := r.diskUse()
	if err != nil {
		return nil, fileError("look at the repository", err)
	}
	done := r.opt.Timings.Phase("pack")
	shown := int64(-1)
	_, err = r.store.Repack(ctx, store.RepackOptions{
		Wait: waitForLock,
		Progress: func(n, total int64) {
			if shown < 0 {
				r.opt.Progress.Begin("Packing", total, false)
				shown = 0
			}
			r.opt.Progress.Add(n - shown)
			shown = n
		},
		Publish: r.packTrees,
	})
	if shown >= 0 {
		r.opt.Progress.End()
	}
	done(0)
	switch {
	case errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrDamaged):
		return nil, storeError(err)
	case err != nil:
		return nil, fileError("pack the repository", err)
	}
	if h, err := state.DecodeHint(r.store.Hint()); err == nil {
		r.dropGenerations(h.Generation)
	}
	after, err := r.diskUse()
	if err != nil {
		return nil, fileError("look at the repository", err)
	}
	return &GCResult{Before: before, After: after}, nil
}

// packTrees writes the trees anew without what is out of use. They are derived: whatever fails, they stay as they are.
func (r *Repo) packTrees() ([]byte, error) {
	old := r.store.Hint()
	if r.blocks != nil { // perhaps of an earlier hint
		_ = r.blocks.Close()
		r.blocks = nil
	}
	b, err := r.openBlocks()
	if err != nil || r.stale {
		return old, nil
	}
	if h, err := state.DecodeHint(old); err != nil || h.Size <= h.Live+h.Live/packSlack {
		return old, nil
	}
	size := b.Size()
	v, err := r.store.View()
	if err != nil {
		return old, nil
	}
	next, err := r.compact(v)
	if err != nil {
		return old, nil
	}
	r.blocks = next
	h, err := next.Flush()
	if err == nil && h.Size < size {
		return h.Encode(), nil
	}
	_ = next.Close()
	r.blocks = nil
	_ = state.RemoveGeneration(r.fs, filepath.Join(r.dir, "trees"), next.Generation())
	return old, nil
}

// packSlack is what share of the trees' file out of use is let alone.
const packSlack = 16

// diskUse sums the lengths of the repository's files.
func (r *Repo) diskUse() (sum int64, err error) {
	err = r.eachFile(r.dir, func(_ string, size int64) { sum += size })
	return sum, err
}
