package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// setOf is the set of changes of a state: that of the nearest state before it of which it is kept, and the log since.
func (r *Repo) setOf(s uint32) (state.Set, error) {
	done := r.opt.Timings.Phase("set")
	defer done(0)
	var b state.SetBuilder
	var out leftOut
	for s != NoState {
		kept, ok, err := r.keptSet(s)
		if err != nil {
			return state.Set{}, err
		}
		if ok {
			if len(out) > 0 {
				kept = kept.Minus(state.NewSet(out.sorted()...))
			}
			return kept.Union(b.Set()), nil
		}
		st, parent, err := r.step(s)
		if err != nil {
			return state.Set{}, err
		}
		changes, _ := out.pass(st.Changes)
		for _, n := range slices.Backward(changes) {
			b.Add(n)
		}
		out, s = out.with(st.Without), parent
	}
	return b.Set(), nil
}

// keptSet reads the set of a state that is kept beside its tree.
func (r *Repo) keptSet(s uint32) (set state.Set, ok bool, err error) {
	blocks, err := r.openBlocks()
	if err != nil {
		return set, false, err
	}
	root, ok, err := blocks.Root(s)
	if err != nil || !ok || root.Set == 0 {
		return set, false, err
	}
	set, err = blocks.Set(root.Set)
	return set, err == nil, err
}

// setEvery is about how many changes apart sets are kept: walking so many takes a tenth of a millisecond.
const setEvery = 1024

// keepSet keeps the set of a state beside its tree, if none is kept of a state less than so many changes before it.
func (t *tx) keepSet(s uint32, every int) error {
	r := t.r
	if s == NoState || s >= r.store.NumStates() {
		return nil
	}
	blocks, err := r.openBlocks()
	if err != nil {
		return err
	}
	root, ok, err := blocks.Root(s)
	if err != nil || !ok {
		return err
	}
	changes := 0
	for at := s; changes < every; {
		if at == NoState {
			return nil
		}
		if near, ok, err := blocks.Root(at); err != nil || ok && near.Set != 0 {
			return err
		}
		st, parent, err := r.step(at)
		if err != nil {
			return err
		}
		changes += len(st.Changes) + len(st.Without)
		at = parent
	}
	set, err := r.setOf(s)
	if err != nil {
		return err
	}
	if root.Set, err = blocks.PutSet(set); err != nil {
		return err
	}
	blocks.PutRoot(root)
	return nil
}

// beyond is what a state has beyond another, beneath it, and what it leaves out of that.
type beyond struct {
	has []uint32 // latest first
	out leftOut
}

// step takes in a step above those that were taken in.
func (b *beyond) step(st *store.State) {
	changes, _ := b.out.pass(st.Changes)
	for _, n := range slices.Backward(changes) {
		b.has = append(b.has, n)
	}
	b.out = b.out.with(st.Without)
}

// settle takes out what the log leaves out of the state beneath and has all the same, later: nothing of that is beyond.
func (b *beyond) settle() {
	if len(b.out) == 0 {
		return
	}
	b.has = slices.DeleteFunc(b.has, func(n uint32) bool {
		again := b.out.has(n)
		delete(b.out, n)
		return again
	})
}

// apart takes two logs back to a state that is beneath both, and gives what each has beyond that. It looks at nothing beneath:
// two states of a long history that are near are told apart at once.
func (r *Repo) apart(a, b uint32) (beyondA, beyondB beyond, err error) {
	for a != b {
		// The later one is not beneath the other.
		at, beyond := &a, &beyondA
		if a == NoState || b != NoState && b > a {
			at, beyond = &b, &beyondB
		}
		st, parent, err := r.step(*at)
		if err != nil {
			return beyondA, beyondB, err
		}
		beyond.step(&st)
		*at = parent
	}
	beyondA.settle()
	beyondB.settle()
	return beyondA, beyondB, nil
}

// only gives what one state has and the other has not, latest first: what it has beyond the state beneath both, then what the
// other leaves out of that, by descending number.
func (b *beyond) only(o *beyond) []uint32 {
	var other state.SetBuilder
	for _, n := range o.has {
		other.Add(n)
	}
	set := other.Set()
	out := make([]uint32, 0, len(b.has)+len(o.out))
	for _, n := range b.has {
		if !set.Has(n) {
			out = append(out, n)
		}
	}
	for _, n := range slices.Backward(o.out.sorted()) {
		if !b.out.has(n) {
			out = append(out, n)
		}
	}
	return out
}

