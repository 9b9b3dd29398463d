package weave

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Edit replaces the shown bytes A0 to A1 by the bytes B0 to B1 of the new text. All lie on lines' edges.
type Edit struct{ A0, A1, B0, B1 int }

// Record expresses edits of what shows, ascending and with shown lines between them, as hunks in local numbers. deps holds
// every change that the hunks depend on, not reduced, in no order and with repeats. It is for a file without open
// conflicts: with some, View.Record does it. An edit that lies elsewhere gives ErrMismatch.
func (w *Weave) Record(edits []Edit) (hunks []change.Hunk, deps []uint32, err error) {
	shown, i := 0, 0 // shown: bytes that show before run i
	for _, e := range edits {
		// l: the run that holds the last shown byte before A0, at byte ln of it; -1 at the start.
		for i < len(w.Runs) && (!w.Runs[i].Shown() || shown+int(w.Runs[i].Len) < e.A0) {
			if w.Runs[i].Shown() {
				shown += int(w.Runs[i].Len)
			}
			i++
		}
		h := change.Hunk{InsLen: uint32(e.B1 - e.B0)}
		l, cut := -1, uint32(0)
		if e.A0 == 0 {
			h.L = change.Start
			i, shown = 0, 0
		} else if i == len(w.Runs) {
			return nil, nil, fmt.Errorf("%w: an edit at byte %d of %d", ErrMismatch, e.A0, shown)
		} else {
			l, cut = i, uint32(e.A0-shown)
			h.L = change.Pos{Change: w.Runs[l].Change, Off: w.Runs[l].Off + cut}
			deps = append(deps, w.Runs[l].Change)
		}
		if h.InsLen > 0 {
			w.place(&h, l, cut)
			if h.Left {
				deps = append(deps, h.Parent.Change)
			}
		}
		g := gap{w: w, adds: h.InsLen > 0, deps: deps}
		if err := g.walk(&h, l, cut, e.A1-e.A0); err != nil {
			return nil, nil, err
		}
		deps = g.deps
		if len(w.twins) > 0 {
			deps = w.deleteTwins(&h, deps)
		}
		hunks = append(hunks, h)
	}
	return hunks, deps, nil
}

// place hangs the inserted stretch: on the right of the gap's left line when that has no right child, else on the left of
// the element that follows it. cut is where in run l the left line ends.
func (w *Weave) place(h *change.Hunk, l int, cut uint32) {
	switch {
	case l < 0 && len(w.Runs) == 0, l >= 0 && cut == w.Runs[l].Len && !w.Runs[l].HasRight:
		return
	case l >= 0 && cut < w.Runs[l].Len:
		h.Parent = change.Pos{Change: w.Runs[l].Change, Off: w.Runs[l].Off + cut}
	default:
		h.Parent = change.Pos{Change: w.Runs[l+1].Change, Off: w.Runs[l+1].Off}
	}
	h.Left = true
}

// gap walks from a gap's left end over what it deletes to its right end, and gathers what the hunk depends on.
type gap struct {
	w    *Weave
	adds bool
	deps []uint32
}

func (g *gap) covered(c Cover) {
	g.deps = append(g.deps, g.w.Members(c.Add)...)
	if g.adds {
		g.deps = append(g.deps, g.w.Members(c.Del)...)
	}
}

// walk takes n shown bytes after byte cut of run l into the hunk's deletions and sets its right end.
func (g *gap) walk(h *change.Hunk, l int, cut uint32, n int) error {
	i := l
	if l < 0 || cut == g.w.Runs[l].Len {
		i, cut = l+1, 0
	}
	for ; i < len(g.w.Runs); i, cut = i+1, 0 {
		r := &g.w.Runs[i]
		if cut > 0 {
			g.covered(r.Inside)
		} else {
			g.covered(r.Before)
		}
		if !r.Shown() {
			continue
		}
		take := min(r.Len-cut, uint32(n))
		if take > 0 {
			n -= int(take)
			g.delete(h, change.Stretch{Change: r.Change, Off: r.Off + cut, Len: take})
			cut += take
		}
		if n == 0 && cut < r.Len {
			if take > 0 {
				g.covered(r.Inside)
			}
			h.R = change.Pos{Change: r.Change, Off: r.Off + cut}
			g.deps = append(g.deps, r.Change)
			return nil
		}
	}
	if n > 0 {
		return fmt.Errorf("%w: an edit ends %d bytes behind the end", ErrMismatch, n)
	}
	g.covered(g.w.Tail)
	h.R = change.End
	return nil
}

func (g *gap) delete(h *change.Hunk, s change.Stretch) {
	g.deps = append(g.deps, s.Change)
	h.Del = appendStretch(h.Del, s)
}

// appendStretch keeps stretches maximal.
func appendStretch(to []change.Stretch, s change.Stretch) []change.Stretch {
	if k := len(to); k > 0 && to[k-1].Change == s.Change && to[k-1].Off+to[k-1].Len == s.Off {
		to[k-1].Len += s.Len
		return to
	}
	return append(to, s)
}

// Latest gives every change that is among the latest over some place of the file, in no order and with repeats: all
// others that touched the file are in the past of one of them. An undoing may act nowhere, and is given too.
func (w *Weave) Latest() (out []uint32) {
	seen := map[Set]bool{}
	add := func(c Cover) {
		for _, s := range [2]Set{c.Add, c.Del} {
			if s != 0 && !seen[s] {
				seen[s] = true
				out = append(out, w.Members(s)...)
			}
		}
	}
	for i := range w.Runs {
		add(w.Runs[i].Before)
		add(w.Runs[i].Inside)
	}
	add(w.Tail)
	for i := range w.acts {
		if w.acts[i].undo != nil {
			out = append(out, w.Sources[i].Change)
		}
	}
	return out
}
