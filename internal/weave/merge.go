package weave

import "fmt"

// Merge gives the weave of the union of two sets of changes, each closed under dependency, with the conflicts that are open
// in it (Open). It costs in proportion to the runs of both, and only a copy when one set holds the other. Neither weave is
// changed. Weaves of different files, or damaged ones, give ErrMismatch or ErrDamaged.
func Merge(a, b *Weave, h History) (*Weave, error) {
	m := merger{h: h, a: cursor{w: a}, b: cursor{w: b}, out: &Weave{odd: a.odd || b.odd}}
	a.shareSets(m.out)
	m.sources()
	m.h = acrossSides{h, &m}
	switch {
	case len(m.b.only) == 0:
		return a.Clone(), nil
	case len(m.a.only) == 0:
		return b.Clone(), nil
	}
	m.number = make([]Set, len(b.sets)+1)
	m.unions, m.covers = map[[2]Set]Set{}, map[[2]Cover]Cover{}
	m.out.Runs = make([]Run, 0, len(a.Runs)+len(b.Runs))
	if err := m.walk(); err != nil {
		return nil, err
	}
	if err := m.twins(); err != nil {
		return nil, err
	}
	if err := m.out.settle(); err != nil {
		return nil, err
	}
	m.out.join()
	if err := m.unite(); err != nil {
		return nil, err
	}
	return m.out, nil
}

// merger walks two weaves side by side. What both hold stands in both in one order; what one holds goes in between.
type merger struct {
	h      History
	a, b   cursor
	out    *Weave
	number []Set // of b's sets in out; 0 while not known
	unions map[[2]Set]Set
	covers map[[2]Cover]Cover
	posA   places // of a, made when first needed
}

// acrossSides answers of two sides' changes what their sets tell: each is closed under dependency, so what only one has is in
// the past of no other's.
type acrossSides struct {
	History
	m *merger
}

func (s acrossSides) Reaches(a, b uint32) bool {
	switch {
	case a == b:
		return true
	case a < b, s.m.a.only[b] && !s.m.a.only[a], s.m.b.only[b] && !s.m.b.only[a]:
		return false
	}
	return s.History.Reaches(a, b)
}

// cursor walks the runs of one weave; a run that the other has cut is taken piece by piece.
type cursor struct {
	w       *Weave
	only    map[uint32]bool // the changes that the other does not have
	i       int
	rest    Run // what is left of run i, when a part was taken
	partial bool
}

func (c *cursor) done() bool { return c.i == len(c.w.Runs) }

func (c *cursor) run() *Run {
	if c.partial {
		return &c.rest
	}
	return &c.w.Runs[c.i]
}

// place is the cover of the place that the cursor stands at.
func (c *cursor) place() Cover {
	if c.done() {
		return c.w.Tail
	}
	return c.run().Before
}

// take moves over the next n bytes of the run.
func (c *cursor) take(n uint32) Run {
	r := *c.run()
	if n == r.Len {
		c.i++
		c.partial = false
		return r
	}
	left, right := r.split(n)
	c.rest, c.partial = right, true
	return left
}

// own counts the runs from the cursor on that only this weave has.
func (c *cursor) own() int {
	if c.partial {
		return 0
	}
	n := 0
	for n < len(c.w.Runs)-c.i && c.only[c.w.Runs[c.i+n].Change] {
		n++
	}
	return n
}

// sources unites the sources and finds which are one side's only.
func (m *merger) sources() {
	a, b := m.a.w, m.b.w
	m.a.only, m.b.only = map[uint32]bool{}, map[uint32]bool{}
	for i, j := 0, 0; i < len(a.Sources) || j < len(b.Sources); {
		switch {
		case j == len(b.Sources) || i < len(a.Sources) && a.Sources[i].Change < b.Sources[j].Change:
			m.source(a, i)
			m.a.only[a.Sources[i].Change] = true
			i++
		case i == len(a.Sources) || b.Sources[j].Change < a.Sources[i].Change:
			m.source(b, j)
			m.b.only[b.Sources[j].Change] = true
			j++
		default:
			m.source(a, i)
			i, j = i+1, j+1
		}
	}
}

func (m *merger) source(w *Weave, i int) {
	m.out.Sources = append(m.out.Sources, w.Sources[i])
	m.out.acts = append(m.out.acts, w.acts[i])
}

func (m *merger) walk() error {
	a, b := &m.a, &m.b
	for {
		na, nb := a.own(), b.own()
		switch {
		case na > 0 && nb > 0:
			if err := m.interleave(na, nb); err != nil {
				return err
			}
		case na > 0:
			m.takeOwn(a, b, na)
		case nb > 0:
			m.takeOwn(b, a, nb)
		case a.done() && b.done():
			m.out.Tail = m.cover(a.w.Tail, b.w.Tail)
			return nil
		default:
			if err := m.takeBoth(); err != nil {
				return err
			}
		}
	}
}

// takeOwn takes n runs that only x has, into a place of y.
func (m *merger) takeOwn(x, y *cursor, n int) {
	for range n {
		r := x.take(x.run().Len)
		if x == &m.a {
			r.Before, r.Inside = m.cover(r.Before, y.place()), m.cover(r.Inside, y.place())
		} else {
			r.Before, r.Inside = m.cover(y.place(), r.Before), m.cover(y.place(), r.Inside)
			r.Dead = m.fromB(r.Dead)
		}
		r.Turned = false
		m.out.Runs = append(m.out.Runs, r)
	}
}

func (m *merger) takeBoth() error {
	if m.a.done() || m.b.done() {
		return fmt.Errorf("%w: one weave goes on where the other ends", ErrMismatch)
	}
	n := min(m.a.run().Len, m.b.run().Len)
	r, o := m.a.take(n), m.b.take(n)
	if r.Change != o.Change || r.Off != o.Off || r.Head != o.Head || r.Left != o.Left || r.Parent != o.Parent {
		return fmt.Errorf("%w: two weaves differ in what both hold, at %d.%d and %d.%d", ErrMismatch, r.Change, r.Off, o.Change, o.Off)
	}
	r.HasRight = r.HasRight || o.HasRight
	r.Dead = m.union(r.Dead, o.Dead)
	r.Before, r.Inside = m.cover(r.Before, o.Before), m.cover(r.Inside, o.Inside)
	r.Turned = false
	m.out.Runs = append(m.out.Runs, r)
	return nil
}

// fromB gives a set of b its number in out. Those of a keep theirs.
func (m *merger) fromB(s Set) Set {
	if s != 0 && m.number[s] == 0 {
		m.number[s] = m.out.set(m.b.w.Members(s))
	}
	return m.number[s]
}

func (m *merger) union(a, b Set) Set {
	if b == 0 {
		return a
	}
	key := [2]Set{a, b}
	s, ok := m.unions[key]
	if !ok {
		s = m.out.set(union(m.a.w.Members(a), m.b.w.Members(b)))
		m.unions[key] = s
	}
	return s
}

// cover joins the covers of a place of a and of the place of b that it lies in.
func (m *merger) cover(a, b Cover) Cover {
	key := [2]Cover{a, b}
	c, ok := m.covers[key]
	if !ok {
		c = m.out.latest(union(m.a.w.Members(a.Add), m.b.w.Members(b.Add)), union(m.a.w.Members(a.Del), m.b.w.Members(b.Del)), m.h)
		m.covers[key] = c
	}
	return c
}
