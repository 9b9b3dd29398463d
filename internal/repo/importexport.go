package repo

import (
	"fmt"
	"maps"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// LogStep is how a state came: its last change upon the state before it in the log, which is NoState for the first.
type LogStep struct {
	Before  uint32   // may have a higher number than the state: one that was made on demand
	Changes []uint32 // one
	Len     uint64   // of the log, with it
	Beside  bool     // it was recorded elsewhere
}

// LogStep reads how a state came.
func (r *Repo) LogStep(s uint32) (LogStep, error) {
	n, pos, ok, err := r.lastChange(s)
	if err != nil || !ok {
		return LogStep{Before: NoState}, err
	}
	st, err := r.state(s)
	if err != nil {
		return LogStep{}, storeError(err)
	}
	out := LogStep{Changes: []uint32{n}, Len: pos + 1, Beside: st.Beside || len(st.Without) > 0}
	out.Before, err = r.atPosition(s, pos)
	return out, err
}

// OwnBefore gives the last state of a log all of whose last step was recorded upon what came before; false where that is the
// state itself, or there is none.
func (r *Repo) OwnBefore(s uint32) (own uint32, ok bool, err error) {
	err = r.eachStep(s, func(step *logStep) (bool, error) {
		if step.whole && !step.beside && len(step.under) == 0 {
			own, ok = step.at, step.at != s
			return false, nil
		}
		return true, nil
	})
	return own, ok, err
}

// LogLen is how many changes a state has.
func (r *Repo) LogLen(s uint32) (uint64, error) {
	ref, err := r.stateRef(s)
	return ref.Len, err
}

// Meta reads who made a change, when and why.
func (r *Repo) Meta(n uint32) (*change.Change, error) {
	b, err := r.store.Meta(n)
	if err != nil {
		return nil, storeError(err)
	}
	c, err := change.DecodeMeta(b)
	if err != nil {
		return nil, fmt.Errorf("read change %s: %w", r.store.ChangeID(n).Short(), err)
	}
	return c, nil
}

// StateID gives a state's id, by which it is known when states are numbered anew.
func (r *Repo) StateID(s uint32) ([32]byte, error) {
	ref, err := r.stateRef(s)
	return ref.ID, err
}

// StateWith finds a state by its id.
func (r *Repo) StateWith(id [32]byte) (uint32, bool, error) {
	v, err := r.view()
	if err != nil {
		return 0, false, err
	}
	s, ok, err := r.stateBy(v, id)
	return s.Num, ok && s.Num != NoState, err
}

// NamedStates gives where all bookmarks and tags are.
func (r *Repo) NamedStates() (bookmarks, tags map[string]uint32, err error) {
	v, err := r.view()
	if err != nil {
		return nil, nil, err
	}
	return maps.Clone(v.Bookmarks), maps.Clone(v.Tags), nil
}

// SetOf is the set of changes of a state.
func (r *Repo) SetOf(s uint32) (state.Set, error) { return r.setOf(s) }

// EachDifference calls give for each path at which two states differ, with what the file of the second holds there.
func (r *Repo) EachDifference(a, b uint32, give func(old, new *state.Entry, content func() ([]byte, error)) error) error {
	ta, err := r.tree(a)
	if err != nil {
		return err
	}
	tb, err := r.tree(b)
	if err != nil {
		return err
	}
	return state.Diff(ta, tb, func(old, new *state.Entry) error {
		return give(old, new, func() ([]byte, error) { return r.content(nil, new) })
	})
}

// InConflict tells whether conflicts are open in a state.
func (r *Repo) InConflict(s uint32) (bool, error) {
	tree, err := r.tree(s)
	if err != nil {
		return false, err
	}
	ds, err := tree.Disputes()
	for i := range ds {
		if ds[i].Kinds&^state.Several != 0 {
			return true, err
		}
	}
	return false, err
}

// StepLog makes the tree of any state upon the one before it in its log.
func (p *Replay) StepLog(s uint32) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if err := p.tidy(); err != nil {
		return err
	}
	st, err := p.r.LogStep(s)
	if err != nil {
		return err
	}
	ref, err := p.r.stateRef(s)
	if err != nil {
		return err
	}
	base := p.grown[st.Before]
	if base == nil {
		return fmt.Errorf("state %d comes before state %d, upon which it stands", s, st.Before)
	}
	g := &grownState{ref: ref, tree: base.tree}
	if g.hash, err = state.ParseSetHash(ref.ID); err != nil {
		return err
	}
	set := base.set.Union(state.NewSet(st.Changes...))
	g.set = &set
	if st.Beside {
		f, err := p.r.newFuse(base.tree, p.r.newReach())
		if err != nil {
			return err
		}
		for _, n := range st.Changes {
			if err := f.add(n); err != nil {
				return err
			}
		}
		if g.tree, err = f.finish(); err != nil {
			return err
		}
	} else {
		for _, n := range st.Changes {
			if g.tree, err = p.r.grow(g.tree, n); err != nil {
				return err
			}
		}
	}
	p.grown[s] = g
	return nil
}

// Difference is EachDifference of two states that were made.
func (p *Replay) Difference(a, b uint32, give func(old, new *state.Entry, content func() ([]byte, error)) error) error {
	from, to := p.grown[a], p.grown[b]
	if from == nil || to == nil {
		return fmt.Errorf("states %d and %d are not both at hand", a, b)
	}
	return state.Diff(from.tree, to.tree, func(old, new *state.Entry) error {
		return give(old, new, func() ([]byte, error) { return p.r.contentKept(new) })
	})
}
