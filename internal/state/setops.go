package state

import (
	"iter"
	"slices"
)

// NewSet gives the set of some numbers, in any order and with any repeats.
func NewSet(nums ...uint32) Set {
	var b SetBuilder
	for _, n := range nums {
		b.Add(n)
	}
	return b.Set()
}

// Empty tells whether nothing is in the set.
func (s Set) Empty() bool { return len(s.runs) == 0 }

// Equal tells whether two sets have the same members.
func (s Set) Equal(o Set) bool { return slices.Equal(s.runs, o.runs) }

// All gives all changes, ascending.
func (s Set) All() iter.Seq[uint32] { return s.From(0) }

// Union gives the changes that s or o has.
func (s Set) Union(o Set) Set {
	if s.Empty() {
		return o
	}
	if o.Empty() {
		return s
	}
	out := make([]run, 0, len(s.runs)+len(o.runs))
	for a, b := s.runs, o.runs; len(a)+len(b) > 0; {
		if len(a) == 0 || len(b) > 0 && b[0].first < a[0].first {
			a, b = b, a
		}
		r := a[0]
		a = a[1:]
		if k := len(out); k > 0 && uint64(r.first) <= uint64(out[k-1].last)+1 {
			out[k-1].last = max(out[k-1].last, r.last)
			continue
		}
		out = append(out, r)
	}
	return Set{out}
}

// Intersect gives the changes that both s and o have.
func (s Set) Intersect(o Set) Set {
	var out []run
	for a, b := s.runs, o.runs; len(a) > 0 && len(b) > 0; {
		if first, last := max(a[0].first, b[0].first), min(a[0].last, b[0].last); first <= last {
			out = append(out, run{first, last})
		}
		if a[0].last < b[0].last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return Set{out}
}
