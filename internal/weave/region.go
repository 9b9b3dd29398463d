package weave

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// region is a maximal chain of open conflicts whose hulls overlap.
type region struct {
	v     *View
	pairs []Pair
	at    span
	hull  change.Span
	lo    int // the runs in the hull are lo to hi-1
	hi    int
	sides []side
	base  []bool // of each run, whether the base shows it
	// The block is runs first to last: the least stretch that holds every run on which sides disagree. first > last: they
	// agree, and no block is shown.
	first, last int
	// takes says of each source which end of each pair it builds on: -1, 1, or 0 for neither or both.
	takes [][]int8
	split map[int]bool // runs on which sides disagree, by the first of their twins
	whole map[int]bool // runs that the whole set shows, the same way
}

// side is what one party of a region shows.
type side struct {
	by    []uint32
	shown []bool // of each run
}

// findRegions chains the open conflicts.
func (v *View) findRegions(hunks map[HunkID]located) {
	for _, p := range v.w.open {
		a, b := hunks[p[0]], hunks[p[1]]
		n := &region{v: v, pairs: []Pair{p}, at: a.at.hull(b.at), hull: change.Span{L: a.parts[0].L, R: a.parts[0].R}}
		if b.at.l < a.at.l {
			n.hull.L = b.parts[0].L
		}
		if b.at.r > a.at.r {
			n.hull.R = b.parts[0].R
		}
		v.regions = append(v.regions, n)
	}
	slices.SortStableFunc(v.regions, func(a, b *region) int { return cmp.Compare(a.at.l, b.at.l) })
	n := 0
	for _, r := range v.regions {
		if n > 0 && v.regions[n-1].at.meets(r.at) {
			last := v.regions[n-1]
			last.pairs = append(last.pairs, r.pairs...)
			if r.at.r > last.at.r {
				last.hull.R = r.hull.R
			}
			last.at = last.at.hull(r.at)
			continue
		}
		v.regions[n] = r
		n++
	}
	v.regions = v.regions[:n]
	for _, r := range v.regions { // runs are cut where hulls end
		r.lo, r.hi = int(r.at.l>>32), int(r.at.r>>32)
	}
}

// name is that of the region's least hunk by hash, whatever else is open.
func (r *region) name() HunkID {
	best := r.pairs[0][0]
	for _, p := range r.pairs {
		for _, id := range p {
			if id.Change == best.Change && id.Index < best.Index || id.Change != best.Change && r.v.h.Less(id.Change, best.Change) {
				best = id
			}
		}
	}
	return best
}

func (r *region) has(c uint32) bool {
	return slices.ContainsFunc(r.pairs, func(p Pair) bool { return p[0].Change == c || p[1].Change == c })
}

// divide finds the sides: maximal sets of partisans none of which is against another.
func (r *region) divide() error {
	w := r.v.w
	r.takes = make([][]int8, len(w.Sources))
	builds := make([]bool, len(w.Sources))
	for i := range w.Sources {
		r.takes[i] = r.takesOf(i)
		builds[i] = slices.ContainsFunc(r.takes[i], func(t int8) bool { return t != 0 })
	}
	partisans, err := r.partisans(builds)
	if err != nil {
		return err
	}
	placed := map[int]bool{}
	for _, m := range partisans {
		if placed[m] {
			continue
		}
		party := []int{m}
		for _, p := range partisans {
			if p != m && !slices.ContainsFunc(party, func(q int) bool { return r.against(p, q) }) {
				party = append(party, p)
			}
		}
		out := make([]bool, len(w.Sources))
		for _, q := range party {
			placed[q] = true
			for c := range w.Sources {
				out[c] = out[c] || builds[c] && r.against(c, q)
			}
		}
		r.sides = append(r.sides, side{r.latest(party), r.v.l.shown(r.v.l.live(out))})
	}
	r.base = r.v.l.shown(r.v.l.live(builds))
	return nil
}

