package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// Region is a maximal chain of open pairs whose hulls overlap.
type Region struct {
	Pairs []Pair
	Hull  Span
	Sides []*Side
	// First and Last are positions in the weave: the block is the least stretch that holds every line on which sides
	// disagree. First > Last: the sides agree and no block is shown.
	First, Last int

	whole  *View
	base   *View
	builds Set             // the changes that build on one end of a pair and not on the other
	split  map[string]bool // the classes of lines on which sides disagree
	shown  map[string]bool // the classes that the whole set shows
}

// Side is what one party of a region shows.
type Side struct {
	Name string
	By   []uint32 // its latest participants, by hash; none of one that shows everything
	view *View
}

// Regions finds the regions of a view, in weave order.
func (v *View) Regions() []*Region {
	var out []*Region
	for _, p := range v.Open() {
		n := &Region{Pairs: []Pair{p}, Hull: v.hull(v.w.hunk(p[0]).Span, v.w.hunk(p[1]).Span), whole: v}
		for again := true; again; {
			i := slices.IndexFunc(out, func(o *Region) bool { return v.meet(o.Hull, n.Hull) })
			if again = i >= 0; again {
				n.Pairs = append(n.Pairs, out[i].Pairs...)
				n.Hull = v.hull(n.Hull, out[i].Hull)
				out = slices.Delete(out, i, i+1)
			}
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *Region) int { return v.pos[a.Hull.L] - v.pos[b.Hull.L] })
	for _, r := range out {
		r.divide()
		r.bound()
	}
	return out
}

// Least is the region's least hunk by hash, which it is named by, whatever else is open.
func (r *Region) Least() Act {
	least := r.Pairs[0][0]
	for _, p := range r.Pairs {
		for _, a := range p {
			if r.whole.w.Less(a.Change, least.Change) || a.Change == least.Change && a.Hunk < least.Hunk {
				least = a
			}
		}
	}
	return least
}

// Name is that of the region.
func (r *Region) Name() string {
	a := r.Least()
	return fmt.Sprintf("%06x.%d", r.whole.w.Changes[a.Change].Hash, a.Hunk)
}

func (r *Region) has(c uint32) bool {
	return slices.ContainsFunc(r.Pairs, func(p Pair) bool { return p.Names(c) })
}

