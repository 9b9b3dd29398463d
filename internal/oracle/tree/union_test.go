package tree

import (
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// united checks that only pairs across the difference are new and all of those are open; that the open pairs, the acts that
// stand in a register and so its values follow from the parts; and that no line of a shown text vanishes.
func (h *history) united(a, b Set) {
	u := a.Union(b)
	h.seen["unions"]++
	va, vb, vu := h.Look(a), h.Look(b), h.Look(u)
	for _, p := range vu.Pairs {
		if !holds(a, p) && !holds(b, p) && !across(a, b, p[0].Change, p[1].Change) {
			h.fault("new pairs lie across", "%v", p)
		}
	}
	for _, p := range vu.TextPairs() {
		in := func(s Set) bool { return s[p.Pair[0].Change] && s[p.Pair[1].Change] }
		if !in(a) && !in(b) && !across(a, b, p.Pair[0].Change, p.Pair[1].Change) {
			h.fault("new pairs lie across", "%v", p)
		}
	}
	h.vanished(va, vu)
	h.vanished(vb, vu)
	if slices.ContainsFunc(u.Sorted(), func(c uint32) bool { return h.Changes[c].Undoes != None }) {
		return // an undoing may reopen and close
	}
	h.seen["unions without undoing"]++
	h.pairsOfUnion(va, vb, vu)
	h.textPairsOfUnion(va, vb, vu)
	for x := range vu.acts {
		for _, reg := range registers {
			want := map[Ref]bool{}
			for _, side := range [][2]*View{{va, vb}, {vb, va}} {
				there := refs(side[1].Standing(x, reg))
				for r := range refs(side[0].Standing(x, reg)) {
					if there[r] || !side[1].Set[r.Change] {
						want[r] = true
					}
				}
			}
			if got := refs(vu.Standing(x, reg)); !maps.Equal(got, want) {
				h.fault("what stands in a union follows from its parts", "%v %c: %v, want %v", x, reg, got, want)
			}
		}
	}
}

func refs(as []Act) map[Ref]bool {
	out := map[Ref]bool{}
	for _, a := range as {
		out[a.Ref] = true
	}
	return out
}

func holds(s Set, p Pair) bool { return s[p[0].Change] && s[p[1].Change] }

func across(a, b Set, c, d uint32) bool {
	apart := func(c, d uint32) bool { return a[c] && !b[c] && b[d] && !a[d] }
	return apart(c, d) || apart(d, c)
}

// pairsOfUnion: a pair is open if each of its ends stands on each side that has it.
func (h *history) pairsOfUnion(va, vb, vu *View) {
	open := map[Pair]bool{}
	for _, p := range vu.Pairs {
		open[p] = true
	}
	for p := range open {
		h.pairOfUnion(p, va, vb, true)
	}
	for _, p := range slices.Concat(va.Pairs, vb.Pairs) {
		h.pairOfUnion(p, va, vb, open[p])
	}
}

func (h *history) pairOfUnion(p Pair, va, vb *View, open bool) {
	want := true
	for _, side := range []*View{va, vb} {
		for _, r := range p {
			want = want && (!side.Set[r.Change] || !side.over(h.act(r), h.Life(p)))
		}
	}
	if want != open {
		h.fault("a union's open pairs follow from its parts", "%v", p)
	}
}

// textPairsOfUnion: open are the new ones, those open on one side and not known whole to the other, and those open on both.
func (h *history) textPairsOfUnion(va, vb, vu *View) {
	want := map[TextPair]bool{}
	for _, x := range h.Texts(vu.Set) {
		for _, p := range h.Text(x).See(vu.Set).Pairs() {
			if across(va.Set, vb.Set, p[0].Change, p[1].Change) {
				want[TextPair{x, p}] = true
			}
		}
	}
	for _, side := range [][2]*View{{va, vb}, {vb, va}} {
		there := textSet(side[1].TextPairs())
		for _, p := range side[0].TextPairs() {
			if there[p] || !side[1].Set[p.Pair[0].Change] || !side[1].Set[p.Pair[1].Change] {
				want[p] = true
			}
		}
	}
	if got := textSet(vu.TextPairs()); !maps.Equal(got, want) {
		h.fault("a union's open pairs in texts follow from its parts", "%v %v", got, want)
	}
}

// vanished checks what one side of a union showed: each file is there, or a counting act removed it; its body shows, or is
// in conflict, or no longer stands; of its text each line shows, or has a deleter, or is undone.
func (h *history) vanished(v, u *View) {
	for _, f := range v.Files {
		g := u.File(f.File)
		if g == nil {
			gone := func(a Act) bool { return a.Dead && u.live[a.Change] }
			if !slices.ContainsFunc(u.acts[f.File], gone) {
				h.fault("no file vanishes", "%v of %v in %v", f.File, v.Set.Sorted(), u.Set.Sorted())
			}
			continue
		}
		if f.Text() == nil || g.Text() == nil {
			continue
		}
		for _, x := range f.Text().Shown() {
			t := g.Text()
			if !t.Shows(x) && len(t.Deleters(x)) == 0 && t.Live(x.Change) &&
				!slices.ContainsFunc(t.Twins(x), func(y oracle.Line) bool { return t.Shows(y) }) {
				h.fault("no line vanishes", "%v of %v in %v", x, v.Set.Sorted(), u.Set.Sorted())
			}
		}
	}
}
