package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/worktree"
)

// Repaired is one thing that Repair made again.
type Repaired struct {
	What string
	Err  error // why it could not be made; nil when it was
}

// Repair puts what other copies have in place of what is damaged of the log, and makes again all that is derived: indexes, head,
// trees, and what was last seen in the working copy. What of the truth nobody has stays as it is, and only what can be made of the rest is made.
func (r *Repo) Repair(ctx context.Context, opt RepairOptions) ([]Repaired, error) {
	done, err := r.mend(ctx, opt)
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	if err != nil {
		done = append(done, Repaired{"what is damaged of the log", err})
	}
	did := func(what string, err error) { done = append(done, Repaired{what, err}) }
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
// cannot be made keeps no other from being made.
func (r *Repo) renewAllTrees(ctx context.Context) (states, made int, hint []byte, err error) {
	v, err := r.store.View()
	if err != nil {
		return 0, 0, nil, storeError(err)
	}
	named, namedErr := (&checker{r: r}).namedStates(v)
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
	h, err := b.Flush()
	if err != nil {
		return states, made, nil, errors.Join(append(errs, err)...)
	}
	r.stale = false
	r.dropGenerations(h.Generation)
	return states, made, h.Encode(), errors.Join(errs...)
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