// takes tells which end of a pair change c builds on: -1 or 1; 0 when on neither or on both.
func (w *World) takes(c uint32, p Pair) int {
	for w.Changes[c].Undoes != None && !p.Names(c) { // an undoing stands where the undone stood
		c = w.Changes[c].Undoes
	}
	a, b := w.Reaches(c, p[0].Change), w.Reaches(c, p[1].Change)
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// against reports whether two changes build on opposite ends of a pair.
func (r *Region) against(c, d uint32) bool {
	return slices.ContainsFunc(r.Pairs, func(p Pair) bool { return r.whole.w.takes(c, p)*r.whole.w.takes(d, p) < 0 })
}

// divide finds the sides: maximal sets of partisans none of which is against another.
func (r *Region) divide() {
	v := r.whole
	r.builds = Set{}
	for c := range v.In {
		if slices.ContainsFunc(r.Pairs, func(p Pair) bool { return v.w.takes(c, p) != 0 }) {
			r.builds[c] = true
		}
	}
	partisans := r.partisans()
	placed := Set{}
	for _, m := range partisans {
		if placed[m] {
			continue
		}
		side := []uint32{m}
		for _, p := range partisans {
			if p != m && !slices.ContainsFunc(side, func(q uint32) bool { return r.against(p, q) }) {
				side = append(side, p)
			}
		}
		out := Set{}
		for _, q := range side {
			placed[q] = true
			for c := range r.builds {
				if r.against(c, q) {
					out[c] = true
				}
			}
		}
		by := r.latest(side)
		r.Sides = append(r.Sides, &Side{r.nameOf(by), by, v.w.Look(v.Order, v.In.Minus(out))})
	}
	r.base = v.w.Look(v.Order, v.In.Minus(r.builds))
}

// partisans lists the live changes that build on one end of a pair and act in the region: the latest participants
// first, then those that a later one builds on, then the others; each by hash.
func (r *Region) partisans() (out []uint32) {
	v := r.whole
	for c := range r.builds {
		acts := slices.ContainsFunc(v.w.Changes[c].Hunks, func(h *Hunk) bool { return v.meet(h.Span, r.Hull) })
		if acts && v.live[c] && (v.w.Changes[c].Undoes == None || r.has(c)) {
			out = append(out, c)
		}
	}
	rank := func(c uint32) int {
		switch {
		case !r.has(c):
			return 2
		case r.surpassed(c, out):
			return 1
		}
		return 0
	}
	ranks := map[uint32]int{}
	for _, c := range out {
		ranks[c] = rank(c)
	}
	slices.SortFunc(out, func(a, b uint32) int {
		if ranks[a] != ranks[b] {
			return ranks[a] - ranks[b]
		}
		return int(v.w.Changes[a].Hash) - int(v.w.Changes[b].Hash)
	})
	return out
}

// surpassed reports whether a participant among others builds on c.
func (r *Region) surpassed(c uint32, others []uint32) bool {
	return slices.ContainsFunc(others, func(p uint32) bool { return r.has(p) && r.whole.w.Changes[p].Past[c] })
}

// latest are a side's latest participants.
func (r *Region) latest(side []uint32) (out []uint32) {
	for _, q := range side {
		if r.has(q) && !r.surpassed(q, side) {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b uint32) int { return int(r.whole.w.Changes[a].Hash) - int(r.whole.w.Changes[b].Hash) })
	return out
}

// nameOf names a side.
func (r *Region) nameOf(by []uint32) string {
	var names []string
	for _, q := range by {
		names = append(names, fmt.Sprintf("%x", r.whole.w.Changes[q].Hash))
	}
	slices.Sort(names)
	return strings.Join(names, "+")
}

// bound finds the block. If it hid a line that the whole set shows, one more side shows everything.
func (r *Region) bound() {
	v := r.whole
	sides := map[string]int{} // by class: how many sides show a member
	stands := map[Line]bool{}
	for _, s := range r.Sides {
		for x, ok := range s.view.shown {
			if ok {
				sides[v.w.class[x]]++
				stands[x] = true
			}
		}
	}
	r.shown, r.split = map[string]bool{}, map[string]bool{}
	for x, ok := range v.shown {
		if ok {
			r.shown[v.w.class[x]] = true
		}
	}
	lost := false
	r.First, r.Last = len(v.Order), -1
	for i := v.pos[r.Hull.L] + 1; i < v.pos[r.Hull.R]; i++ {
		x := v.Order[i]
		class := v.w.class[x]
		n := sides[class]
		if n != 0 && n != len(r.Sides) || (n != 0) != r.shown[class] {
			r.split[class] = true
			if stands[x] || v.shown[x] {
				r.First, r.Last = min(r.First, i), i
			}
		}
		lost = lost || v.shown[x] && n == 0
	}
	if r.First <= r.Last {
		r.First, r.Last = r.grow(r.First, -1), r.grow(r.Last, 1)
	}
	if lost {
		r.Sides = append(r.Sides, &Side{"all", nil, v})
	}
}

// grow takes in the base's own lines beside the block.
func (r *Region) grow(i, step int) int {
	v := r.whole
	for k := i + step; v.pos[r.Hull.L] < k && k < v.pos[r.Hull.R]; k += step {
		if x := v.Order[k]; r.base.shown[x] && !r.shown[v.w.class[x]] {
			i = k
		} else if v.live[x.Change] {
			break
		}
	}
	return i
}

// shows reports whether a side shows a line of the block. A line on which all sides agree stands where the whole set
// shows it.
func (r *Region) shows(side *View, x Line) bool {
	if k := r.whole.w.class[x]; !r.split[k] && r.shown[k] {
		return r.whole.shown[x]
	}
	return side.shown[x]
}

// lines is what a side, or the base, shows in the block.
func (r *Region) lines(side *View) (out []Line) {
	for _, x := range r.whole.Order[r.First : r.Last+1] {
		if r.shows(side, x) {
			out = append(out, x)
		}
	}
	return
}

// Texts is what each side shows in the block, in their order.
func (r *Region) Texts() (out [][]string) {
	for _, s := range r.Sides {
		var text []string
		for _, x := range r.lines(s.view) {
			text = append(text, r.whole.w.text[x])
		}
		out = append(out, text)
	}
	return
}

// Base is what the base shows in the block.
func (r *Region) Base() (out []string) {
	for _, x := range r.lines(r.base) {
		out = append(out, r.whole.w.text[x])
	}
	return
}
