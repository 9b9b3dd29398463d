package weave

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/oxy-vcs/oxy/internal/change"
)

// places finds runs by what they hold. It stands until the weave's runs change.
type places struct {
	w      *Weave
	runs   []int32 // indexes of runs, those of one source together, by offset
	begins []int32 // of each source, where in runs its own begin; and where all end
	owners []int32 // of each run, its source; one above the last for none, in a damaged weave
}

func (w *Weave) places() places {
	w.number()
	p := places{w, make([]int32, len(w.Runs)), make([]int32, len(w.Sources)+2), make([]int32, len(w.Runs))}
	for i := range w.Runs {
		k, ok := w.source(w.Runs[i].Change)
		if !ok {
			k = len(w.Sources)
		}
		p.owners[i] = int32(k)
		p.begins[k+1]++
	}
	for k := range w.Sources {
		p.begins[k+1] += p.begins[k]
	}
	next := slices.Clone(p.begins)
	for i, k := range p.owners {
		p.runs[next[k]] = int32(i)
		next[k]++
	}
	// A change's text stands in the weave in its own order, but for what a resolution put in several places.
	for k := range w.Sources {
		own := p.runs[p.begins[k]:p.begins[k+1]]
		byOffset := func(a, b int32) int { return cmp.Compare(w.Runs[a].Off, w.Runs[b].Off) }
		if !slices.IsSortedFunc(own, byOffset) {
			slices.SortFunc(own, byOffset)
		}
	}
	return p
}

// from gives the runs of a change from the one that holds a byte on, or from the first after it.
func (p places) from(c, off uint32) []int32 {
	k, ok := p.w.source(c)
	if !ok {
		return nil
	}
	own := p.runs[p.begins[k]:p.begins[k+1]]
	holds := func(i int) bool {
		r := &p.w.Runs[own[i]]
		return uint64(r.Off)+uint64(r.Len) > uint64(off)
	}
	if len(own) > 4 {
		return own[sort.Search(len(own), holds):]
	}
	for i := range own {
		if holds(i) {
			return own[i:]
		}
	}
	return nil
}

// holding gives the index of the run that holds a byte of a change.
func (p places) holding(c, off uint32) (int, bool) {
	own := p.from(c, off)
	if len(own) == 0 {
		return 0, false
	}
	return int(own[0]), p.w.Runs[own[0]].Off <= off
}

// each calls f with the index of every run that holds a part of a stretch, by offset.
func (p places) each(s change.Stretch, f func(i int)) {
	for _, i := range p.from(s.Change, s.Off) {
		if uint64(p.w.Runs[i].Off) >= uint64(s.Off)+uint64(s.Len) {
			return
		}
		f(int(i))
	}
}

// place is a place in the weave: the index of a run, and how far into it.
type place uint64

func (p place) run() int { return int(p >> 32) }

func (p place) off() uint32 { return uint32(p) }

func placeIn(run int, off uint32) place { return place(run)<<32 | place(off) }

// span is the places from l to r, both of them.
type span struct{ l, r place }

func (a span) meets(b span) bool { return max(a.l, b.l) <= min(a.r, b.r) }

func (a span) hull(b span) span { return span{min(a.l, b.l), max(a.r, b.r)} }

// span gives the places of a gap.
func (p places) span(l, r change.Pos) (span, error) {
	s := span{0, placeIn(len(p.w.Runs), 0)}
	if l != change.Start {
		i, ok := p.holding(l.Change, l.Off-1)
		if l.Off == 0 || !ok {
			return s, fmt.Errorf("%w: no line ends at %d.%d", ErrMismatch, l.Change, l.Off)
		}
		s.l = placeIn(i+1, 0)
		if run := &p.w.Runs[i]; l.Off < run.Off+run.Len {
			s.l = placeIn(i, l.Off-run.Off)
		}
	}
	if r != change.End {
		i, ok := p.holding(r.Change, r.Off)
		if !ok {
			return s, fmt.Errorf("%w: no line begins at %d.%d", ErrMismatch, r.Change, r.Off)
		}
		s.r = placeIn(i, r.Off-p.w.Runs[i].Off)
	}
	return s, nil
}

// cut splits runs so that each of the places is an edge between two.
func (w *Weave) cut(at []change.Pos) {
	if len(at) == 0 {
		return
	}
	slices.SortFunc(at, comparePos)
	at = slices.Compact(at)
	w.number()
	last := make([]int32, len(w.Sources)) // of each source, 1 + the last of its places
	for i, p := range at {
		if k, ok := w.source(p.Change); ok {
			last[k] = int32(i) + 1
		}
	}
	var out []Run
	for i := range w.Runs {
		r := w.Runs[i]
		own, ok := w.source(r.Change)
		if !ok || last[own] == 0 || at[last[own]-1].Off <= r.Off {
			if out != nil {
				out = append(out, r)
			}
			continue
		}
		own = int(last[own])
		k, _ := slices.BinarySearchFunc(at[:own], change.Pos{Change: r.Change, Off: r.Off + 1}, comparePos)
		if out == nil {
			if k == own || at[k].Off >= r.Off+r.Len {
				continue
			}
			out = append(make([]Run, 0, len(w.Runs)+len(at)), w.Runs[:i]...)
		}
		for ; k < own && at[k].Off < r.Off+r.Len; k++ {
			var left Run
			left, r = r.split(at[k].Off - r.Off)
			out = append(out, left)
		}
		out = append(out, r)
	}
	if out != nil {
		w.Runs = out
	}
}

func comparePos(a, b change.Pos) int {
	return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Off, b.Off))
}

// join makes one of adjacent runs that share their fate, so that a weave is the same by whatever way it came about.
func (w *Weave) join() {
	n := 0
	for i := range w.Runs {
		r := &w.Runs[i]
		if n > 0 {
			if last := &w.Runs[n-1]; last.continues(r) {
				last.Len += r.Len
				last.HasRight = r.HasRight
				continue
			}
		}
		w.Runs[n] = *r
		n++
	}
	w.Runs = w.Runs[:n]
}
