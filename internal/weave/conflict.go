package weave

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// HunkID names a hunk: a change, and the hunk's index among those that the change has in this file.
type HunkID struct{ Change, Index uint32 }

// Pair is two hunks of concurrent changes that conflict. The first has the lower change number.
type Pair [2]HunkID

func pairOf(a, b HunkID) Pair {
	if a.Change > b.Change {
		a, b = b, a
	}
	return Pair{a, b}
}

func comparePairs(a, b Pair) int {
	for i := range a {
		if c := cmp.Or(cmp.Compare(a[i].Change, b[i].Change), cmp.Compare(a[i].Index, b[i].Index)); c != 0 {
			return c
		}
	}
	return 0
}

// Open lists the conflicts that nothing has settled, in order. The slice must not be changed.
func (w *Weave) Open() []Pair { return w.open }

// located is a hunk and the places that its gap takes in.
type located struct {
	hunk
	at span
}

// locate finds the hunks of the sources for which of is true.
func (p places) locate(of func(i int) bool) (out []located, err error) {
	for i := range p.w.Sources {
		if !of(i) {
			continue
		}
		damaged := p.w.eachHunk(i, func(h hunk) {
			at, e := p.span(h.parts[0].L, h.parts[0].R)
			if e != nil {
				err = e
			}
			out = append(out, located{h, at})
		})
		if err = cmp.Or(damaged, err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sweep calls f with every two hunks whose gaps meet.
func sweep(hunks []located, f func(a, b *located) error) error {
	slices.SortFunc(hunks, func(a, b located) int { return cmp.Compare(a.at.l, b.at.l) })
	var over []*located
	for i := range hunks {
		n := &hunks[i]
		over = slices.DeleteFunc(over, func(o *located) bool { return o.at.r < n.at.l })
		for _, o := range over {
			if !o.at.meets(n.at) {
				continue
			}
			if err := f(o, n); err != nil {
				return err
			}
		}
		over = append(over, n)
	}
	return nil
}

// clash reports whether two hunks that meet conflict if their changes are concurrent: one adds, and their effects differ. The
// undoing of a change that the other does not build on clashes with nothing of it, nor do two undoings of one.
func (w *Weave) clash(a, b *hunk, h History) bool {
	if !a.adds() && !b.adds() || w.sameEffect(a, b) {
		return false
	}
	if a.undo != nil && (b.undo != nil && *b.undo == *a.undo || !h.Reaches(b.change, *a.undo)) {
		return false
	}
	return b.undo == nil || h.Reaches(a.change, *b.undo)
}

// sameEffect reports whether two hunks are one edit made twice.
func (w *Weave) sameEffect(a, b *hunk) bool {
	if a.undo != nil || b.undo != nil {
		return a.undo != nil && b.undo != nil && *a.undo == *b.undo
	}
	if a.inserts() != b.inserts() || len(a.parts) != len(b.parts) || a.form() != b.form() {
		return false
	}
	return !a.inserts() || slices.ContainsFunc(w.twins, func(t twins) bool {
		return slices.Contains(t.at, change.Pos{Change: a.change, Off: a.off}) && slices.Contains(t.at, change.Pos{Change: b.change, Off: b.off})
	})
}

func (h *hunk) id() HunkID { return HunkID{h.change, uint32(h.index)} }

// openPairs finds all open conflicts, from all that was ever done.
func (w *Weave) openPairs(h History) error {
	w.open = nil
	l := looking{w: w, undoes: w.undoes()}
	p := w.places()
	hunks, err := p.locate(l.without(nil))
	if err != nil {
		return err
	}
	var solvers []solver
	for i := range hunks {
		for _, s := range hunks[i].parts[0].Solves {
			at, err := p.span(s.L, s.R)
			if err != nil {
				return err
			}
			solvers = append(solvers, solver{hunks[i].change, at, w.stood(hunks[i].change, h)})
		}
	}
	err = sweep(hunks, func(a, b *located) error {
		if h.Reaches(a.change, b.change) || h.Reaches(b.change, a.change) || !w.clash(&a.hunk, &b.hunk, h) {
			return nil
		}
		where := span{max(a.at.l, b.at.l), min(a.at.r, b.at.r)}
		if !slices.ContainsFunc(solvers, func(s solver) bool { return s.closes(a.change, b.change, where) }) {
			w.open = append(w.open, pairOf(a.id(), b.id()))
		}
		return nil
	})
	slices.SortFunc(w.open, comparePairs)
	return err
}

// solver is a stretch that a change solved.
type solver struct {
	change uint32
	at     span
	stood  func(c uint32) bool
}

// closes reports whether the solver knew of both changes, not undone, and solved a stretch where their hunks meet.
func (s *solver) closes(a, b uint32, where span) bool {
	return s.at.meets(where) && s.stood(a) && s.stood(b)
}

// stood tells of a change whether it was in the past of c and, among that, not undone.
func (w *Weave) stood(c uint32, h History) func(uint32) bool {
	past := func(d uint32) bool { return d != c && h.Reaches(c, d) }
	if !w.undoes() {
		return past
	}
	out := map[int]bool{}
	for i, s := range w.Sources {
		out[i] = !past(s.Change)
	}
	l := looking{w: w, undoes: true}
	live := l.without(out)
	return func(d uint32) bool { return l.counts(d, live) }
}

// unite finds the open conflicts of a union. Where nothing was undone, those that are new lie across the two sides, and are all
// open; one that both sides know is open if it is open in both.
func (m *merger) unite() error {
	if m.out.undoes() {
		return m.out.openPairs(m.h)
	}
	hunks, err := m.out.places().locate(func(i int) bool {
		c := m.out.Sources[i].Change
		return m.a.only[c] || m.b.only[c]
	})
	if err != nil {
		return err
	}
	err = sweep(hunks, func(a, b *located) error {
		if m.a.only[a.change] != m.a.only[b.change] && m.out.clash(&a.hunk, &b.hunk, m.h) {
			m.out.open = append(m.out.open, pairOf(a.id(), b.id()))
		}
		return nil
	})
	m.known(m.a.w, m.b.w)
	m.known(m.b.w, m.a.w)
	slices.SortFunc(m.out.open, comparePairs)
	m.out.open = slices.Compact(m.out.open)
	return err
}

// known takes in the open conflicts of one side that the other does not know closed.
func (m *merger) known(of, other *Weave) {
	for _, p := range of.open {
		_, first := other.source(p[0].Change)
		_, second := other.source(p[1].Change)
		_, open := slices.BinarySearchFunc(other.open, p, comparePairs)
		if open || !first || !second {
			m.out.open = append(m.out.open, p)
		}
	}
}

// close takes out the conflicts that the last source, in whose past they all lie, solved.
func (w *Weave) close(by []change.Hunk) error {
	p := w.places()
	var solved []span
	for i := range by {
		for _, s := range by[i].Solves {
			at, err := p.span(s.L, s.R)
			if err != nil {
				return err
			}
			solved = append(solved, at)
		}
	}
	hunks, err := p.ofPairs()
	if err != nil {
		return err
	}
	w.open = slices.DeleteFunc(slices.Clone(w.open), func(pair Pair) bool {
		a, b := hunks[pair[0]].at, hunks[pair[1]].at
		where := span{max(a.l, b.l), min(a.r, b.r)}
		return slices.ContainsFunc(solved, func(s span) bool { return s.meets(where) })
	})
	return nil
}

// ofPairs gives the hunks with open conflicts, and more of their changes.
func (p places) ofPairs() (map[HunkID]*located, error) {
	of := map[uint32]bool{}
	for _, pair := range p.w.open {
		of[pair[0].Change], of[pair[1].Change] = true, true
	}
	hunks, err := p.locate(func(i int) bool { return of[p.w.Sources[i].Change] })
	if err != nil {
		return nil, err
	}
	out := map[HunkID]*located{}
	for i := range hunks {
		out[hunks[i].id()] = &hunks[i]
	}
	for _, pair := range p.w.open {
		if out[pair[0]] == nil || out[pair[1]] == nil {
			return nil, ErrDamaged
		}
	}
	return out, nil
}
