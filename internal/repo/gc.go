package repo

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// GCResult tells what a repository took on the disk before it was packed and takes now, in bytes, and what was dropped of it.
type GCResult struct {
	Before, After int64
	Dropped       Dropped
	// Why, if not empty, is why nothing was dropped: something is kept that names states by numbers in a way unknown to GC, as
	// what an export to Git has.
	Why string
}

// GC packs the repository, and drops what nothing that it keeps leads to. Commands that read meanwhile are not disturbed, those
// that write wait.
func (r *Repo) GC(ctx context.Context, o GCOptions) (*GCResult, error) {
	wait, waited := r.waits()
	defer waited()
	return r.gc(ctx, o, wait)
}

func (r *Repo) gc(ctx context.Context, o GCOptions, wait func(tries int) bool) (*GCResult, error) {
	before, err := r.diskUse()
	if err != nil {
		return nil, fileError("look at the repository", err)
	}
	res := &GCResult{Before: before, After: before}
	keep := func() (*store.Keep, error) {
		first, err := r.firstKeptOp(&o)
		if err != nil || first == 0 { // whatever there is came with an operation that stays
			return nil, err
		}
		k, d, err := r.unreachable(ctx, first)
		if errors.Is(err, errUnknownKept) {
			res.Why = err.Error()
			return nil, nil
		}
		res.Dropped = d
		return k, err
	}
	if o.DryRun {
		_, err := keep()
		return res, err
	}
	done := r.opt.Timings.Phase("pack")
	shown := int64(-1)
	packed, err := r.store.Repack(ctx, store.RepackOptions{
		Wait:  wait,
		Order: r.contentOrder,
		Anew:  o.Anew,
		Keep:  keep,
		Progress: func(n, total int64) {
			if shown < 0 {
				r.opt.Progress.Begin("Packing", total, false)
				shown = 0
			}
			r.opt.Progress.Add(n - shown)
			shown = n
		},
		Publish: func() ([]byte, error) { return r.packTrees(ctx) },
	})
	if shown >= 0 {
		r.opt.Progress.End()
	}
	done(0)
	switch {
	case errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrRenumbered):
		return nil, storeError(err)
	case err != nil:
		return nil, fileError("pack the repository", err)
	}
	if packed.Dropped {
		if err := r.afterDropping(ctx); err != nil {
			return nil, err
		}
	}
	if h, err := state.DecodeHint(r.store.Hint()); err == nil {
		r.dropGenerations(h.Generation)
	}
	if res.After, err = r.diskUse(); err != nil {
		return nil, fileError("look at the repository", err)
	}
	return res, nil
}

// packTrees writes the trees anew without what is out of use. They are derived: whatever fails, they stay as they are.
func (r *Repo) packTrees(ctx context.Context) ([]byte, error) {
	old := r.store.Hint()
	if r.blocks != nil { // perhaps of an earlier hint
		_ = r.blocks.Close()
		r.blocks = nil
	}
	b, err := r.openBlocks()
	if err != nil || r.stale {
		return old, nil
	}
	size := b.Size()
	v, err := r.store.View()
	if err != nil {
		return old, nil
	}
	next, err := r.compact(func(p *state.WeavePacker, heads []state.Ref) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return r.packWeaves(p, heads)
	}, v)
	if err != nil {
		return old, nil
	}
	r.blocks = next
	h, err := next.Flush()
	if err == nil && h.Size < size-size/packSlack {
		return h.Encode(), nil
	}
	_ = next.Close()
	r.blocks = nil
	_ = state.RemoveGeneration(r.fs, filepath.Join(r.dir, "trees"), next.Generation())
	return old, nil
}

// packSlack is what share of the trees' file must be gained.
const packSlack = 16

// diskUse sums the lengths of the repository's files.
func (r *Repo) diskUse() (sum int64, err error) {
	err = r.eachFile(r.dir, func(_ string, size int64) { sum += size })
	return sum, err
}
