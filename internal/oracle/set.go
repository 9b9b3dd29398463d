package oracle

import (
	"maps"
	"slices"
)

// Set is a set of change numbers.
type Set map[uint32]bool

// Of makes a set.
func Of(cs ...uint32) Set { return Set{}.With(cs...) }

// Sorted lists the members, ascending.
func (s Set) Sorted() []uint32 { return slices.Sorted(maps.Keys(s)) }

// With gives s and more changes.
func (s Set) With(cs ...uint32) Set {
	t := maps.Clone(s)
	for _, c := range cs {
		t[c] = true
	}
	return t
}

// Union gives what is in s or in t.
func (s Set) Union(t Set) Set { return s.With(t.Sorted()...) }

// Minus gives what is in s and not in t.
func (s Set) Minus(t Set) Set {
	u := Set{}
	for c := range s {
		if !t[c] {
			u[c] = true
		}
	}
	return u
}

// Holds reports whether all of t is in s.
func (s Set) Holds(t Set) bool { return len(t.Minus(s)) == 0 }
