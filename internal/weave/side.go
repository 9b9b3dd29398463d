package weave

import (
	"cmp"
	"maps"
	"slices"
)

// parties divides a region: which of the changes that matter there build on which end of which pair.
type parties struct {
	r     *region
	lines lines
	ends  [][2]uint32 // the pairs, each two changes once, less those that tell nothing more
	// Of each line, by how much of it is known: which of ends have their one or their other end there.
	one, other [][]bits
	all        []party // of what was considered
	at         []int32 // of sources: 1 + where in all; shared by a view's regions, so put back
	out        []bool  // of sources, for one question at a time; shared the same way
	room       bits    // for bits to come
}

// party is what one source knows and builds on.
type party struct {
	source int
	past   []int // how much of each line it is, or has in its past
	takes  takenEnds
	asked  bool // takes is known
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

func (b bits) some() bool { return slices.ContainsFunc(b, func(v uint64) bool { return v != 0 }) }

func (b bits) add(c bits) {
	for i, v := range c {
		b[i] |= v
	}
}

func (t takenEnds) some() bool { return t.one.some() || t.other.some() }

func (t takenEnds) add(u takenEnds) {
	t.one.add(u.one)
	t.other.add(u.other)
}

// against reports whether two build on opposite ends of a pair.
func (t takenEnds) against(u takenEnds) bool { return t.one.meets(u.other) || t.other.meets(u.one) }

// divide finds the sides: maximal sets of partisans none of which is against another.
func (r *region) divide() {
	p := r.parties()
	partisans := p.partisans()
	placed := make(map[int]bool, len(partisans))
	for _, m := range partisans {
		if placed[m] {
			continue
		}
		with, all := []int{m}, p.none()
		all.add(p.takes(m))
		for _, q := range partisans {
			if t := p.takes(q); q != m && !t.against(all) {
				with = append(with, q)
				all.add(t)
			}
		}
		for _, q := range with {
			placed[q] = true
		}
		by, changes := p.name(with)
		shown := p.shown(func(o *party) bool { return o.takes.against(all) })
		r.sides = append(r.sides, side{by, changes, shown})
	}
	r.base = p.shown(func(o *party) bool { return o.takes.some() })
	for i := range p.all {
		p.at[p.all[i].source] = 0
	}
}

// shown tells of the region's runs whether they show without some of what was considered.
func (p *parties) shown(without func(*party) bool) []bool {
	for i := range p.all {
		o := &p.all[i]
		p.out[o.source] = without(o)
	}
	shown := p.r.v.l.shown(p.r.runs, p.r.v.l.without(p.out))
	for i := range p.all {
		p.out[p.all[i].source] = false
	}
	return shown
}

// parties finds what is built on what by all that can matter in the region: who acts there or in the twins of its runs,
// and who undoes.
func (r *region) parties() *parties {
	v, w := r.v, r.v.w
	if v.at == nil {
		v.at, v.out = make([]int32, len(w.Sources)), make([]bool, len(w.Sources))
		for i := range w.acts {
			if w.acts[i].undo != nil {
				v.undoings = append(v.undoings, i)
			}
		}
	}
	p := &parties{r: r, lines: linesOf(slices.Sorted(maps.Keys(r.of)), v.h), at: v.at, out: v.out}
	for _, k := range r.acts {
		p.consider(k)
	}
	for _, i := range v.undoings {
		p.consider(i)
	}
	var deaths Set
	for _, i := range r.runs {
		if k := int(v.l.places.owners[i]); k < len(w.Sources) {
			p.consider(k)
		}
		if d := w.Runs[i].Dead; d != deaths {
			deaths = d
			for _, c := range w.Members(d) {
				if k, ok := w.source(c); ok {
					p.consider(k)
				}
			}
		}
		for _, s := range v.l.restores[i] {
			p.consider(s.source)
		}
	}
	p.ends = p.fewest(p.findEnds())
	p.layEnds()
	for i := range p.all {
		p.takes(p.all[i].source)
	}
	return p
}

// consider takes in a source, and what it may stand for.
func (p *parties) consider(k int) {
	for {
		p.party(k)
		u := p.r.v.w.acts[k].undo
		if u == nil {
			return
		}
		n, ok := p.r.v.w.source(*u)
		if !ok || n >= k {
			return
		}
		k = n
	}
}

// findEnds gives the pairs' changes, each two once.
func (p *parties) findEnds() [][2]uint32 {
	ends := make([][2]uint32, 0, len(p.r.pairs))
	for _, pair := range p.r.pairs {
		e := [2]uint32{pair[0].Change, pair[1].Change}
		if n := len(ends); n == 0 || ends[n-1] != e {
			ends = append(ends, e)
		}
	}
	slices.SortFunc(ends, func(a, b [2]uint32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(ends)
}

// layEnds finds how the ends of the pairs lie along the lines.
func (p *parties) layEnds() {
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

func (p *parties) noBits() bits {
	n := (len(p.ends) + 63) / 64
	if len(p.room) < n {
		p.room = make(bits, 64*n)
	}
	b := p.room[:n:n]
	p.room = p.room[n:]
	return b
}

func (p *parties) none() takenEnds { return takenEnds{p.noBits(), p.noBits()} }

// party gives where in all a source is.
func (p *parties) party(k int) int {
	if p.at[k] == 0 {
		p.all = append(p.all, party{source: k, past: p.lines.past(p.r.v.w.Sources[k].Change)})
		p.at[k] = int32(len(p.all))
	}
	return int(p.at[k] - 1)
}

func (p *parties) past(k int) []int { return p.all[p.party(k)].past }

// takes finds what a source builds on. An undoing stands where the undone stood.
func (p *parties) takes(k int) takenEnds {
	at := p.party(k)
	if p.all[at].asked {
		return p.all[at].takes
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
	} else {
		for i, e := range p.ends {
			past := p.past(p.standsFor(k, e[0], e[1]))
			switch one, other := p.lines.within(past, e[0]), p.lines.within(past, e[1]); {
			case one && !other:
				t.one.set(i)
			case other && !one:
				t.other.set(i)
			}
		}
	}
	p.all[at].takes, p.all[at].asked = t, true
	return t
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

// partisans lists the live changes that build on one end of a pair and act in the region, as inOrder does.
func (p *parties) partisans() (out []int) {
	r := p.r
	w := r.v.w
	for _, k := range r.acts {
		if p.takes(k).some() && r.v.live(k) && (w.acts[k].undo == nil || r.of[w.Sources[k].Change]) {
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
			return next[at.line] > int(at.index)
		}
		return most[at.line] > int(at.index)
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
