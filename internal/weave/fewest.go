package weave

import (
	"cmp"
	"slices"
)

// onLines is a pair whose changes lie on two lines, the first of which comes first.
type onLines struct{ a, b onLine }

// fewest leaves out pairs that set no two of what was considered against each other that another pair does not, and that
// nobody else builds on. Where two sides wrote often in one place every change of the one conflicts with every change of
// the other, and one pair says it all.
func (p *parties) fewest(ends [][2]uint32) (out [][2]uint32) {
	if len(ends) < 2 {
		return ends
	}
	pairs := make([]onLines, 0, len(ends))
	for _, e := range ends {
		a, b := p.lines.at[e[0]], p.lines.at[e[1]]
		switch {
		case p.undoes(e[0]) || p.undoes(e[1]): // before such a pair an undoing stands for itself
			out = append(out, e)
		case a.line < b.line:
			pairs = append(pairs, onLines{a, b})
		default:
			pairs = append(pairs, onLines{b, a})
		}
	}
	for range 2 { // along the one line, then along the other
		slices.SortFunc(pairs, func(x, y onLines) int {
			return cmp.Or(cmp.Compare(x.a.line, y.a.line), cmp.Compare(x.b.line, y.b.line), cmp.Compare(x.a.index, y.a.index), cmp.Compare(x.b.index, y.b.index))
		})
		kept := pairs[:0]
		for len(pairs) > 0 {
			n := 1
			for n < len(pairs) && pairs[n].a.line == pairs[0].a.line && pairs[n].b.line == pairs[0].b.line {
				n++
			}
			kept = append(kept, p.thin(pairs[:n])...)
			pairs = pairs[n:]
		}
		pairs = kept
		for i := range pairs {
			pairs[i].a, pairs[i].b = pairs[i].b, pairs[i].a
		}
	}
	for _, k := range pairs {
		out = append(out, [2]uint32{p.lines.of[k.a.line][k.a.index], p.lines.of[k.b.line][k.b.index]})
	}
	return out
}

func (p *parties) undoes(c uint32) bool {
	k, ok := p.r.v.w.source(c)
	return ok && p.r.v.w.acts[k].undo != nil
}

// thin leaves out of the pairs of two lines, in order, each one whose first change has a pair with an earlier change of the other
// line, if nobody who knows the first change knows of that line just so much as to be between the two.
func (p *parties) thin(pairs []onLines) []onLines {
	a, b := pairs[0].a.line, pairs[0].b.line
	knows := make([][2]int, len(p.all)) // how much of each line
	for i := range p.all {
		knows[i] = [2]int{p.all[i].past[a], p.all[i].past[b]}
	}
	slices.SortFunc(knows, func(x, y [2]int) int { return cmp.Compare(y[0], x[0]) })
	between := make([]bool, len(p.lines.of[b])+1) // by how much of b is known: of those who know the first change
	keep := make([]bool, len(pairs))
	for end := len(pairs); end > 0; {
		first := end - 1
		x := pairs[first].a.index
		for first > 0 && pairs[first-1].a.index == x {
			first--
		}
		for len(knows) > 0 && knows[0][0] > int(x) {
			between[knows[0][1]] = true
			knows = knows[1:]
		}
		keep[first] = true
		from := pairs[first].b.index
		for i := first + 1; i < end; i++ {
			to := pairs[i].b.index
			if slices.Contains(between[from+1:to+1], true) {
				keep[i] = true
			}
			from = to
		}
		end = first
	}
	out := pairs[:0]
	for i, k := range keep {
		if k {
			out = append(out, pairs[i])
		}
	}
	return out
}
