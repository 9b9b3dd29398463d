package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// The laws can fail: with one definition made looser, histories break some. Each change is recorded as defined and then
// made what the looser wording says of it.
func TestLawsFindLooserDefinitions(t *testing.T) {
	for name, loosen := range map[string]func(l *looser, w *World, c *Change, on Set){
		"no dependency on an open region":    noRegion,
		"twins whatever parent and side":     looseTwins,
		"an undoing that copies the inverse": inverseCopy,
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range int64(4000) {
				if (&looser{loosen: loosen}).broken(seed, 12) {
					t.Logf("found in history %d", seed)
					return
				}
			}
			t.Error("no law was broken")
		})
	}
}

// looser makes a definition looser.
type looser struct {
	loosen  func(l *looser, w *World, c *Change, on Set)
	inverts map[uint32]uint32 // of a change that copies another's inverse, that other
}

// broken runs a history as TestLaws does, each change of it loosened, and reports whether it broke a law.
func (l *looser) broken(seed int64, steps int) bool {
	l.inverts = map[uint32]uint32{}
	silent := new(testing.T)
	h := &history{Story: NewStory(seed), t: silent, seen: &coverage{}}
	for range steps {
		e := h.Next()
		if e.Kind == Edited && len(e.After) > len(e.Before) || e.Kind == RolledBack {
			l.loosen(l, h.World, h.Changes[e.Change], e.Before)
		}
		switch e.Kind {
		case Edited:
			h.edited(e)
		case Pulled:
			h.united(e.Before, e.Pulled)
		case Unrecorded:
			h.unrecorded(e)
		}
		h.set(e.After)
		l.undoings(h, e.After)
		if silent.Failed() {
			return true
		}
	}
	return false
}

// undoings checks the law of that name for undoings that are copies of the inverse: with what builds on neither, a change and
// its undoing show nothing.
func (l *looser) undoings(h *history, s Set) {
	for c, p := range l.inverts {
		if !s[c] || !s[p] {
			continue
		}
		rest := Set{}
		for x := range s {
			if x == p || x == c || !h.Reaches(x, p) && !h.Reaches(x, c) {
				rest[x] = true
			}
		}
		gone := rest.Minus(Of(p, c))
		if h.Closed(rest) && h.Closed(gone) && !slices.Equal(h.Show(rest), h.Show(gone)) {
			h.t.Fail()
		}
	}
}

// again finds the dependencies of a change anew.
func again(w *World, c *Change, st *State) {
	c.Past, c.Deps = Set{}, nil
	w.finish(st, c)
}

// Recorded twice over as defined, no change breaks a law.
func TestLawsHoldWhereNothingIsLooser(t *testing.T) {
	l := looser{loosen: func(_ *looser, w *World, c *Change, on Set) { again(w, c, w.Render(on)) }}
	for seed := range int64(400) {
		if l.broken(seed, 12) {
			t.Fatalf("history %d", seed)
		}
	}
}

func noRegion(_ *looser, w *World, c *Change, on Set) {
	st := w.Render(on)
	st.Regions = nil
	again(w, c, st)
}

func looseTwins(_ *looser, w *World, c *Change, _ Set) {
	for _, h := range c.Hunks {
		if len(h.Ins) == 0 {
			continue
		}
		var text strings.Builder
		for _, n := range h.Ins {
			fmt.Fprintf(&text, "%q", w.text[n.Line])
		}
		h.effect = fmt.Sprint(h.Span, h.Del, h.Restores, h.Solves, text.String())
		for i, n := range h.Ins {
			w.class[n.Line] = fmt.Sprint(h.effect, "#", i)
		}
	}
}

// inverseCopy deletes what the undone change inserted or restored and shows, and takes back its deletions.
func inverseCopy(l *looser, w *World, c *Change, on Set) {
	if c.Undoes == None {
		return
	}
	p := w.Changes[c.Undoes]
	st := w.Render(on)
	del, res := Set{}, Set{} // positions
	for _, h := range p.Hunks {
		for _, n := range h.Ins {
			if st.shown[n.Line] {
				del[uint32(st.pos[n.Line])] = true
			}
		}
		for _, d := range h.Restores {
			if st.shown[d.Line] {
				del[uint32(st.pos[d.Line])] = true
			}
		}
		for _, x := range h.Del {
			if slices.Contains(st.dead[x], p.Num) {
				res[uint32(st.pos[x])] = true
			}
		}
	}
	c.Undoes, c.Hunks = None, nil
	l.inverts[c.Num] = p.Num
	h := &Hunk{Span: Span{L: change.Start}}
	for i, x := range append(slices.Clip(st.Order), change.End) {
		switch at := uint32(i); {
		case x == change.End || st.shown[x] && !del[at]:
			if h.R = x; len(h.Del)+len(h.Restores) > 0 {
				c.Hunks = append(c.Hunks, h)
			}
			h = &Hunk{Span: Span{L: x}}
		case del[at]:
			h.Del = append(h.Del, x)
		case res[at]:
			h.Restores = append(h.Restores, Deletion{x, p.Num})
		}
	}
	again(w, c, st)
}
