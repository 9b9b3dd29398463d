package oracle

import "slices"

// Act names a hunk: a change and the hunk's index in it.
type Act struct {
	Change uint32
	Hunk   int
}

// Pair is two hunks that conflict; the first change has the smaller number.
type Pair [2]Act

func pairOf(a, b Act) Pair {
	if a.Change > b.Change {
		a, b = b, a
	}
	return Pair{a, b}
}

func (w *World) hunk(a Act) *Hunk { return w.Changes[a.Change].Hunks[a.Hunk] }

// Names reports whether one of the pair's changes is c.
func (p Pair) Names(c uint32) bool { return p[0].Change == c || p[1].Change == c }

// clash reports whether two hunks conflict if their changes are concurrent: they meet, one adds, and their effects
// differ. The undoing of a change that the other does not build on clashes with nothing of it, nor do two undoings of one.
func (v *View) clash(p, q Act) bool {
	h, g := v.w.hunk(p), v.w.hunk(q)
	if !v.meet(h.Span, g.Span) || !h.Adds() && !g.Adds() || h.effect == g.effect {
		return false
	}
	up, uq := v.w.Changes[p.Change].Undoes, v.w.Changes[q.Change].Undoes
	if up != None && (up == uq || !v.w.Reaches(q.Change, up)) {
		return false
	}
	return uq == None || v.w.Reaches(p.Change, uq)
}

// Pairs is every conflict pair, closed ones too.
func (v *View) Pairs() (out []Pair) {
	live := v.live.Sorted()
	for i, q := range live {
		for _, p := range live[:i] {
			if v.w.Concurrent(p, q) {
				out = append(out, v.between(p, q)...)
			}
		}
	}
	return
}

// between is the clashing hunks of two changes.
func (v *View) between(p, q uint32) (out []Pair) {
	for i := range v.w.Changes[p].Hunks {
		for j := range v.w.Changes[q].Hunks {
			if a, b := (Act{p, i}), (Act{q, j}); v.clash(a, b) {
				out = append(out, pairOf(a, b))
			}
		}
	}
	return
}

// closed reports whether a live change that had both of the pair's in its past, not undone, solved a stretch where
// their gaps meet.
func (v *View) closed(p Pair) bool {
	where := v.shared(v.w.hunk(p[0]).Span, v.w.hunk(p[1]).Span)
	found := false
	v.eachLive(func(c uint32, h *Hunk) {
		stood := v.w.Changes[c].stood
		found = found || stood[p[0].Change] && stood[p[1].Change] &&
			slices.ContainsFunc(h.Solves, func(s Span) bool { return v.meet(s, where) })
	})
	return found
}

// Open is the pairs that nothing closed.
func (v *View) Open() []Pair { return slices.DeleteFunc(v.Pairs(), v.closed) }
