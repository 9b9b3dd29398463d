package repo

import (
	"context"
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// A state of several changes is told by the log alone. Where that is damaged the index still has the state's id, which is a sum over the
// ids of its changes: what is guessed to be its changes is proved by it. A set comes from another copy that has a state of that id, from
// the trees kept of it, or is what the commands make: changes that follow one another, those of another state beside, or all but
// one and what depends on it.

// maxGuesses bounds the states of which the one that was merged is sought: each costs a walk over its log.
const maxGuesses = 1 << 12

// stateMender makes states again.
type stateMender struct {
	r    *Repo
	ctx  context.Context
	made map[uint32]store.State
	sets func(id [32]byte) ([]state.Set, error) // what other copies say of an id
}

// run makes again what it can of the damaged states, which ascend.
func (m *stateMender) run(bad []uint32) error {
	for _, n := range bad {
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		o, ok := m.r.store.StateOutline(n)
		if !ok {
			continue
		}
		before, ok := m.logOf(o.Parent)
		if !ok {
			continue // it follows one that is lost
		}
		g := &guess{stateMender: m, n: n, o: o, before: before}
		if err := g.run(); err != nil {
			return err
		}
		if g.found != nil {
			m.made[n] = *g.found
		}
	}
	return nil
}

// state reads a state, or takes one that was made.
func (m *stateMender) state(n uint32) (store.State, bool) {
	if st, ok := m.made[n]; ok {
		return st, true
	}
	st, err := m.r.store.State(n)
	return st, err == nil && st.Parent < int64(n)
}

// logOf is the set of a state's changes; false where the log beneath it is damaged.
func (m *stateMender) logOf(n int64) (state.Set, bool) {
	var b state.SetBuilder
	var out leftOut
	for n >= 0 {
		st, ok := m.state(uint32(n))
		if !ok {
			return state.Set{}, false
		}
		changes, _ := out.pass(st.Changes)
		for _, c := range slices.Backward(changes) {
			b.Add(c)
		}
		out, n = out.with(st.Without), st.Parent
	}
	return b.Set(), true
}

// guess looks for the changes of one state.
type guess struct {
	*stateMender
	n      uint32
	o      store.Outline
	before state.Set
	found  *store.State
}

func (g *guess) run() error {
	if set, ok, err := g.r.keptSet(g.n); err == nil && ok && g.is(set) { // trees are derived: whatever fails, there are other ways
		return nil
	}
	told, err := g.sets(g.o.ID)
	if err != nil {
		return err
	}
	for _, set := range told {
		if g.is(set) {
			return nil
		}
	}
	if g.o.Omits == 0 && g.following() {
		return nil
	}
	if g.o.Omits == 0 && g.merged() {
		return nil
	}
	if g.o.Appends == 0 {
		g.takenBack()
	}
	return nil
}

// is takes a set if it is the state's.
func (g *guess) is(set state.Set) bool {
	appended, omitted := set.Minus(g.before), g.before.Minus(set)
	if appended.Len() != g.o.Appends || omitted.Len() != g.o.Omits {
		return false
	}
	sum, ok := g.sum()
	if !ok {
		return false
	}
	for c := range omitted.All() {
		sum.Remove(g.r.store.ChangeID(c))
	}
	for c := range appended.All() {
		sum.Add(g.r.store.ChangeID(c))
	}
	if sum.Bytes() != g.o.ID {
		return false
	}
	g.take(slices.Collect(appended.All()), slices.Collect(omitted.All()))
	return true
}

// sum is the id of the state before.
func (g *guess) sum() (sum state.SetHash, ok bool) {
	if g.o.Parent < 0 {
		return sum, true
	}
	o, ok := g.r.store.StateOutline(uint32(g.o.Parent))
	if !ok {
		return sum, false
	}
	if o.ID == ([32]byte{}) {
		return sum, true
	}
	sum, err := state.ParseSetHash(o.ID)
	return sum, err == nil
}

func (g *guess) take(appended, omitted []uint32) {
	g.found = &store.State{Parent: g.o.Parent, Pos: g.o.Pos, ID: g.o.ID, Beside: g.o.Beside, Changes: appended, Without: omitted}
}

// following tries changes that lie one after another in the log, as one pull or import brings them.
func (g *guess) following() bool {
	total, k := uint64(g.r.store.NumChanges()), g.o.Appends
	sum, ok := g.sum()
	if !ok || k == 0 || k > total {
		return false
	}
	for c := range k {
		sum.Add(g.r.store.ChangeID(uint32(c)))
	}
	for from := uint64(0); ; from++ {
		if sum.Bytes() == g.o.ID {
			list := make([]uint32, 0, k)
			for c := from; c < from+k; c++ {
				list = append(list, uint32(c))
			}
			g.take(list, nil)
			return true
		}
		if from+k >= total || g.ctx.Err() != nil {
			return false
		}
		sum.Remove(g.r.store.ChangeID(uint32(from)))
		sum.Add(g.r.store.ChangeID(uint32(from + k)))
	}
}

// merged tries the changes of each state that a view of the time named, and of those made just before.
func (g *guess) merged() bool {
	tried := map[uint32]bool{}
	try := func(n uint32) bool {
		if n >= g.n || tried[n] || len(tried) >= maxGuesses || g.ctx.Err() != nil {
			return false
		}
		tried[n] = true
		set, ok := g.logOf(int64(n))
		return ok && set.Minus(g.before).Len() == g.o.Appends && g.is(set.Union(g.before))
	}
	for n := g.n; n > 0 && g.n-n < 64; n-- {
		if try(n - 1) {
			return true
		}
	}
	for op := g.r.store.NumOps(); op > 0 && len(tried) < maxGuesses; op-- {
		v, err := g.r.store.OpView(op - 1)
		if err != nil {
			continue
		}
		for _, n := range namedStates(v) {
			if try(n) {
				return true
			}
		}
	}
	return false
}

// takenBack tries what is left without one change and all that depends on it.
func (g *guess) takenBack() {
	var later []uint32
	for c := range g.before.Down() {
		if g.ctx.Err() != nil || len(later) >= maxGuesses {
			return
		}
		later = append(later, c) // descending
		gone := map[uint32]bool{c: true}
		for _, d := range slices.Backward(later) {
			if slices.ContainsFunc(g.r.store.Deps(d), func(n uint32) bool { return gone[n] }) {
				gone[d] = true
			}
			if uint64(len(gone)) > g.o.Omits {
				break
			}
		}
		if uint64(len(gone)) != g.o.Omits {
			continue
		}
		list := make([]uint32, 0, len(gone))
		for n := range gone {
			list = append(list, n)
		}
		slices.Sort(list)
		if g.is(g.before.Minus(state.NewSet(list...))) {
			return
		}
	}
}
