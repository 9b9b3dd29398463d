package weave

import (
	"cmp"
	"slices"
)

// sweep calls f with every two hunks, one on each side, whose gaps meet.
func sweep(hunks []located, side func(*located) bool, f func(a, b *located)) {
	slices.SortFunc(hunks, func(a, b located) int { return cmp.Compare(a.at.l, b.at.l) })
	var over [2][]*located
	for i := range hunks {
		n, own := &hunks[i], 0
		if side(n) {
			own = 1
		}
		far := &over[1-own]
		*far = slices.DeleteFunc(*far, func(o *located) bool { return o.at.r < n.at.l })
		for _, o := range *far {
			if o.at.meets(n.at) {
				f(o, n)
			}
		}
		over[own] = append(over[own], n)
	}
}

// unite finds the open conflicts of a union. Those that are new lie across the two sides, and are all open if their changes
// count; one that both sides know is open if it is open in both, after what undoings on the other side do to it.
func (m *merger) unite() error {
	count := func(int) bool { return true }
	if m.out.undoes() {
		count = (&looking{w: m.out, undoes: true}).without(nil)
	}
	hunks, err := m.out.places().locate(func(i int) bool {
		c := m.out.Sources[i].Change
		return (m.a.only[c] || m.b.only[c]) && count(i)
	})
	if err != nil {
		return err
	}
	sweep(hunks, func(h *located) bool { return m.a.only[h.change] }, func(a, b *located) {
		if m.out.clash(&a.hunk, &b.hunk, m.h) {
			m.out.open = append(m.out.open, pairOf(a.id(), b.id()))
		}
	})
	var open [2][]Pair
	for i, w := range [2]*Weave{m.a.w, m.b.w} {
		open[i] = w.open
		if m.out.undoes() {
			after := func(k int) bool {
				n, ok := m.out.source(w.Sources[k].Change)
				return ok && count(n)
			}
			if open[i], err = w.reopen((&looking{w: w, undoes: w.undoes()}).without(nil), after, m.h); err != nil {
				return err
			}
		}
	}
	m.known(open[0], open[1], m.b.w)
	m.known(open[1], open[0], m.a.w)
	slices.SortFunc(m.out.open, comparePairs)
	m.out.open = slices.Compact(m.out.open)
	return nil
}

// known takes in the open conflicts of one side that the other does not know closed.
func (m *merger) known(of, also []Pair, other *Weave) {
	for _, p := range of {
		_, first := other.source(p[0].Change)
		_, second := other.source(p[1].Change)
		_, open := slices.BinarySearchFunc(also, p, comparePairs)
		if open || !first || !second {
			m.out.open = append(m.out.open, p)
		}
	}
}
