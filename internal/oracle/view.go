package oracle

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Order is the weave: the in-order walk of the tree of all lines of a set, dead ones included, siblings by hash.
func (w *World) Order(s Set) []Line {
	type place struct {
		parent Line
		right  bool
	}
	kids := map[place][]Line{}
	for c := range s {
		for _, h := range w.Changes[c].Hunks {
			for _, n := range h.Ins {
				at := place{n.Parent, n.Right}
				kids[at] = append(kids[at], n.Line)
			}
		}
	}
	var out []Line
	var walk func(at place)
	walk = func(at place) {
		slices.SortFunc(kids[at], w.compare)
		for _, x := range kids[at] {
			walk(place{x, false})
			out = append(out, x)
			walk(place{x, true})
		}
	}
	walk(place{change.Start, false})
	walk(place{change.Start, true})
	return out
}

// View is what the changes of a set show, in the weave of that set or of a larger one.
type View struct {
	w     *World
	Order []Line
	In    Set
	live  Set
	pos   map[Line]int
	dead  map[Line][]uint32 // the deletions that count
	shown map[Line]bool
	twins map[Line][]Line // of a line that counts: all of its class that count, least hash first
}

// Look gives what the changes of in show.
func (w *World) Look(order []Line, in Set) *View {
	v := &View{w: w, Order: order, In: in, live: w.Live(in), dead: map[Line][]uint32{}, shown: map[Line]bool{}, twins: map[Line][]Line{}}
	v.pos = map[Line]int{change.Start: -1, change.End: len(order)}
	for i, x := range order {
		v.pos[x] = i
	}
	restored := map[Deletion]bool{}
	v.eachLive(func(_ uint32, h *Hunk) {
		for _, d := range h.Restores {
			restored[d] = true
		}
	})
	v.eachLive(func(c uint32, h *Hunk) {
		for _, x := range h.Del {
			if !restored[Deletion{x, c}] {
				v.dead[x] = append(v.dead[x], c)
			}
		}
	})
	classes := map[string][]Line{}
	v.eachLive(func(_ uint32, h *Hunk) {
		for _, n := range h.Ins {
			if v.dead[n.Line] == nil {
				classes[w.class[n.Line]] = append(classes[w.class[n.Line]], n.Line)
			}
		}
	})
	for _, class := range classes {
		slices.SortFunc(class, w.compare)
		for i, x := range class {
			v.twins[x] = class
			v.shown[x] = !slices.ContainsFunc(class[:i], func(y Line) bool { return v.shown[y] && w.Concurrent(x.Change, y.Change) })
		}
	}
	return v
}

// See is the view of a whole set.
func (w *World) See(s Set) *View { return w.Look(w.Order(s), s) }

func (v *View) eachLive(f func(c uint32, h *Hunk)) {
	for _, c := range v.live.Sorted() {
		for _, h := range v.w.Changes[c].Hunks {
			f(c, h)
		}
	}
}

// Shown lists the lines that show when no block is open.
func (v *View) Shown() (out []Line) {
	for _, x := range v.Order {
		if v.shown[x] {
			out = append(out, x)
		}
	}
	return
}

// Shows reports whether a line shows.
func (v *View) Shows(x Line) bool { return v.shown[x] }

// meet reports whether two stretches overlap in the weave.
func (v *View) meet(a, b Span) bool { return v.pos[v.later(a.L, b.L)] < v.pos[v.sooner(a.R, b.R)] }

func (v *View) later(a, b Line) Line {
	if v.pos[a] > v.pos[b] {
		return a
	}
	return b
}

func (v *View) sooner(a, b Line) Line {
	if v.pos[a] < v.pos[b] {
		return a
	}
	return b
}

// shared is where two stretches overlap.
func (v *View) shared(a, b Span) Span { return Span{v.later(a.L, b.L), v.sooner(a.R, b.R)} }

// hull is the least stretch that holds both.
func (v *View) hull(a, b Span) Span { return Span{v.sooner(a.L, b.L), v.later(a.R, b.R)} }

// Position is a line's place in the order; -1 for the start.
func (v *View) Position(x Line) int { return v.pos[x] }
