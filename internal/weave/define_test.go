package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

// define is what the definition says of a set, as elements tells it of a weave. The two bytes of a line stand for its
// head and its tail: nothing lies between them but their own cover.
func (r *replicas) define(s oracle.Set) (out []element) {
	v := r.h.See(s)
	nodes := map[oracle.Line]oracle.Node{}
	right, dead := map[oracle.Line]bool{}, map[oracle.Line][]uint32{}
	for _, c := range s.Sorted() {
		for _, h := range r.h.Changes[c].Hunks {
			for _, n := range h.Ins {
				nodes[n.Line] = n
				right[n.Parent] = right[n.Parent] || n.Right
			}
			for _, x := range h.Del {
				dead[x] = append(dead[x], c)
			}
		}
	}
	for i, x := range v.Order {
		n := nodes[x]
		e := element{Change: x.Change, Off: x.Off, Dead: dead[x], Shown: v.Shows(x), HasRight: true}
		e.Add, e.Del = r.over(v, s, i)
		// The next line of a stretch needs no words.
		if own := n.Parent.Change == x.Change; !own {
			e.Head, e.Left = true, !n.Right
			e.ParentChange, e.ParentOff = n.Parent.Change, n.Parent.Off
			if n.Right && n.Parent != change.Start {
				e.ParentOff += uint32(len(r.h.Text(n.Parent)))
			}
		}
		out = append(out, e)
		e = element{Change: x.Change, Off: x.Off + 1, Dead: dead[x], Shown: v.Shows(x), HasRight: right[x]}
		out = append(out, e)
	}
	e := element{Change: change.Edge, Off: 1}
	e.Add, e.Del = r.over(v, s, len(v.Order))
	return append(out, e)
}

// over is the cover of the place before line i: every hunk whose gap holds it, but what a later adding one surpasses.
func (r *replicas) over(v *oracle.View, s oracle.Set, i int) (add, del []uint32) {
	for _, c := range s.Sorted() {
		for _, h := range r.h.Changes[c].Hunks {
			if l, to := v.Position(h.L), v.Position(h.R); l < i && i <= to {
				if h.Adds() {
					add = append(add, c)
				} else {
					del = append(del, c)
				}
			}
		}
	}
	all := slices.Clone(add)
	surpassed := func(c uint32) bool {
		return slices.ContainsFunc(all, func(d uint32) bool { return d != c && r.h.Reaches(d, c) })
	}
	add, del = slices.DeleteFunc(add, surpassed), slices.DeleteFunc(del, surpassed)
	if len(add) == 0 {
		add = nil
	}
	if len(del) == 0 {
		del = nil
	}
	return add, del
}
