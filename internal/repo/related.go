package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
)

// Related is a change that another one depends on, or that depends on it.
type Related struct {
	Num   uint32
	Depth int // how many steps lead there, along a shortest way; from 1
}

// Deps gives the changes that change n depends on: those that it names, or with all those behind them too. They come as
// a tree of shortest ways is read: each beneath one that depends on it, later ones first.
func (r *Repo) Deps(n uint32, all bool) ([]Related, error) {
	var out []Related
	if all {
		out = r.allDeps(n)
	} else {
		direct := slices.Clone(r.store.Deps(n))
		slices.Sort(direct)
		for _, d := range slices.Backward(direct) {
			out = append(out, Related{d, 1})
		}
	}
	if err := r.store.Err(); err != nil {
		return nil, storeError(err)
	}
	return out, nil
}

func (r *Repo) allDeps(n uint32) []Related {
	// A change's number is above those of its dependencies: going down, the shortest way to each is known when it is met.
	w := newWays(0, n, n)
	for m := int64(n); m >= 0; m-- {
		if w.reached(uint32(m)) {
			for _, d := range r.store.Deps(uint32(m)) {
				w.step(uint32(m), d)
			}
		}
	}
	for m := range n { // each goes before those that are there already
		w.hang(m)
	}
	return w.read()
}

// Dependents gives the changes of a state that depend on its change n: those that name it, or with all those that depend
// on them too. They come as a tree of shortest ways is read: each beneath one that it depends on, earlier ones first.
func (r *Repo) Dependents(n uint32, s StateRef, all bool) ([]Related, error) {
	set, err := r.setOf(s.Num)
	if err != nil {
		return nil, err
	}
	if !set.Has(n) {
		id := r.ShortID(n)
		return nil, &Error{Text: "that state has no change " + safepath.Quote(id), Next: "See which bookmarks and tags do with: oxy where " + id, No: true}
	}
	var out []Related
	if !all {
		for m := range set.From(n + 1) {
			if slices.Contains(r.store.Deps(m), n) {
				out = append(out, Related{m, 1})
			}
		}
	} else {
		last := n
		for last = range set.Down() {
			break
		}
		w := newWays(n, last, n)
		for m := range set.From(n + 1) {
			for _, d := range r.store.Deps(m) {
				if d >= n && w.reached(d) {
					w.step(d, m)
				}
			}
		}
		for m := last; m > n; m-- {
			w.hang(m)
		}
		out = w.read()
	}
	if err := r.store.Err(); err != nil {
		return nil, storeError(err)
	}
	return out, nil
}

// ways are the shortest ways from one change to others, whose numbers lie in a span.
type ways struct {
	lo, root uint32
	at       []way
}

// way is how one change is reached.
type way struct {
	depth uint32 // steps from the root, whose depth is 1; 0: not reached
	via   uint32 // the change before
	// The tree of ways: numbers above lo, plus 1; 0 for none.
	child, next uint32
}

func newWays(lo, hi, root uint32) *ways {
	w := &ways{lo: lo, root: root, at: make([]way, uint64(hi-lo)+1)}
	w.at[root-lo].depth = 1
	return w
}

func (w *ways) reached(n uint32) bool { return w.at[n-w.lo].depth > 0 }

// step takes a step from one change to another. All steps to a change come before the first one from it.
func (w *ways) step(from, to uint32) {
	t := &w.at[to-w.lo]
	if d := w.at[from-w.lo].depth + 1; t.depth == 0 || d < t.depth {
		t.depth, t.via = d, from
	}
}

// hang puts a change, if it was reached, beneath the one before it, as the first.
func (w *ways) hang(n uint32) {
	if t := &w.at[n-w.lo]; t.depth > 0 && n != w.root {
		v := &w.at[t.via-w.lo]
		t.next, v.child = v.child, n-w.lo+1
	}
}

// read gives the tree, each change before those beneath it.
func (w *ways) read() []Related {
	var out []Related
	stack := []uint32{w.at[w.root-w.lo].child}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		if i == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		t := &w.at[i-1]
		out = append(out, Related{i - 1 + w.lo, int(t.depth - 1)})
		stack[len(stack)-1] = t.next
		stack = append(stack, t.child)
	}
	return out
}
