package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// naive is the definition, literal and quadratic: one element a line, and every hunk ever recorded kept whole.
type naive struct {
	lines []nline
	hunks []nhunk
	text  map[uint32]string // what each change inserted
}

type nline struct {
	c, off, n uint32
	dead      []uint32
	parent    change.Pos // the start of the parent line, or Start
	right     bool
}

type nhunk struct {
	c    uint32
	l, r change.Pos // starts of the lines at the gap's ends
	adds bool
}

func (n *naive) index(p change.Pos) int {
	if p == change.Start {
		return -1
	}
	for i, l := range n.lines {
		if l.c == p.Change && l.off == p.Off {
			return i
		}
	}
	return len(n.lines)
}

func (n *naive) shown() (out []nline) {
	for _, l := range n.lines {
		if len(l.dead) == 0 {
			out = append(out, l)
		}
	}
	return
}

func (n *naive) render() (s string) {
	for _, l := range n.shown() {
		s += n.text[l.c][l.off : l.off+l.n]
	}
	return
}

// record applies line edits (ranges of shown lines, replaced by new lines) as change c and gives its dependencies.
func (n *naive) record(c uint32, edits []lineEdit) map[uint32]bool {
	deps := map[uint32]bool{}
	shown := n.shown()
	at := func(i int) change.Pos {
		if i < 0 {
			return change.Start
		} else if i >= len(shown) {
			return change.End
		}
		return change.Pos{Change: shown[i].c, Off: shown[i].off}
	}
	own := func(p change.Pos) {
		if p.Change != change.Edge {
			deps[p.Change] = true
		}
	}
	var made []nhunk
	type insertion struct {
		after int
		lines []nline
	}
	var ins []insertion
	var kill []change.Pos
	for _, e := range edits {
		h := nhunk{c: c, l: at(e.a0 - 1), r: at(e.a1), adds: len(e.lines) > 0}
		own(h.l)
		own(h.r)
		for i := e.a0; i < e.a1; i++ {
			own(at(i))
			kill = append(kill, at(i))
		}
		if len(e.lines) > 0 {
			parent, right := h.l, true
			for _, l := range n.lines {
				if l.right && l.parent == h.l {
					next := n.lines[n.index(h.l)+1]
					parent, right = change.Pos{Change: next.c, Off: next.off}, false
				}
			}
			own(parent)
			in := insertion{after: n.index(h.l)}
			for _, t := range e.lines {
				l := nline{c: c, off: uint32(len(n.text[c])), n: uint32(len(t)), parent: parent, right: right}
				n.text[c] += t
				in.lines = append(in.lines, l)
				parent, right = change.Pos{Change: c, Off: l.off}, true
			}
			ins = append(ins, in)
		}
		for _, g := range n.hunks {
			if max(n.index(h.l), n.index(g.l)) < min(n.index(h.r), n.index(g.r)) && (h.adds || g.adds) {
				deps[g.c] = true
			}
		}
		made = append(made, h)
	}
	n.hunks = append(n.hunks, made...)
	for _, p := range kill {
		l := &n.lines[n.index(p)]
		l.dead = append(l.dead, c)
	}
	for i := len(ins) - 1; i >= 0; i-- {
		n.lines = slices.Insert(n.lines, ins[i].after+1, ins[i].lines...)
	}
	return deps
}

type lineEdit struct {
	a0, a1 int
	lines  []string
}
