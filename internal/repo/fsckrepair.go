package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// Repaired is one thing that Repair made again.
type Repaired struct {
	What string
	Err  error // why it could not be made; nil when it was
	// Lost is, by name, what nobody has and what RepairOptions.DropLost would drop with it; Gone what was dropped so.
	Lost, Gone []string
	// Aside, if not empty, is where what went is kept, beneath the repository's root.
	Aside string
}

// Repair puts what other copies have in place of what is damaged of the log, and makes again all that is derived: indexes, head,
// trees, and what was last seen in the working copy. What of the truth nobody has stays as it is, and only what can be made of the rest is made.
func (r *Repo) Repair(ctx context.Context, opt RepairOptions) ([]Repaired, error) {
	done, err := r.mend(ctx, opt)
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	if err != nil {
		done = append(done, Repaired{What: "what is damaged of the log", Err: err})
	}
	did := func(what string, err error) { done = append(done, Repaired{What: what, Err: err}) }
	states, made := 0, 0
	var treesErr error
	wait, waited := r.waits()
	defer waited()
	err = r.store.Rederive(wait, func() (hint []byte, err error) {
		states, made, hint, treesErr = r.renewAllTrees(ctx)
		return hint, nil
	})
	if err != nil {
		err = storeError(err)
	}
	did("the indexes and the head", err)
	if err == nil {
		did(fmt.Sprintf("the trees of %d of %d states that have a name", made, states), treesErr)
	}
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	did("what was last seen in the working copy; the next command reads each of its files once", r.renewManifest())
	return done, nil
}

// renewAllTrees begins the trees anew with those of all that has a name. It is called with the writers' lock held. One that
// cannot be made keeps no other from being made; then the trees before stay, of which that one may be the last that can be read.
func (r *Repo) renewAllTrees(ctx context.Context) (states, made int, hint []byte, err error) {
	v, err := r.store.View()
	if err != nil {
		return 0, 0, nil, storeError(err)
	}
	named, namedErr := (&checker{r: r}).namedStates(v)
	before := r.store.Hint()
	r.blocksMu.Lock()
	if r.blocks != nil {
		r.retired = append(r.retired, r.blocks)
		r.blocks = nil
	}
	b, err := r.freshBlocks()
	r.blocksMu.Unlock()
	if err != nil {
		return len(named), 0, nil, errors.Join(namedErr, err)
	}
	errs := []error{namedErr}
	for _, s := range append(named, v.Checkpoints...) {
		if ctx.Err() != nil {
			break // those made so far count, and the others are made when they are asked for
		}
		states++
		if _, err := r.tree(s); err != nil {
			errs = append(errs, fmt.Errorf("state %d: %w", s, err))
			continue
		}
		made++
	}
	if made < states && ctx.Err() == nil && r.reads(before, named) {
		r.blocksMu.Lock()
		_ = errors.Join(b.Close(), state.RemoveGeneration(r.fs, filepath.Join(r.dir, "trees"), b.Generation()))
		r.blocks, r.stale = nil, false
		r.blocksMu.Unlock()
		return states, made, before, errors.Join(errs...)
	}
	h, err := b.Flush()
	if err != nil {
		return states, made, nil, errors.Join(append(errs, err)...)
	}
	r.stale = false
	r.dropGenerations(h.Generation)
	return states, made, h.Encode(), errors.Join(errs...)
}

// reads tells whether trees of an earlier time have one of the named states, whole.
func (r *Repo) reads(hint []byte, named []uint32) bool {
	h, err := state.DecodeHint(hint)
	if err != nil {
		return false
	}
	b, err := state.OpenBlocks(r.fs, filepath.Join(r.dir, "trees"), h)
	if err != nil {
		return false
	}
	defer b.Close()
	for _, s := range named {
		if root, ok, err := b.Root(s); err == nil && ok && b.Tree(root.Root).Walk("", func(*state.Entry) error { return nil }) == nil {
			return true
		}
	}
	return false
}

// renewManifest makes the manifest again from the tree of the working copy's base.
func (r *Repo) renewManifest() error {
	v, err := r.view()
	if err != nil {
		return err
	}
	base, err := r.stateRef(baseOf(v))
	if err != nil {
		return err
	}
	m, err := r.rebuildManifest(base)
	if err != nil {
		return err
	}
	if err := m.Save(); err != nil {
		return fileError("write what was seen in the working copy", err)
	}
	return nil
}

// manifest reads what was last seen in the working copy.
func (c *checker) manifest() {
	cone, err := c.r.workingCone()
	if err != nil {
		c.find(finding{Problem{Text: err.Error(), File: sparseFile, Derived: true, Mend: mendSparse, Names: &Names{Here: true}}, -1, -1})
		return
	}
	m, err := worktree.Load(c.r.fs, c.r.manifestDir())
	if err == nil {
		if base, id := m.Base(); base < c.r.store.NumStates() {
			if st, stErr := c.r.store.State(base); stErr == nil && cone.BaseID(st.ID) != id {
				err = errors.New("it speaks of another state than the one that it names")
			}
		}
		err = errors.Join(err, m.All(func(string, *worktree.Entry) bool { return true }), m.Close())
	}
	if err == nil || errors.Is(err, worktree.ErrNotFound) {
		return
	}
	rel, _ := filepath.Rel(c.r.dir, filepath.Join(c.r.manifestDir(), "manifest"))
	c.find(finding{Problem{Text: err.Error(), File: filepath.ToSlash(rel), Derived: true, Mend: mendManifest, Names: &Names{Here: true}}, -1, -1})
}
