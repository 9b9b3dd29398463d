package oracle

import (
	"errors"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// ErrHalfBlock says that an edited text holds a part of a block.
var ErrHalfBlock = errors.New("the text holds part of a block")

// Record makes the change that turns what a set shows into want: nil when nothing differs. A block that stands in want
// stays open; one that does not is solved.
func (w *World) Record(s Set, want []string) (*Change, error) {
	st, c := w.Render(s), w.begin(None)
	err := w.Write(st, c, want)
	if err != nil || len(c.Hunks) == 0 {
		w.Changes = w.Changes[:c.Num]
		return nil, err
	}
	w.finish(st, c)
	return c, nil
}

// Write gives a change the hunks that turn what a state shows into want.
func (w *World) Write(st *State, c *Change, want []string) error {
	r := recorder{w: w, State: st, c: c, rightOf: map[Line]bool{}}
	for c := range st.In {
		for _, h := range w.Changes[c].Hunks {
			for _, n := range h.Ins {
				r.rightOf[n.Parent] = r.rightOf[n.Parent] || n.Right
			}
		}
	}
	c.Forget()
	if err := r.file(want); err != nil {
		return err
	}
	r.coalesce()
	return nil
}

type recorder struct {
	*State
	w       *World
	c       *Change
	rightOf map[Line]bool // has it a right child
	off     uint32
}

// file cuts the text at the blocks that stay.
func (r *recorder) file(want []string) error {
	l, items, text := change.Start, 0, 0
	for i, it := range r.Items {
		if it.Block == nil {
			continue
		}
		n := len(it.Lines)
		for j := text; j+n <= len(want); j++ {
			if slices.Equal(want[j:j+n], it.Lines) {
				if err := r.segment(l, r.Order[it.Block.First], r.Items[items:i], want[text:j]); err != nil {
					return err
				}
				l, items, text = r.Order[it.Block.Last], i+1, j+n
				break
			}
		}
	}
	return r.segment(l, change.End, r.Items[items:], want[text:])
}

// segment records what lies between two blocks that stay, or the file's ends.
func (r *recorder) segment(l, end Line, items []Item, want []string) error {
	if slices.ContainsFunc(want, r.isMark) {
		return ErrHalfBlock
	}
	var kept []Line
	var texts []string
	for _, it := range items {
		if it.Block == nil {
			kept = append(kept, it.Line)
		} else {
			r.solve(it.Block)
			kept = append(kept, r.candidates(it.Block)...)
		}
	}
	for _, x := range kept {
		texts = append(texts, r.w.text[x])
	}
	h := &Hunk{Span: Span{L: l}}
	flush := func(at Line) {
		if h.R = at; len(h.Ins)+len(h.Del)+len(h.Restores) > 0 {
			r.c.Hunks = append(r.c.Hunks, h)
		}
		h = &Hunk{Span: Span{L: at}}
	}
	var stays []int
	if r.w.Align != nil {
		want, stays = r.w.Align(texts, want)
	} else {
		stays = Match(texts, want)
	}
	after, next := l, 0
	for i, to := range stays {
		x := kept[i]
		if to < 0 {
			if r.shown[x] { // with its twins, even those that do not count just now
				for _, t := range r.Order {
					if r.w.class[t] == r.w.class[x] {
						h.Del = append(h.Del, t)
					}
				}
			}
			continue
		}
		r.insert(h, after, want[next:to])
		after, next = x, to+1
		if r.shown[x] {
			flush(x)
			continue
		}
		for _, d := range r.dead[x] {
			h.Restores = append(h.Restores, Deletion{x, d})
		}
	}
	r.insert(h, after, want[next:])
	flush(end)
	return nil
}

func (r *recorder) solve(b *Region) {
	r.c.Hunks = append(r.c.Hunks, &Hunk{Span: b.Hull, Solves: []Span{b.Hull}})
	for _, p := range b.Pairs {
		r.c.named[p] = true
	}
}

// candidates is the lines of a block that the new text may keep: those that show, and those that some side shows and
// one deleted, unless a twin could be shown in their place.
func (r *recorder) candidates(b *Region) (out []Line) {
	for _, x := range r.Order[b.First : b.Last+1] {
		onSide := slices.ContainsFunc(b.Sides, func(s *Side) bool { return b.shows(s.view, x) })
		if r.shown[x] || onSide && r.dead[x] != nil && r.live[x.Change] && !r.twinned(x) {
			out = append(out, x)
		}
	}
	return
}

// twinned reports whether another line of x's class is in the set.
func (r *recorder) twinned(x Line) bool {
	return slices.ContainsFunc(r.Order, func(y Line) bool { return y != x && r.w.class[y] == r.w.class[x] })
}

// insert hangs lines after a line: as its right child when it has none, else on the left of what follows it.
func (r *recorder) insert(h *Hunk, after Line, lines []string) {
	n := Node{Parent: after, Right: true}
	if r.rightOf[after] {
		n = Node{Parent: r.Order[r.pos[after]+1]}
	}
	for _, t := range lines {
		n.Line = Line{Change: r.c.Num, Off: r.off}
		r.off += uint32(len(t))
		r.w.text[n.Line] = t
		h.Ins = append(h.Ins, n)
		n = Node{Parent: n.Line, Right: true}
	}
}

// coalesce makes one of hunks that overlap: an edit inside the hull of a region that the same change solves.
func (r *recorder) coalesce() {
	slices.SortStableFunc(r.c.Hunks, func(a, b *Hunk) int { return r.pos[a.L] - r.pos[b.L] })
	var out []*Hunk
	for _, h := range r.c.Hunks {
		if n := len(out); n == 0 || !r.meet(out[n-1].Span, h.Span) {
			out = append(out, h)
			continue
		}
		o := out[len(out)-1]
		o.Span = r.hull(o.Span, h.Span)
		o.Ins, o.Del, o.Restores, o.Solves = append(o.Ins, h.Ins...), append(o.Del, h.Del...), append(o.Restores, h.Restores...), append(o.Solves, h.Solves...)
	}
	r.c.Hunks = out
}

// Rollback records that p is undone.
func (w *World) Rollback(s Set, p uint32) *Change {
	st, c := w.Render(s), w.begin(p)
	w.Undo(st, c)
	w.finish(st, c)
	return c
}

// Undo gives a change that undoes another its hunks, which only say where it acts.
func (w *World) Undo(st *State, c *Change) {
	after := w.Look(st.Order, st.In.With(c.Num))
	touched := w.touched(c.Undoes)
	c.Hunks = nil
	h, used := &Hunk{Span: Span{L: change.Start}}, false
	for _, x := range append(slices.Clip(st.Order), change.End) {
		moved := st.shown[x] != after.shown[x]
		if x == change.End || st.shown[x] && !moved && !touched[x] {
			if h.R = x; used {
				c.Hunks = append(c.Hunks, h)
			}
			h, used = &Hunk{Span: Span{L: x}}, false
		} else if touched[x] || moved {
			used = true
			h.Gain = h.Gain || moved && after.shown[x]
		}
	}
}

// touched is the lines that a change names, or what it undoes does.
func (w *World) touched(p uint32) map[Line]bool {
	out := map[Line]bool{}
	for q := p; q != None; q = w.Changes[q].Undoes {
		for _, h := range w.Changes[q].Hunks {
			for _, n := range h.Ins {
				out[n.Line] = true
			}
			for _, x := range h.Del {
				out[x] = true
			}
			for _, d := range h.Restores {
				out[d.Line] = true
			}
		}
	}
	return out
}
