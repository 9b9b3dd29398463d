package weave

import (
	"cmp"
	"maps"
	"slices"
)

// parties divides a region: which of the changes that matter there build on which end of which pair.
type parties struct {
	r     *region
	of    []uint32          // the pairs' changes, ascending
	ends  [][2]int          // the pairs, each two changes once, by their index in of
	reach map[int][]bool    // of sources: which of the pairs' changes are in their past, or they themselves
	takes map[int]takenEnds // of the sources that matter
}

// takenEnds has a bit for each of ends: which the one and which the other end of it is built on. Neither is set where a
// change builds on both or none.
type takenEnds struct{ one, other bits }

type bits []uint64

func (b bits) set(i int) { b[i/64] |= 1 << (i % 64) }

func (b bits) meets(c bits) bool {
	for i, v := range b {
		if v&c[i] != 0 {
			return true
		}
	}
	return false
}

func (b bits) add(c bits) {
	for i, v := range c {
		b[i] |= v
	}
}

// against reports whether two build on opposite ends of a pair.
func (t takenEnds) against(u takenEnds) bool { return t.one.meets(u.other) || t.other.meets(u.one) }

// divide finds the sides: maximal sets of partisans none of which is against another.
func (r *region) divide() {
	p := r.parties()
	partisans := p.partisans()
	placed := map[int]bool{}
	for _, m := range partisans {
		if placed[m] {
			continue
		}
		party, all := []int{m}, p.none()
		all.one.add(p.takes[m].one)
		all.other.add(p.takes[m].other)
		for _, q := range partisans {
			if q != m && !p.takes[q].against(all) {
				party = append(party, q)
				all.one.add(p.takes[q].one)
				all.other.add(p.takes[q].other)
			}
		}
		for _, q := range party {
			placed[q] = true
		}
		out := map[int]bool{}
		for c, t := range p.takes {
			if t.against(all) {
				out[c] = true
			}
		}
		r.sides = append(r.sides, side{p.latest(party), p.changes(party), r.v.l.shown(r.runs, r.v.l.without(out))})
	}
	out := map[int]bool{}
	for c := range p.takes {
		out[c] = true
	}
	r.base = r.v.l.shown(r.runs, r.v.l.without(out))
}

// parties finds what is built on what by all that can matter in the region: who acts there or in the twins of its runs,
// and who undoes.
func (r *region) parties() *parties {
	p := &parties{r: r, of: slices.Sorted(maps.Keys(r.of)), reach: map[int][]bool{}, takes: map[int]takenEnds{}}
	seen := map[[2]uint32]bool{}
	for _, pair := range r.pairs {
		e := [2]uint32{pair[0].Change, pair[1].Change}
		if !seen[e] {
			seen[e] = true
			p.ends = append(p.ends, [2]int{p.index(e[0]), p.index(e[1])})
		}
	}
	w := r.v.w
	for _, k := range r.acts {
		p.consider(k)
	}
	for i := range w.acts {
		if w.acts[i].undo != nil {
			p.consider(i)
		}
	}
	for _, i := range r.runs {
		for _, c := range append(slices.Clone(w.Members(w.Runs[i].Dead)), w.Runs[i].Change) {
			if k, ok := w.source(c); ok {
				p.consider(k)
			}
		}
		for _, s := range r.v.l.restores[i] {
			p.consider(s.source)
		}
	}
	for k, t := range p.takes {
		if !slices.ContainsFunc(t.one, nonzero) && !slices.ContainsFunc(t.other, nonzero) {
			delete(p.takes, k)
		}
	}
	return p
}

func nonzero(v uint64) bool { return v != 0 }

func (p *parties) none() takenEnds {
	n := (len(p.ends) + 63) / 64
	return takenEnds{make(bits, n), make(bits, n)}
}

// consider finds what a source builds on. An undoing stands where the undone stood.
func (p *parties) consider(k int) {
	if _, done := p.takes[k]; done {
		return
	}
	w := p.r.v.w
	t := p.none()
	undoes, own := w.acts[k].undo != nil, p.past(k)
	for i, e := range p.ends {
		past := own
		if undoes {
			past = p.past(p.standsFor(k, p.of[e[0]], p.of[e[1]]))
		}
		switch one, other := past[e[0]], past[e[1]]; {
		case one && !other:
			t.one.set(i)
		case other && !one:
			t.other.set(i)
		}
	}
	p.takes[k] = t
}

// standsFor is the source in whose stead an undoing stands before a pair: itself if it is of the pair.
func (p *parties) standsFor(k int, one, other uint32) int {
	w := p.r.v.w
	for w.acts[k].undo != nil && w.Sources[k].Change != one && w.Sources[k].Change != other {
		u, ok := w.source(*w.acts[k].undo)
		if !ok || u >= k {
			break
		}
		k = u
	}
	return k
}

// index gives where a pair's change is in of.
func (p *parties) index(c uint32) int {
	i, found := slices.BinarySearch(p.of, c)
	if !found {
		return -1
	}
	return i
}

func (p *parties) past(k int) []bool {
	past, ok := p.reach[k]
	if !ok {
		past = make([]bool, len(p.of))
		for i, c := range p.of {
			past[i] = p.r.v.h.Reaches(p.r.v.w.Sources[k].Change, c)
		}
		p.reach[k] = past
	}
	return past
}

// partisans lists the live changes that build on one end of a pair and act in the region: the latest participants
// first, then those that a later one builds on, then the others; each by hash.
func (p *parties) partisans() (out []int) {
	r := p.r
	w := r.v.w
	for _, k := range r.acts {
		if _, builds := p.takes[k]; builds && r.v.live(k) && (w.acts[k].undo == nil || r.of[w.Sources[k].Change]) {
			out = append(out, k)
		}
	}
	ranks := map[int]int{}
	for _, k := range out {
		switch {
		case !r.of[w.Sources[k].Change]:
			ranks[k] = 2
		case p.surpassed(k, out):
			ranks[k] = 1
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		if ranks[a] != ranks[b] {
			return ranks[a] - ranks[b]
		}
		return r.v.byHash(w.Sources[a].Change, w.Sources[b].Change)
	})
	return out
}

// surpassed reports whether a participant among others builds on source k.
func (p *parties) surpassed(k int, others []int) bool {
	s := p.r.v.w.Sources
	at := p.index(s[k].Change)
	return at >= 0 && slices.ContainsFunc(others, func(o int) bool { return o != k && p.r.of[s[o].Change] && p.past(o)[at] })
}

// changes lists a party, in the order of partisans.
func (p *parties) changes(party []int) (out []uint32) {
	rank := func(k int) int {
		switch {
		case !p.r.of[p.r.v.w.Sources[k].Change]:
			return 2
		case p.surpassed(k, party):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(party, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), p.r.v.byHash(p.r.v.w.Sources[a].Change, p.r.v.w.Sources[b].Change))
	})
	for _, k := range party {
		out = append(out, p.r.v.w.Sources[k].Change)
	}
	return out
}

// latest names a party by those of its participants that no other builds on.
func (p *parties) latest(party []int) (out []uint32) {
	for _, k := range party {
		if c := p.r.v.w.Sources[k].Change; p.r.of[c] && !p.surpassed(k, party) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, p.r.v.byHash)
	return out
}
