package oracle

// Received is the world of a replica that came by these changes in this order, and so numbers them: whatever is shown must
// not depend on that. Every change stands behind those that it depends on.
func (w *World) Received(order []uint32) *World {
	to := Numbers(order)
	line := func(x Line) Line {
		if x.Change != None {
			x.Change = to[x.Change]
		}
		return x
	}
	span := func(s Span) Span { return Span{line(s.L), line(s.R)} }
	out := NewWorld(nil)
	for _, c := range order {
		old := w.Changes[c]
		n := out.Begin(old.Hash, to[old.Undoes])
		n.Know(old.Past.Renumbered(to), old.stood.Renumbered(to))
		for _, h := range old.Hunks {
			g := &Hunk{Span: span(h.Span), Gain: h.Gain}
			for _, i := range h.Ins {
				g.Ins = append(g.Ins, Node{line(i.Line), line(i.Parent), i.Right})
				out.text[line(i.Line)] = w.text[i.Line]
			}
			for _, x := range h.Del {
				g.Del = append(g.Del, line(x))
			}
			for _, d := range h.Restores {
				g.Restores = append(g.Restores, Deletion{line(d.Line), to[d.By]})
			}
			for _, s := range h.Solves {
				g.Solves = append(g.Solves, span(s))
			}
			n.Hunks = append(n.Hunks, g)
			out.nameEffect(n, g)
		}
	}
	return out
}

// Numbers gives each change its place in an order.
func Numbers(order []uint32) map[uint32]uint32 {
	to := map[uint32]uint32{None: None}
	for i, c := range order {
		to[c] = uint32(i)
	}
	return to
}

// Renumbered is a set in other numbers.
func (s Set) Renumbered(to map[uint32]uint32) Set {
	t := Set{}
	for c := range s {
		t[to[c]] = true
	}
	return t
}

// Deleters lists the changes whose deletions of a line count.
func (v *View) Deleters(x Line) []uint32 { return v.dead[x] }

// Twins lists all of a line's class that count, if the line does.
func (v *View) Twins(x Line) []Line { return v.twins[x] }

// Live reports whether nothing undoes a change.
func (v *View) Live(c uint32) bool { return v.live[c] }

// Named reports whether a change solved a pair's region.
func (c *Change) Named(p Pair) bool { return c.named[p] }
