package oracle

import (
	"slices"
	"strings"
)

// Item is a shown line, or an open block.
type Item struct {
	Line  Line
	Block *Region
	Lines []string
}

// State is a set of changes as a person sees it.
type State struct {
	*View
	Regions []*Region
	Items   []Item
}

// Render shows a set.
func (w *World) Render(s Set) *State {
	v := w.See(s)
	st := &State{View: v, Regions: v.Regions()}
	blocks := map[int]*Region{}
	for _, r := range st.Regions {
		if r.First <= r.Last {
			blocks[r.First] = r
		}
	}
	for i := 0; i < len(v.Order); i++ {
		if r := blocks[i]; r != nil {
			st.Items = append(st.Items, Item{Block: r, Lines: r.block()})
			i = r.Last
		} else if x := v.Order[i]; v.shown[x] {
			st.Items = append(st.Items, Item{Line: x, Lines: []string{w.text[x]}})
		}
	}
	return st
}

// The marks that begin the lines around a block's parts.
var marks = [...]string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"}

// isMark reports whether a line is a mark of one of the state's blocks.
func (s *State) isMark(line string) bool {
	line = strings.TrimSuffix(line, "\n")
	return isMark(line) && slices.ContainsFunc(s.Items, func(it Item) bool { return it.Block != nil && slices.Contains(it.Lines, line) })
}

func isMark(line string) bool {
	return slices.ContainsFunc(marks[:], func(m string) bool { return strings.HasPrefix(line, m) })
}

func (r *Region) block() (out []string) {
	show := func(side *View) {
		for _, x := range r.lines(side) {
			out = append(out, r.whole.w.text[x])
		}
	}
	for i, s := range r.Sides {
		if i == 0 {
			out = append(out, marks[0]+" "+r.Name()+" "+s.Name)
			show(s.view)
			out = append(out, marks[1]+" base")
			show(r.base)
			continue
		}
		out = append(out, marks[2]+" "+s.Name)
		show(s.view)
	}
	return append(out, marks[3]+" "+r.Name())
}

// Lines is the text that a person sees.
func (s *State) Lines() []string {
	out := []string{}
	for _, it := range s.Items {
		out = append(out, it.Lines...)
	}
	return out
}

// Show is the text of a set.
func (w *World) Show(s Set) []string { return w.Render(s).Lines() }
