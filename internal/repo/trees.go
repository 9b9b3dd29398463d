package repo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
)

// open gives the stored trees. Whatever is wrong with their file, it is derived: it is begun anew.
func (r *Repo) openBlocks() (*state.Blocks, error) {
	if r.blocks != nil {
		return r.blocks, nil
	}
	hint := r.store.Hint()
	if b := r.blocksOf(hint); b != nil {
		r.blocks = b
		return b, nil
	}
	// Whoever packed since the store was opened removed the file; what was packed has another.
	if err := r.store.Refresh(); err != nil {
		return nil, storeError(err)
	}
	if now := r.store.Hint(); !bytes.Equal(now, hint) {
		if b := r.blocksOf(now); b != nil {
			r.blocks = b
			return b, nil
		}
	}
	return r.freshBlocks()
}

// blocksOf opens the trees that a hint names, or returns nil.
func (r *Repo) blocksOf(hint []byte) *state.Blocks {
	h, err := state.DecodeHint(hint)
	if err != nil {
		return nil
	}
	b, err := state.OpenBlocks(r.fs, r.treesDir(), h)
	if err != nil {
		return nil
	}
	return b
}

// freshBlocks begins a new generation without anything in it.
func (r *Repo) freshBlocks() (*state.Blocks, error) {
	dir := r.treesDir()
	gens, err := state.Generations(r.fs, dir)
	if err != nil {
		return nil, err
	}
	next := uint64(1)
	if len(gens) > 0 {
		next = slices.Max(gens) + 1
	}
	b, err := state.OpenBlocks(r.fs, dir, state.Hint{Generation: next})
	if err != nil {
		return nil, fmt.Errorf("begin trees: %w", err)
	}
	if r.blocks != nil {
		_ = r.blocks.Close() // it was read only, and nothing of it is used any more
	}
	r.blocks, r.stale = b, true
	return b, nil
}

// tree gives a state's tree. One that is not stored is made from the nearest stored one and the changes since; damage
// to what is stored leads to making it from the changes alone.
func (r *Repo) tree(s uint32) (state.Tree, error) {
	t, err := r.treeOnce(s)
	if errors.Is(err, state.ErrDamaged) || errors.Is(err, errWeaveBlock) {
		if _, err := r.freshBlocks(); err != nil {
			return state.Tree{}, err
		}
		t, err = r.treeOnce(s)
	}
	return t, err
}

func (r *Repo) treeOnce(s uint32) (state.Tree, error) {
	b, err := r.openBlocks()
	if err != nil {
		return state.Tree{}, err
	}
	if s == NoState {
		return b.Tree(state.Root{}), nil
	}
	var steps []uint32 // states to replay, last first
	base := b.Tree(state.Root{})
	for at := s; ; {
		root, ok, err := b.Root(at)
		if err != nil {
			return state.Tree{}, err
		}
		if ok {
			base = b.Tree(root.Root)
			break
		}
		steps = append(steps, at)
		st, err := r.store.State(at)
		if err != nil {
			return state.Tree{}, storeError(err)
		}
		if st.Parent < 0 {
			break
		}
		at = uint32(st.Parent)
	}
	if len(steps) == 0 {
		return base, nil
	}
	done := r.opt.Timings.Phase("replay")
	o := r.newOverlay(base)
	for i := len(steps) - 1; i >= 0; i-- {
		st, err := r.store.State(steps[i])
		if err != nil {
			return state.Tree{}, storeError(err)
		}
		for _, n := range st.Changes {
			c, err := r.bodyOf(n)
			if err != nil {
				return state.Tree{}, storeError(err)
			}
			if err := o.apply(n, c.files, nil); err != nil {
				return state.Tree{}, fmt.Errorf("apply change %s: %w", r.store.ChangeID(n).Short(), err)
			}
		}
	}
	t, err := o.finish()
	if err != nil {
		return state.Tree{}, err
	}
	b.PutRoot(state.StateRoot{State: s, Root: t.Root()})
	done(0)
	return t, nil
}
