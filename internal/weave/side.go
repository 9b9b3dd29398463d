package weave

import (
	"maps"
	"slices"
)

// parties divides a region: which of the changes that matter there build on which end of which pair.
type parties struct {
	r     *region
	lines lines
	ends  [][2]uint32 // the pairs, each two changes once
	// Of each line, by how much of it is known: which of ends have their one or their other end there.
	one, other [][]bits
	reach      map[int][]int     // of sources: how much of each line they are, or have in their past
	takes      map[int]takenEnds // of the sources that matter
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
		by, changes := p.name(party)
		r.sides = append(r.sides, side{by, changes, r.v.l.shown(r.runs, r.v.l.without(out))})
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
	p := &parties{r: r, lines: linesOf(slices.Sorted(maps.Keys(r.of)), r.v.h), reach: map[int][]int{}, takes: map[int]takenEnds{}}
	p.findEnds()
	w := r.v.w
	for _, k := range r.acts {
		p.consider(k)
	}
	for i := range w.acts {
		if w.acts[i].undo != nil {
			p.consider(i)
		}
	}
	seen := map[uint32]bool{}
	owner := func(c uint32) {
		if seen[c] {
			return
		}
		seen[c] = true
		if k, ok := w.source(c); ok {
			p.consider(k)
		}
	}
	for _, i := range r.runs {
		owner(w.Runs[i].Change)
		for _, c := range w.Members(w.Runs[i].Dead) {
			owner(c)
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

// findEnds finds the ends of the pairs, and how they lie along the lines.
func (p *parties) findEnds() {
	seen := map[[2]uint32]bool{}
	for _, pair := range p.r.pairs {
		e := [2]uint32{pair[0].Change, pair[1].Change}
		if !seen[e] {
			seen[e] = true
			p.ends = append(p.ends, e)
		}
	}
	along := func(end int) [][]bits {
		out := make([][]bits, len(p.lines.of))
		for l, line := range p.lines.of {
			out[l] = make([]bits, len(line)+1)
			for i := range out[l] {
				out[l][i] = p.noBits()
			}
		}
		for i, e := range p.ends {
			at := p.lines.at[e[end]]
			out[at.line][at.index+1].set(i)
		}
		for l := range out {
			for i := 1; i < len(out[l]); i++ {
				out[l][i].add(out[l][i-1])
			}
		}
		return out
	}
	p.one, p.other = along(0), along(1)
}

func nonzero(v uint64) bool { return v != 0 }

func (p *parties) noBits() bits { return make(bits, (len(p.ends)+63)/64) }

func (p *parties) none() takenEnds { return takenEnds{p.noBits(), p.noBits()} }

// consider finds what a source builds on. An undoing stands where the undone stood.
func (p *parties) consider(k int) {
	if _, done := p.takes[k]; done {
		return
	}
	t := p.none()
	if p.r.v.w.acts[k].undo == nil {
		for l, n := range p.past(k) {
			t.one.add(p.one[l][n])
			t.other.add(p.other[l][n])
		}
		for i := range t.one {
			both := t.one[i] & t.other[i]
			t.one[i] &^= both
			t.other[i] &^= both
		}
		p.takes[k] = t
		return
	}
	for i, e := range p.ends {
		past := p.past(p.standsFor(k, e[0], e[1]))
		switch one, other := p.lines.within(past, e[0]), p.lines.within(past, e[1]); {
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

func (p *parties) past(k int) []int {
	past, ok := p.reach[k]
	if !ok {
		past = p.lines.past(p.r.v.w.Sources[k].Change)
		p.reach[k] = past
	}
	return past
}

// partisans lists the live changes that build on one end of a pair and act in the region, as inOrder does.
func (p *parties) partisans() (out []int) {
	r := p.r
	w := r.v.w
	for _, k := range r.acts {
		if _, builds := p.takes[k]; builds && r.v.live(k) && (w.acts[k].undo == nil || r.of[w.Sources[k].Change]) {
			out = append(out, k)
		}
	}
	p.inOrder(out)
	return out
}

// inOrder puts first the latest participants, then those that a later one builds on, then the others; each by hash. It
// gives how many are the latest.
func (p *parties) inOrder(of []int) (latest int) {
	w := p.r.v.w
	surpassed := p.surpassed(of)
	rank := make(map[int]int, len(of))
	for _, k := range of {
		switch {
		case !p.r.of[w.Sources[k].Change]:
			rank[k] = 2
		case surpassed(k):
			rank[k] = 1
		default:
			latest++
		}
	}
	slices.SortFunc(of, func(a, b int) int {
		if rank[a] != rank[b] {
			return rank[a] - rank[b]
		}
		return p.r.v.byHash(w.Sources[a].Change, w.Sources[b].Change)
	})
	return latest
}

// surpassed tells of a participant whether another one of some changes builds on it.
func (p *parties) surpassed(of []int) func(k int) bool {
	s := p.r.v.w.Sources
	// Of each line, how much of it the farthest one knows, who that is, and what the farthest but that one knows.
	most, who, next := make([]int, len(p.lines.of)), make([]int, len(p.lines.of)), make([]int, len(p.lines.of))
	for _, o := range of {
		if !p.r.of[s[o].Change] {
			continue
		}
		for l, n := range p.past(o) {
			if n > most[l] {
				most[l], who[l], next[l] = n, o, most[l]
			} else {
				next[l] = max(next[l], n)
			}
		}
	}
	return func(k int) bool {
		at, ok := p.lines.at[s[k].Change]
		if !ok {
			return false
		}
		if who[at.line] == k {
			return next[at.line] > at.index
		}
		return most[at.line] > at.index
	}
}

// name puts a party in order. It is named by those of its participants that no other builds on.
func (p *parties) name(party []int) (by, changes []uint32) {
	latest := p.inOrder(party)
	for _, k := range party {
		changes = append(changes, p.r.v.w.Sources[k].Change)
	}
	return changes[:latest:latest], changes
}
