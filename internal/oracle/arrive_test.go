package oracle

import (
	"slices"
	"sort"

	"github.com/oxy-vcs/oxy/internal/change"
)

// arrival builds the weave and the pairs change by change, in a random order that dependencies allow, and compares
// them with what the definition says of the whole set.
func (h *history) arrival(s Set, st *State) {
	a := arriving{w: h.World, kids: map[Line][2][]Line{}, in: Set{}, pairs: map[Pair]bool{}}
	for len(a.in) < len(s) {
		var ready []uint32
		for _, c := range s.Sorted() {
			if !a.in[c] && a.in.Holds(h.Changes[c].Past) {
				ready = append(ready, c)
			}
		}
		a.add(ready[h.Rand.Intn(len(ready))])
	}
	if !slices.Equal(a.order, st.Order) {
		h.fault("the order of arrival leaves the weave", "%v %v", a.order, st.Order)
	}
	want := setOf(st.Pairs())
	n := 0
	for p := range a.pairs {
		if st.live[p[0].Change] && st.live[p[1].Change] {
			n++
			if !want[p] {
				h.fault("the order of arrival leaves the pairs", "%v", p)
			}
		}
	}
	if n != len(want) {
		h.fault("the order of arrival leaves the pairs", "%d of %d", n, len(want))
	}
}

type arriving struct {
	w     *World
	order []Line
	kids  map[Line][2][]Line // on the left, on the right
	in    Set
	pairs map[Pair]bool
}

func (a *arriving) add(c uint32) {
	for _, h := range a.w.Changes[c].Hunks {
		for _, n := range h.Ins {
			a.place(n)
		}
	}
	a.in[c] = true
	v := a.w.Look(a.order, a.in)
	for q := range a.in {
		if a.w.Concurrent(c, q) {
			for _, p := range v.between(c, q) {
				a.pairs[p] = true
			}
		}
	}
}

// place splices a line in beside its siblings.
func (a *arriving) place(n Node) {
	side := 0
	if n.Right {
		side = 1
	}
	both := a.kids[n.Parent]
	kids := both[side]
	i := sort.Search(len(kids), func(i int) bool { return a.w.compare(n.Line, kids[i]) < 0 })
	at := 0
	switch {
	case n.Right && i > 0:
		at = slices.Index(a.order, a.outermost(kids[i-1], 1)) + 1
	case n.Right && n.Parent == change.Start:
		at = 0
	case n.Right:
		at = slices.Index(a.order, n.Parent) + 1
	case i < len(kids):
		at = slices.Index(a.order, a.outermost(kids[i], 0))
	default:
		at = slices.Index(a.order, n.Parent)
	}
	both[side] = slices.Insert(slices.Clone(kids), i, n.Line)
	a.kids[n.Parent] = both
	a.order = slices.Insert(a.order, at, n.Line)
}

// outermost is the first or the last line of what hangs beneath x.
func (a *arriving) outermost(x Line, side int) Line {
	for len(a.kids[x][side]) > 0 {
		x = a.kids[x][side][(len(a.kids[x][side])-1)*side]
	}
	return x
}
