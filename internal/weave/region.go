package weave

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// region is a maximal chain of open conflicts whose hulls overlap.
type region struct {
	v     *View
	pairs []Pair
	of    map[uint32]bool // the changes of its pairs
	at    span
	hull  change.Span
	lo    int // the runs in the hull are lo to hi-1
	hi    int
	// The runs in the hull and the twins of these elsewhere. The hull's first is runs[far].
	runs  []int
	far   int
	acts  []int // the sources with a hunk that meets the hull
	sides []side
	base  []bool // as a side's
	// The block is runs first to last: the least stretch that holds every run on which sides disagree. first > last: they
	// agree, and no block is shown.
	first, last int
	split       map[int]bool // runs on which sides disagree, by the first of their twins
	whole       map[int]bool // runs that the whole set shows, the same way
}

// side is what one party of a region shows.
type side struct {
	by, changes []uint32
	shown       []bool // of each of the region's runs
}

// chainOpen finds the regions: it chains the open conflicts.
func (v *View) chainOpen() error {
	if len(v.w.open) == 0 {
		return nil
	}
	hunks, err := v.l.places.ofPairs()
	if err != nil {
		return err
	}
	type opened struct {
		at   span
		pair int
	}
	all := make([]opened, 0, len(v.w.open))
	for i, p := range v.w.open {
		a, b := hunks.pair(p)
		all = append(all, opened{a.at.hull(b.at), i})
	}
	slices.SortStableFunc(all, func(a, b opened) int { return cmp.Compare(a.at.l, b.at.l) })
	for _, o := range all {
		p := v.w.open[o.pair]
		var r *region
		if n := len(v.regions); n > 0 && v.regions[n-1].at.meets(o.at) {
			r = v.regions[n-1]
		} else {
			r = &region{v: v, at: o.at}
			v.regions = append(v.regions, r)
		}
		a, b := hunks.pair(p)
		if len(r.pairs) == 0 {
			r.hull.L = a.parts[0].L
			if b.at.l < a.at.l {
				r.hull.L = b.parts[0].L
			}
		}
		if len(r.pairs) == 0 || o.at.r > r.at.r {
			r.hull.R = a.parts[0].R
			if b.at.r > a.at.r {
				r.hull.R = b.parts[0].R
			}
		}
		r.at = r.at.hull(o.at)
		r.pairs = append(r.pairs, p)
	}
	for _, r := range v.regions {
		slices.SortFunc(r.pairs, comparePairs)
	}
	return nil
}

// findActs finds who acts in which region.
func (v *View) findActs() error {
	hunks, err := v.l.places.locate(func(int) bool { return true })
	if err != nil {
		return err
	}
	for i := range hunks {
		h := &hunks[i]
		k, _ := v.w.source(h.change)
		first, _ := slices.BinarySearchFunc(v.regions, h.at.l, func(r *region, l place) int { return cmp.Compare(r.at.r, l) })
		for _, r := range v.regions[first:] {
			if !r.at.meets(h.at) {
				break
			}
			r.acts = append(r.acts, k)
		}
	}
	for _, r := range v.regions {
		r.extend()
	}
	return nil
}

// extend finds the region's runs, which are cut where hulls end, and whose pairs they are.
func (r *region) extend() {
	r.lo, r.hi = r.at.l.run(), r.at.r.run()
	for i := r.lo; i < r.hi; i++ {
		r.runs = append(r.runs, i)
		if t, ok := r.v.l.twins[i]; ok {
			r.runs = append(r.runs, r.v.l.members[t.first]...)
		}
	}
	slices.Sort(r.runs)
	r.runs = slices.Compact(r.runs)
	r.far, _ = slices.BinarySearch(r.runs, r.lo)
	r.acts = slices.Compact(r.acts)
	r.of = map[uint32]bool{}
	for _, p := range r.pairs {
		r.of[p[0].Change], r.of[p[1].Change] = true, true
	}
}

// name is that of the region's least hunk by hash, whatever else is open.
func (r *region) name() HunkID {
	least := r.pairs[0][0].Change
	for c := range r.of {
		if r.v.h.Less(c, least) {
			least = c
		}
	}
	best := HunkID{least, math.MaxUint32}
	for _, p := range r.pairs {
		for _, id := range p {
			if id.Change == least {
				best.Index = min(best.Index, id.Index)
			}
		}
	}
	return best
}

// bound finds the block. If it hid a run that the whole set shows, one more side shows everything.
func (r *region) bound() {
	v := r.v
	sides, stands := map[int]int{}, map[int]bool{} // by the first of its twins: how many sides show it
	for _, s := range r.sides {
		for at, ok := range s.shown {
			if ok {
				sides[v.l.first(r.runs[at])]++
				stands[r.runs[at]] = true
			}
		}
	}
	r.whole, r.split = map[int]bool{}, map[int]bool{}
	for _, i := range r.runs {
		if v.w.Runs[i].Shown() {
			r.whole[v.l.first(i)] = true
		}
	}
	hides := false
	r.first, r.last = len(v.w.Runs), -1
	for i := r.lo; i < r.hi; i++ {
		k := v.l.first(i)
		n := sides[k]
		if n != 0 && n != len(r.sides) || (n != 0) != r.whole[k] {
			r.split[k] = true
			if stands[i] || v.w.Runs[i].Shown() {
				r.first, r.last = min(r.first, i), i
			}
		}
		hides = hides || v.w.Runs[i].Shown() && n == 0
	}
	if r.first <= r.last {
		r.first, r.last = r.grow(r.first, -1), r.grow(r.last, 1)
	}
	if hides {
		all := side{shown: make([]bool, len(r.runs))}
		for at, i := range r.runs {
			all.shown[at] = v.w.Runs[i].Shown()
		}
		r.sides = append(r.sides, all)
	}
}

// grow takes in the base's own runs beside the block.
func (r *region) grow(i, step int) int {
	v := r.v
	for k := i + step; r.lo <= k && k < r.hi; k += step {
		if r.base[r.index(k)] && !r.whole[v.l.first(k)] {
			i = k
		} else if v.l.counts(v.w.Runs[k].Change, v.live) {
			break
		}
	}
	return i
}

// shows reports whether a side shows a run of the block. A run on which all sides agree stands where the whole set
// shows it.
func (r *region) shows(side []bool, i int) bool {
	if k := r.v.l.first(i); !r.split[k] && r.whole[k] {
		return r.v.w.Runs[i].Shown()
	}
	return side[r.index(i)]
}

// index gives where among the region's runs one of the hull is.
func (r *region) index(i int) int { return r.far + i - r.lo }

// stretches is what a side, or the base, shows in the block.
func (r *region) stretches(side []bool) (out []change.Stretch) {
	for i := r.first; i <= r.last; i++ {
		if run := &r.v.w.Runs[i]; r.shows(side, i) {
			out = appendStretch(out, change.Stretch{Change: run.Change, Off: run.Off, Len: run.Len})
		}
	}
	return out
}