// takesOf finds for each pair which end source i builds on. An undoing stands where the undone stood.
func (r *region) takesOf(i int) []int8 {
	w := r.v.w
	out := make([]int8, len(r.pairs))
	for k, p := range r.pairs {
		c := i
		for w.acts[c].undo != nil && w.Sources[c].Change != p[0].Change && w.Sources[c].Change != p[1].Change {
			u, ok := w.source(w.acts[c].undo.Change)
			if !ok || u >= c {
				break
			}
			c = u
		}
		a, b := r.v.h.Reaches(w.Sources[c].Change, p[0].Change), r.v.h.Reaches(w.Sources[c].Change, p[1].Change)
		switch {
		case a && !b:
			out[k] = 1
		case b && !a:
			out[k] = -1
		}
	}
	return out
}

// against reports whether two sources build on opposite ends of a pair.
func (r *region) against(c, d int) bool {
	for k, t := range r.takes[c] {
		if t*r.takes[d][k] < 0 {
			return true
		}
	}
	return false
}

// partisans lists the live changes that build on one end of a pair and act in the region: the latest participants
// first, then those that a later one builds on, then the others; each by hash.
func (r *region) partisans(builds []bool) ([]int, error) {
	w := r.v.w
	hunks, err := r.v.l.places.locate(func(i int) bool {
		return builds[i] && r.v.live[i] && (w.acts[i].undo == nil || r.has(w.Sources[i].Change))
	})
	if err != nil {
		return nil, err
	}
	var out []int
	for i := range hunks {
		if k, _ := w.source(hunks[i].change); hunks[i].at.meets(r.at) && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	ranks := map[int]int{}
	for _, k := range out {
		switch {
		case !r.has(w.Sources[k].Change):
			ranks[k] = 2
		case r.surpassed(k, out):
			ranks[k] = 1
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		if ranks[a] != ranks[b] {
			return ranks[a] - ranks[b]
		}
		return r.v.byHash(w.Sources[a].Change, w.Sources[b].Change)
	})
	return out, nil
}

// surpassed reports whether a participant among others builds on source k.
func (r *region) surpassed(k int, others []int) bool {
	s := r.v.w.Sources
	return slices.ContainsFunc(others, func(o int) bool {
		return o != k && r.has(s[o].Change) && r.v.h.Reaches(s[o].Change, s[k].Change)
	})
}

// latest names a party by those of its participants that no other builds on.
func (r *region) latest(party []int) (out []uint32) {
	for _, k := range party {
		if c := r.v.w.Sources[k].Change; r.has(c) && !r.surpassed(k, party) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, r.v.byHash)
	return out
}

// bound finds the block. If it hid a run that the whole set shows, one more side shows everything.
func (r *region) bound() {
	v := r.v
	sides, stands := map[int]int{}, map[int]bool{} // by the first of its twins: how many sides show it
	for _, s := range r.sides {
		for i, ok := range s.shown {
			if ok {
				sides[v.l.first[i]]++
				stands[i] = true
			}
		}
	}
	r.whole, r.split = map[int]bool{}, map[int]bool{}
	for i, ok := range v.shown {
		if ok {
			r.whole[v.l.first[i]] = true
		}
	}
	hides := false
	r.first, r.last = len(v.w.Runs), -1
	for i := r.lo; i < r.hi; i++ {
		k := v.l.first[i]
		n := sides[k]
		if n != 0 && n != len(r.sides) || (n != 0) != r.whole[k] {
			r.split[k] = true
			if stands[i] || v.shown[i] {
				r.first, r.last = min(r.first, i), i
			}
		}
		hides = hides || v.shown[i] && n == 0
	}
	if r.first <= r.last {
		r.first, r.last = r.grow(r.first, -1), r.grow(r.last, 1)
	}
	if hides {
		r.sides = append(r.sides, side{nil, v.shown})
	}
}

// grow takes in the base's own runs beside the block.
func (r *region) grow(i, step int) int {
	v := r.v
	for k := i + step; r.lo <= k && k < r.hi; k += step {
		if r.base[k] && !r.whole[v.l.first[k]] {
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
	if k := r.v.l.first[i]; !r.split[k] && r.whole[k] {
		return r.v.shown[i]
	}
	return side[i]
}

// stretches is what a side, or the base, shows in the block.
func (r *region) stretches(side []bool) (out []change.Stretch) {
	for i := r.first; i <= r.last; i++ {
		if run := &r.v.w.Runs[i]; r.shows(side, i) {
			out = appendStretch(out, change.Stretch{Change: run.Change, Off: run.Off, Len: run.Len})
		}
	}
	return out
}
