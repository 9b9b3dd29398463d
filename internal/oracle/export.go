package oracle

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Export gives a change's hunks as a change of the product says them, in local numbers. A hunk that inserts in more than one
// place is several parts with one right end.
func (w *World) Export(c uint32) (out []change.Hunk) {
	order := w.Order(w.Changes[c].Past)
	for _, h := range w.Changes[c].Hunks {
		first := len(out)
		out = append(out, change.Hunk{L: w.end(h.L), R: h.R, Del: w.stretches(h.Del), Res: w.restores(h.Restores)})
		for _, s := range h.Solves {
			out[first].Solves = append(out[first].Solves, change.Span{L: w.end(s.L), R: s.R})
		}
		for i, n := range h.Ins {
			if i > 0 && n.Parent == h.Ins[i-1].Line {
				out[len(out)-1].InsLen += uint32(len(w.text[n.Line]))
				continue
			}
			part, after := change.Hunk{R: h.R, InsLen: uint32(len(w.text[n.Line]))}, n.Parent
			if !n.Right {
				part.Left, part.Parent = true, n.Parent
				after = change.Start
				if k := slices.Index(order, n.Parent); k > 0 {
					after = order[k-1]
				}
			}
			if i == 0 && after == h.L {
				out[first].InsLen, out[first].Left, out[first].Parent = part.InsLen, part.Left, part.Parent
				continue
			}
			part.L = w.end(after)
			out = append(out, part)
		}
	}
	return
}

// Gains lists the hunks of an undoing change that brought lines back.
func (c *Change) Gains() (out []uint32) {
	for i, h := range c.Hunks {
		if h.Gain {
			out = append(out, uint32(i))
		}
	}
	return
}

// Inserted is all that a change inserted.
func (w *World) Inserted(c uint32) (s string) {
	for _, h := range w.Changes[c].Hunks {
		for _, n := range h.Ins {
			s += w.text[n.Line]
		}
	}
	return
}

// end names a line by where it ends, as the left end of a gap does.
func (w *World) end(x Line) change.Pos {
	if x == change.Start {
		return x
	}
	return change.Pos{Change: x.Change, Off: x.Off + uint32(len(w.text[x]))}
}

func (w *World) stretches(lines []Line) (out []change.Stretch) {
	for i, x := range lines {
		n := uint32(len(w.text[x]))
		if i > 0 && w.end(lines[i-1]) == x {
			out[len(out)-1].Len += n
			continue
		}
		out = append(out, change.Stretch{Change: x.Change, Off: x.Off, Len: n})
	}
	return
}

func (w *World) restores(of []Deletion) (out []change.Restore) {
	for i := 0; i < len(of); {
		x := of[i].Line
		r := change.Restore{Stretch: change.Stretch{Change: x.Change, Off: x.Off, Len: uint32(len(w.text[x]))}}
		for ; i < len(of) && of[i].Line == x; i++ {
			r.By = append(r.By, of[i].By)
		}
		if n := len(out); n > 0 && out[n-1].Change == x.Change && out[n-1].Off+out[n-1].Len == x.Off && slices.Equal(out[n-1].By, r.By) {
			out[n-1].Len += r.Len
			continue
		}
		out = append(out, r)
	}
	return
}
