package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// finish finds what a change recorded on a state depends on.
func (w *World) finish(s *State, c *Change) {
	deps := w.Needs(s, c)
	past := Set{}
	for d := range deps {
		past = past.Union(w.Changes[d].Past).With(d)
	}
	c.Know(past, w.Live(past))
	for _, d := range deps.Sorted() {
		if !slices.ContainsFunc(deps.Sorted(), func(e uint32) bool { return w.Changes[e].Past[d] }) {
			c.Deps = append(c.Deps, d)
		}
	}
}

// Needs names the effects of a change's hunks and finds what it depends on for them: the change that it undoes; the
// owners of all lines that it names, and the deleters whose deletions it takes back; every change with a hunk that
// meets one of its own where either adds; the participants of an open region whose hull a gap of its own meets.
func (w *World) Needs(s *State, c *Change) Set {
	deps := Set{}
	own := func(x Line) {
		if x.Change != None && x.Change != c.Num {
			deps[x.Change] = true
		}
	}
	if c.Undoes != None {
		deps[c.Undoes] = true
	}
	for _, h := range c.Hunks {
		slices.SortFunc(h.Del, func(a, b Line) int { return s.pos[a] - s.pos[b] })
		w.nameEffect(c, h)
		own(h.L)
		own(h.R)
		for _, n := range h.Ins {
			own(n.Parent)
		}
		for _, x := range h.Del {
			own(x)
		}
		for _, d := range h.Restores {
			own(d.Line)
			deps[d.By] = true
		}
		for q := range s.In {
			if slices.ContainsFunc(w.Changes[q].Hunks, func(g *Hunk) bool { return s.meet(h.Span, g.Span) && (h.Adds() || g.Adds()) }) {
				deps[q] = true
			}
		}
		for _, r := range s.Regions {
			if !w.loose.noRegion && s.meet(h.Span, r.Hull) {
				for _, p := range r.Pairs {
					deps[p[0].Change], deps[p[1].Change] = true, true
				}
			}
		}
	}
	return deps
}

// nameEffect says what a hunk does, in words that are equal for two that do the same; a line's class is the effect of
// its hunk and its place in it.
func (w *World) nameEffect(c *Change, h *Hunk) {
	h.effect = fmt.Sprint(h.Del, h.Restores, h.Solves)
	if c.Undoes != None {
		h.effect = fmt.Sprint("undo ", c.Undoes)
	} else if len(h.Ins) > 0 {
		h.effect = fmt.Sprint(h.Span, h.effect, w.words(h))
	}
	for i, n := range h.Ins {
		w.class[n.Line] = fmt.Sprint(h.effect, "#", i)
	}
}

// words is a hunk's inserted lines and where they hang, without the change's own number.
func (w *World) words(h *Hunk) string {
	var b strings.Builder
	at := map[Line]int{}
	for i, n := range h.Ins {
		at[n.Line] = i
		if k, own := at[n.Parent]; w.loose.literalTwin {
			fmt.Fprint(&b, i)
		} else if own {
			fmt.Fprint(&b, "~", k)
		} else {
			fmt.Fprint(&b, n.Parent, n.Right)
		}
		fmt.Fprintf(&b, "%q", w.text[n.Line])
	}
	return b.String()
}
