package cli

import (
	"bytes"
	"slices"
)

// graph draws beside a log, latest change first, which change depends on which. A lane is a column that runs from a
// change down to one that it depends on, and two that lead to the same one become one. A lane stays in its column, but
// where it joins one to its left. The zero value has none.
type graph struct {
	lanes []uint32 // the change that each lane leads to, or noLane
}

// noLane stands in a free column; no change has that number.
const noLane = 1<<32 - 1

// The signs of the drawing. Changes often depend on nothing, and then what stands beneath has nothing to do with them:
// that is a sign of its own.
const (
	signChange = "●"
	signRoot   = "○"
	signLane   = "│"
	signAcross = "─"
)

// margin is what stands to the left of the lines of one change.
type margin struct {
	first []byte // of the first line: the change in its lane
	join  []byte // of the line after: where lanes begin and end; nil where none does
	rest  []byte // of every other line
}

// next draws the next change of the log, and leads on to what it depends on in the order that deps has.
func (g *graph) next(n uint32, deps []uint32) margin {
	col := g.column(n)
	g.lanes[col] = n
	var m margin
	for x, to := range g.lanes {
		switch {
		case x == col && len(deps) == 0:
			m.first = append(m.first, signRoot...)
		case x == col:
			m.first = append(m.first, signChange...)
		default:
			m.first = appendLane(m.first, to)
		}
		m.first = append(m.first, ' ')
	}
	before := slices.Clone(g.lanes)
	ends := g.lead(col, deps)
	if len(ends) > 1 || len(ends) == 1 && ends[0] != col {
		m.join = g.drawJoin(before, col, ends)
	}
	for len(g.lanes) > 0 && g.lanes[len(g.lanes)-1] == noLane {
		g.lanes = g.lanes[:len(g.lanes)-1]
	}
	for _, to := range g.lanes {
		m.rest = append(appendLane(m.rest, to), ' ')
	}
	return m
}

// column finds the lane that leads to a change, or a free one.
func (g *graph) column(n uint32) int {
	for _, wanted := range []uint32{n, noLane} {
		if x := slices.Index(g.lanes, wanted); x >= 0 {
			return x
		}
	}
	g.lanes = append(g.lanes, noLane)
	return len(g.lanes) - 1
}

// lead makes lanes from the change in a column to what it depends on, and gives the columns of these.
func (g *graph) lead(col int, deps []uint32) (ends []int) {
	g.lanes[col] = noLane
	var fresh []uint32
	for _, d := range deps {
		if x := slices.Index(g.lanes, d); x >= 0 {
			ends = append(ends, x)
		} else {
			fresh = append(fresh, d)
		}
	}
	if len(deps) == 1 && len(ends) == 1 && ends[0] > col { // to the left, where there is room
		g.lanes[col], g.lanes[ends[0]] = deps[0], noLane
	}
	for i, d := range fresh {
		x := col
		if i > 0 {
			x = g.column(d)
		}
		g.lanes[x] = d
		ends = append(ends, x)
	}
	return ends
}

// drawJoin draws the line between a column and the lanes that lead on from it. Other lanes run behind it.
func (g *graph) drawJoin(before []uint32, col int, ends []int) []byte {
	lo, hi := min(col, slices.Min(ends)), max(col, slices.Max(ends))
	var b []byte
	for x, to := range g.lanes {
		up := x < len(before) && before[x] != noLane
		down := to != noLane
		switch inside := x > lo && x < hi; {
		case x == col || slices.Contains(ends, x):
			b = append(b, corner(up, down, x > lo && x <= hi, x >= lo && x < hi)...)
		case up && down:
			b = append(b, signLane...)
		case inside:
			b = append(b, signAcross...)
		default:
			b = append(b, ' ')
		}
		if x >= lo && x < hi {
			b = append(b, signAcross...)
		} else {
			b = append(b, ' ')
		}
	}
	return b
}

func appendLane(dst []byte, to uint32) []byte {
	if to == noLane {
		return append(dst, ' ')
	}
	return append(dst, signLane...)
}

// corner is the sign that has lines to some of its four sides, one of them up or down and one left or right.
func corner(up, down, left, right bool) string {
	i := 0
	for bit, side := range []bool{up, down, left, right} {
		if side {
			i |= 1 << bit
		}
	}
	return [16]string{5: "╯", 6: "╮", 7: "┤", 9: "╰", 10: "╭", 11: "├", 13: "┴", 14: "┬", 15: "┼"}[i]
}

// beside is a writer that puts a margin before each line.
type beside struct {
	to     *output
	margin margin
	lines  int  // begun
	within bool // a line
}

func (w *beside) Write(b []byte) (int, error) {
	written := len(b)
	for len(b) > 0 {
		line := b
		if end := bytes.IndexByte(b, '\n') + 1; end > 0 {
			line = b[:end]
		}
		if !w.within {
			w.begin(line[0] == '\n')
		}
		if _, err := w.to.Write(line); err != nil {
			return 0, err
		}
		w.within = line[len(line)-1] != '\n'
		b = b[len(line):]
	}
	return written, nil
}

// begin puts the margin of the next line.
func (w *beside) begin(empty bool) {
	m := w.margin.rest
	switch {
	case w.lines == 0:
		m = w.margin.first
	case w.lines == 1 && w.margin.join != nil:
		m = w.margin.join
	}
	if empty {
		m = bytes.TrimRight(m, " ")
	}
	w.lines++
	w.to.Write(m)
}

// end writes the join that a change of a single line has no second line for.
func (w *beside) end() {
	if w.lines == 1 && w.margin.join != nil {
		w.begin(true)
		w.to.WriteString("\n")
	}
}
