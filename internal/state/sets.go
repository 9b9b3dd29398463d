package state

import (
	"cmp"
	"iter"
	"slices"
)

// Set is a set of changes by their numbers. What is recorded one after the other is numbered so, and a set is kept as
// runs of adjacent numbers: the set of a linear history is one run, however long. The zero value is the empty set.
type Set struct {
	runs []run // ascending, with a gap between any two
}

// run is a stretch of numbers, both ends in it.
type run struct{ first, last uint32 }

// SetBuilder gathers the numbers of a set in any order. Stretches of neighbours, up or down, cost a comparison each.
type SetBuilder struct {
	runs []run // as they came
}

// Add puts a number into the set. It may be there already.
func (b *SetBuilder) Add(n uint32) {
	if k := len(b.runs); k > 0 {
		r := &b.runs[k-1]
		switch {
		case n >= r.first && n <= r.last:
			return
		case uint64(n)+1 == uint64(r.first):
			r.first = n
			return
		case uint64(n) == uint64(r.last)+1:
			r.last = n
			return
		}
	}
	b.runs = append(b.runs, run{n, n})
}

// Set gives what was added. The builder is empty then.
func (b *SetBuilder) Set() Set {
	runs := b.runs
	b.runs = nil
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.first, b.first) })
	out := runs[:0]
	for _, r := range runs {
		if k := len(out); k > 0 && uint64(r.first) <= uint64(out[k-1].last)+1 {
			out[k-1].last = max(out[k-1].last, r.last)
			continue
		}
		out = append(out, r)
	}
	return Set{out}
}

// Len is how many changes there are.
func (s Set) Len() (n uint64) {
	for _, r := range s.runs {
		n += uint64(r.last-r.first) + 1
	}
	return n
}

// Has tells whether a change is in the set.
func (s Set) Has(n uint32) bool {
	i := s.at(n)
	return i < len(s.runs) && s.runs[i].first <= n
}

// Least gives the change with the least number; false for the empty set.
func (s Set) Least() (uint32, bool) {
	if len(s.runs) == 0 {
		return 0, false
	}
	return s.runs[0].first, true
}

// at is the index of the first run that does not end before n.
func (s Set) at(n uint32) int {
	i, _ := slices.BinarySearchFunc(s.runs, n, func(r run, n uint32) int { return cmp.Compare(r.last, n) })
	return i
}

// From gives the changes from n on, ascending.
func (s Set) From(n uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, r := range s.runs[s.at(n):] {
			for m := max(r.first, n); ; m++ {
				if !yield(m) {
					return
				}
				if m == r.last {
					break
				}
			}
		}
	}
}

// Down gives all changes, descending.
func (s Set) Down() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, r := range slices.Backward(s.runs) {
			for m := r.last; ; m-- {
				if !yield(m) {
					return
				}
				if m == r.first {
					break
				}
			}
		}
	}
}

// Minus gives the changes of s that o has not.
func (s Set) Minus(o Set) Set {
	var out []run
	i := 0
	for _, r := range s.runs {
		for i < len(o.runs) && o.runs[i].last < r.first {
			i++
		}
		from := uint64(r.first) // what is left of r begins here; past r.last when nothing is
		for j := i; j < len(o.runs) && o.runs[j].first <= r.last; j++ {
			if t := o.runs[j]; uint64(t.first) > from {
				out = append(out, run{uint32(from), t.first - 1})
			}
			from = uint64(o.runs[j].last) + 1
		}
		if from <= uint64(r.last) {
			out = append(out, run{uint32(from), r.last})
		}
	}
	return Set{out}
}
