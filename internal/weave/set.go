package weave

import (
	"maps"
	"slices"
)

// Set is a small set of changes: a number that stands for an ascending list kept in the weave. 0 is the empty set.
type Set uint32

// Members lists a set, ascending. The slice must not be changed.
func (w *Weave) Members(s Set) []uint32 {
	if s == 0 {
		return nil
	}
	return w.sets[s-1]
}

func (w *Weave) single(c uint32) Set { return w.set([]uint32{c}) }

// set gives the number of a set of ascending changes, keeping it when it is new.
func (w *Weave) set(m []uint32) Set {
	if len(m) == 0 {
		return 0
	}
	if w.shared == nil && w.index == nil {
		w.index = make(map[uint64]Set, len(w.sets))
		for i, s := range w.sets {
			w.index[hashSet(s)] = Set(i + 1)
		}
	}
	h := hashSet(m)
	for {
		s, ok := w.shared[h]
		if !ok {
			s, ok = w.index[h]
		}
		if !ok {
			break
		}
		if slices.Equal(w.sets[s-1], m) {
			return s
		}
		h++ // a collision: the next free number
	}
	w.sets = append(w.sets, slices.Clone(m))
	s := Set(len(w.sets))
	if w.index == nil {
		w.index = map[uint64]Set{}
	}
	w.index[h] = s
	return s
}

// shareSets gives a new weave this one's sets under their numbers.
func (w *Weave) shareSets(with *Weave) {
	with.sets = slices.Clip(w.sets)
	w.sets = with.sets
	if w.shared == nil {
		w.shared, w.index = w.index, nil
	}
	with.shared, with.index = w.shared, maps.Clone(w.index)
}

func hashSet(m []uint32) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range m {
		h = (h ^ uint64(v)) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// add gives s with c.
func (w *Weave) add(s Set, c uint32) Set {
	m := w.Members(s)
	if _, found := slices.BinarySearch(m, c); found {
		return s
	}
	return w.set(insertNumber(slices.Clone(m), c))
}

// union gives the ascending members of two ascending lists.
func union(a, b []uint32) []uint32 {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Bytes is about how much memory a weave takes that shares nothing with others but hunks.
func (w *Weave) Bytes() int {
	const run, source, set = 44, 108, 64 // with its members and its place in the index
	return run*len(w.Runs) + source*len(w.Sources) + set*len(w.sets)
}
