package diff

import (
	"bytes"
	"math"
)

// maxLines bounds the lines of one side that are compared, since their numbers are 32 bits wide. What differs
// between longer ones is one edit.
const maxLines = math.MaxInt32 / 2

// Differ compares contents. It keeps its memory between calls, so one Differ serves many files, one at a time. The
// zero value is ready.
type Differ struct {
	edits  []Edit
	in     interner
	a, b   side
	ra, rb reduced
	marks  landmarks
	search search
}

// reduced is a middle without the lines that the other side has not: they match nothing, and without them the search
// is for what was moved or repeated only.
type reduced struct {
	id   []int32
	line []int32 // where each stands in the middle
	// By line of the middle: it is deleted (in a) or added (in b).
	changed []bool
}

// Lines returns the edits that make b of a. They are valid until the next call.
func (d *Differ) Lines(a, b []byte, opt Options) []Edit {
	d.edits = d.edits[:0]
	start, endA, endB := trim(a, b)
	if start == endA && start == endB {
		return d.edits
	}
	na, nb := countLines(a[start:endA]), countLines(b[start:endB])
	line := bytes.Count(a[:start], newline)
	if na == 0 || nb == 0 || na > maxLines || nb > maxLines {
		d.edits = append(d.edits, Edit{
			A0: line, A1: line + na, B0: line, B1: line + nb,
			AOff0: start, AOff1: endA, BOff0: start, BOff1: endB,
		})
	} else {
		d.in.reset(na)
		d.in.addA(&d.a, a, start, endA, &opt)
		d.in.addB(&d.b, &d.a, a, b, start, endB, &opt)
		if d.compare(opt.Minimal) && !opt.Minimal {
			d.landmarks(a)
		}
		d.collect(line)
		if !opt.Minimal {
			d.edits = bridge(d.edits, a)
		}
	}
	s := slider{a: a, b: b, opt: &opt}
	d.edits = s.slide(d.edits)
	if opt.IgnoreBlankLines {
		for i := range d.edits {
			e := &d.edits[i]
			e.Blank = isBlank(a[e.AOff0:e.AOff1]) && isBlank(b[e.BOff0:e.BOff1])
		}
	}
	return d.edits
}

// countLines returns how many lines data has, with an unended last one.
func countLines(data []byte) int {
	n := bytes.Count(data, newline)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// compare sets the changed flags of both middles. It reports whether a line is changed that the other side has too.
func (d *Differ) compare(minimal bool) bool {
	// A number of a that b has too is marked by a negative count.
	count := d.in.count
	d.rb.reset(len(d.b.id))
	for i, id := range d.b.id {
		if id == absent {
			d.rb.changed[i] = true
			continue
		}
		count[id] |= math.MinInt32
		d.rb.add(id, i)
	}
	d.ra.reset(len(d.a.id))
	for i, id := range d.a.id {
		if count[id] >= 0 {
			d.ra.changed[i] = true
			continue
		}
		d.ra.add(id, i)
	}
	d.search.start(len(d.ra.id), len(d.rb.id), len(d.in.first), minimal)
	d.search.run(&d.ra, &d.rb)
	return d.search.marked
}

func (r *reduced) reset(lines int) {
	r.id, r.line = r.id[:0], r.line[:0]
	r.changed = flags(r.changed, lines)
}

// flags returns n flags that are not set, in s's memory if it suffices.
func flags(s []bool, n int) []bool {
	if cap(s) < n {
		return make([]bool, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (r *reduced) add(id int32, line int) {
	r.id = append(r.id, id)
	r.line = append(r.line, int32(line))
}

// mark flags lines from..to of the reduced middle as changed.
func (r *reduced) mark(from, to int) {
	for _, line := range r.line[from:to] {
		r.changed[line] = true
	}
}

// collect makes edits of the flags. The middles begin at line base on both sides.
func (d *Differ) collect(base int) {
	d.edits = d.edits[:0]
	ca, cb := d.ra.changed, d.rb.changed
	for i, j := 0, 0; i < len(ca) || j < len(cb); {
		if i < len(ca) && j < len(cb) && !ca[i] && !cb[j] {
			i++
			j++
			continue
		}
		i0, j0 := i, j
		for i < len(ca) && ca[i] {
			i++
		}
		for j < len(cb) && cb[j] {
			j++
		}
		d.edits = append(d.edits, Edit{
			A0: base + i0, A1: base + i, B0: base + j0, B1: base + j,
			AOff0: d.a.off[i0], AOff1: d.a.off[i], BOff0: d.b.off[j0], BOff1: d.b.off[j],
		})
	}
}
