package weave

import (
	"cmp"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// branch is a part of the tree that only one weave has and whose root hangs on a line that both have: adjacent runs.
type branch struct {
	runs int
	root *Run
}

// interleave takes na runs that only a has and nb that only b has, where both go into one place between lines that both
// have.
func (m *merger) interleave(na, nb int) error {
	as, err := branches(&m.a, na)
	if err != nil {
		return err
	}
	bs, err := branches(&m.b, nb)
	if err != nil {
		return err
	}
	for len(as) > 0 && len(bs) > 0 {
		c, err := m.compare(as[0].root, bs[0].root)
		if err != nil {
			return err
		}
		if c < 0 {
			m.takeOwn(&m.a, &m.b, as[0].runs)
			as = as[1:]
		} else {
			m.takeOwn(&m.b, &m.a, bs[0].runs)
			bs = bs[1:]
		}
	}
	for _, b := range as {
		m.takeOwn(&m.a, &m.b, b.runs)
	}
	for _, b := range bs {
		m.takeOwn(&m.b, &m.a, b.runs)
	}
	return nil
}

// branches divides the next n runs, which only this weave has, by their roots.
func branches(c *cursor, n int) ([]branch, error) {
	runs := c.w.Runs[c.i : c.i+n]
	begins, ends := make(map[change.Pos]int, n), make(map[change.Pos]int, n)
	for i := range runs {
		begins[change.Pos{Change: runs[i].Change, Off: runs[i].Off}] = i
		ends[change.Pos{Change: runs[i].Change, Off: runs[i].Off + runs[i].Len}] = i
	}
	roots := make([]int, n) // 1 + the root of a run, once known
	for i := range runs {
		var path []int
		at := i
		for roots[at] == 0 {
			path = append(path, at)
			if len(path) > n {
				return nil, fmt.Errorf("%w: a line hangs beneath itself", ErrMismatch)
			}
			r := &runs[at]
			next, found := 0, false
			switch {
			case !r.Head:
				next, found = ends[change.Pos{Change: r.Change, Off: r.Off}], true
				if _, found = ends[change.Pos{Change: r.Change, Off: r.Off}]; !found {
					return nil, fmt.Errorf("%w: the line before %d.%d is not beside it", ErrMismatch, r.Change, r.Off)
				}
			case r.Left:
				next, found = begins[r.Parent]
			default:
				next, found = ends[r.Parent]
			}
			if !found {
				roots[at] = at + 1
				break
			}
			at = next
		}
		for _, p := range path {
			roots[p] = roots[at]
		}
	}
	var out []branch
	for i := range runs {
		if i == 0 || roots[i] != roots[i-1] {
			out = append(out, branch{root: &runs[roots[i]-1]})
		}
		out[len(out)-1].runs++
	}
	return out, nil
}

// compare orders the roots of two branches in one place. What hangs on the right of the line before the place, or of one
// that this hangs beneath, comes before what hangs on the left of the line after it, or of one that that hangs
// beneath; and of each the later parent comes first: it is the inner of the two on the right, the outer on the left.
func (m *merger) compare(x, y *Run) (int, error) {
	if x.Left != y.Left {
		if y.Left {
			return -1, nil
		}
		return 1, nil
	}
	if x.Parent == y.Parent {
		if m.h.Less(x.Change, y.Change) {
			return -1, nil
		}
		return 1, nil
	}
	px, err := m.parent(x)
	if err != nil {
		return 0, err
	}
	py, err := m.parent(y)
	return -cmp.Or(cmp.Compare(px.run, py.run), cmp.Compare(px.off, py.off)), err
}

type spot struct {
	run int
	off uint32
}

// parent is where the line on which a head hangs stands in a.
func (m *merger) parent(r *Run) (spot, error) {
	if r.Parent == change.Start {
		return spot{-1, 0}, nil
	}
	if m.posA.w == nil {
		m.posA = m.a.w.places()
	}
	off := r.Parent.Off
	if !r.Left {
		off-- // the name of a line's end: the run that holds its last byte
	}
	i, ok := m.posA.holding(r.Parent.Change, off)
	if !ok {
		return spot{}, fmt.Errorf("%w: no line %d.%d to hang on", ErrMismatch, r.Parent.Change, r.Parent.Off)
	}
	return spot{i, off}, nil
}
