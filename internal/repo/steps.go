package repo

import (
	"fmt"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/store"
)

// logStep is a step of a state's log: the changes that one state, beneath it or itself, appended.
type logStep struct {
	at      uint32   // that state
	changes []uint32 // in the order of the log, without those that a later state leaves out
	pos     uint64   // length of the log with them
	beside  bool
	whole   bool     // nothing of the log of at is left out: the log passed through that state
	passed  []uint32 // of the changes of at those that are left out
	under   leftOut  // what is left out of the changes before these
}

// leftOut are changes that a log leaves out of one beneath it.
type leftOut map[uint32]struct{}

func (o leftOut) with(nums []uint32) leftOut {
	if o == nil && len(nums) > 0 {
		o = make(leftOut, len(nums))
	}
	for _, n := range nums {
		o[n] = struct{}{}
	}
	return o
}

func (o leftOut) has(n uint32) bool {
	_, ok := o[n]
	return ok
}

// beyond lists those that are not among some changes, in no order.
func (o leftOut) beyond(nums []uint32) (out []uint32) {
	own := leftOut{}.with(nums)
	for n := range o {
		if !own.has(n) {
			out = append(out, n)
		}
	}
	return out
}

func (o leftOut) sorted() []uint32 { return slices.Sorted(maps.Keys(o)) }

// pass takes out of changes those that are left out, which are met with that.
func (o leftOut) pass(changes []uint32) (rest, passed []uint32) {
	if len(o) == 0 || !slices.ContainsFunc(changes, o.has) {
		return changes, nil
	}
	for _, n := range changes {
		if o.has(n) {
			delete(o, n)
			passed = append(passed, n)
		} else {
			rest = append(rest, n)
		}
	}
	return rest, passed
}

// eachStep goes through the log of a state, the last step first, until fn returns false. What fn is given it
// does not alter.
func (r *Repo) eachStep(s uint32, fn func(*logStep) (bool, error)) error {
	var out leftOut
	for s != NoState {
		st, parent, err := r.step(s)
		if err != nil {
			return err
		}
		if uint64(len(out)) > st.Pos {
			return storeError(fmt.Errorf("state %d has %d changes, and %d are left out: %w", s, st.Pos, len(out), store.ErrDamaged))
		}
		step := logStep{at: s, pos: st.Pos - uint64(len(out)), beside: st.Beside, whole: len(out) == 0}
		step.changes, step.passed = out.pass(st.Changes)
		step.under = out.with(st.Without)
		if more, err := fn(&step); err != nil || !more {
			return err
		}
		out, s = step.under, parent
	}
	if len(out) > 0 {
		return storeError(fmt.Errorf("changes are left out of a log that does not have them: %w", store.ErrDamaged))
	}
	return nil
}

// state reads a state: one of the store, or one that was made on demand.
func (r *Repo) state(s uint32) (store.State, error) {
	if s < r.store.NumStates() {
		return r.store.State(s)
	}
	if st, ok := r.spares.state(s); ok {
		return st, nil
	}
	return r.store.State(s)
}

// step reads a state and its parent. States are numbered after their parents, which what goes through them by number
// relies on.
func (r *Repo) step(s uint32) (st store.State, parent uint32, err error) {
	st, err = r.state(s)
	switch {
	case err != nil:
		return st, 0, storeError(err)
	case st.Parent < 0:
		return st, NoState, nil
	case st.Parent >= int64(s):
		return st, 0, storeError(fmt.Errorf("state %d follows state %d: %w", s, st.Parent, store.ErrDamaged))
	}
	return st, uint32(st.Parent), nil
}

// lastChange is the last change of a log, with the length of the log without it; not ok where the log has none.
func (r *Repo) lastChange(s uint32) (n uint32, before uint64, ok bool, err error) {
	err = r.eachStep(s, func(step *logStep) (bool, error) {
		if k := len(step.changes); k > 0 {
			n, before, ok = step.changes[k-1], step.pos-1, true
		}
		return !ok, nil
	})
	return n, before, ok, err
}