// holders tells of every state whether it has change n.
func (r *Repo) holders(n uint32) (func(s uint32) bool, error) {
	has := make([]bool, r.store.NumStates())
	for s := range has {
		st, parent, err := r.step(uint32(s))
		if err != nil {
			return nil, err
		}
		if has[s] = parent != NoState && has[parent]; has[s] && len(st.Without) > 0 {
			_, out := slices.BinarySearch(st.Without, n)
			has[s] = !out
		}
		has[s] = has[s] || slices.Contains(st.Changes, n)
	}
	return func(s uint32) bool { return s != NoState && has[s] }, nil
}

// reachable gives the sets of what all that a view names has, for two views in one pass.
func (r *Repo) reachable(before, after *store.View) (was, is state.Set, err error) {
	const inBefore, inAfter = 0, 1
	w := r.newSweep()
	mark := func(v *store.View, kind int) {
		if v.Base >= 0 {
			w.mark(uint32(v.Base), kind)
		}
		for _, s := range v.Bookmarks {
			w.mark(s, kind)
		}
		for _, s := range v.Tags {
			w.mark(s, kind)
		}
	}
	mark(before, inBefore)
	mark(after, inAfter)
	var sets [sweepKinds]state.SetBuilder
	err = w.run(func(kind int, n uint32) { sets[kind].Add(n) })
	return sets[inBefore].Set(), sets[inAfter].Set(), err
}

// sweep goes through the logs of many states at once, looking at each state once.
type sweep struct {
	r     *Repo
	marks []uint8 // a bit for each kind
	out   map[sweepKey]leftOut
}

// sweepKinds is how many kinds of marks there are.
const sweepKinds = 2

// sweepKey is a state that is marked for the sake of logs all of which leave out some of its changes.
type sweepKey struct {
	state uint32
	kind  int
}

func (r *Repo) newSweep() *sweep {
	return &sweep{r: r, marks: make([]uint8, r.store.NumStates()), out: map[sweepKey]leftOut{}}
}

// mark has the log of a state gone through.
func (w *sweep) mark(s uint32, kind int) {
	if s == NoState {
		return
	}
	w.marks[s] |= 1 << kind
	delete(w.out, sweepKey{s, kind})
}

// run gives the changes of all logs that are marked: by states, the last first, each as often as states have it.
func (w *sweep) run(give func(kind int, n uint32)) error {
	for i, m := range slices.Backward(w.marks) {
		if m == 0 {
			continue
		}
		s := uint32(i)
		st, parent, err := w.r.step(s)
		if err != nil {
			return err
		}
		for kind := range sweepKinds {
			if m>>kind&1 == 0 {
				continue
			}
			key := sweepKey{s, kind}
			out := w.out[key]
			changes, _ := out.pass(st.Changes)
			for _, n := range slices.Backward(changes) {
				give(kind, n)
			}
			delete(w.out, key)
			if parent != NoState {
				w.pass(parent, kind, out.with(st.Without))
			}
		}
	}
	return nil
}

// pass marks a parent for the sake of a log that leaves out some of its changes.
func (w *sweep) pass(s uint32, kind int, out leftOut) {
	key, bit := sweepKey{s, kind}, uint8(1)<<kind
	if w.marks[s]&bit == 0 {
		if w.marks[s] |= bit; len(out) > 0 {
			w.out[key] = out
		}
		return
	}
	both := w.out[key] // what all of them leave out
	for n := range both {
		if !out.has(n) {
			delete(both, n)
		}
	}
	if len(both) == 0 {
		delete(w.out, key)
	}
}

// logSets makes the sets of many states from their logs alone, each from one before it that lies in its log: whoever asks for those that
// came first before the others goes through every log once.
type logSets struct {
	r     *Repo
	known map[uint32]state.Set
}

// knownSets bounds how many are kept.
const knownSets = 4096

func (l *logSets) of(s uint32) (state.Set, error) {
	if set, ok := l.known[s]; ok || s == NoState {
		return set, nil
	}
	var b state.SetBuilder
	var under state.Set
	err := l.r.eachStep(s, func(step *logStep) (bool, error) {
		if step.whole {
			if set, ok := l.known[step.at]; ok {
				under = set
				return false, nil
			}
		}
		for _, n := range slices.Backward(step.changes) {
			b.Add(n)
		}
		return true, nil
	})
	if err != nil {
		return state.Set{}, err
	}
	set := under.Union(b.Set())
	if l.known == nil || len(l.known) >= knownSets {
		l.known = map[uint32]state.Set{}
	}
	l.known[s] = set
	return set, nil
}
