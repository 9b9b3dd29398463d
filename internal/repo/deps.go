package repo

import (
	"container/heap"
	"slices"
)

// minimalOf takes from deps, local numbers in any order and with repeats, those that another of them reaches. It walks
// down from them by descending number, for a change's number is above those of its dependencies, and stops beneath the
// least of them: a commit upon recent changes looks at recent changes only.
func minimalOf(deps []uint32, depsOf func(uint32) []uint32) []uint32 {
	deps = slices.Clone(deps)
	slices.Sort(deps)
	deps = slices.Compact(deps)
	if len(deps) < 2 {
		return deps
	}
	wanted := make(map[uint32]bool, len(deps))
	queued := make(map[uint32]bool, len(deps))
	reached := map[uint32]bool{}
	queue := make(numbers, 0, len(deps))
	for _, d := range deps {
		wanted[d], queued[d] = true, true
		queue = append(queue, d)
	}
	heap.Init(&queue)
	for open := len(deps); open > 0; { // open: wanted ones not walked yet and not reached
		n := heap.Pop(&queue).(uint32)
		if wanted[n] && !reached[n] {
			open--
		}
		for _, d := range depsOf(n) {
			if !reached[d] && wanted[d] {
				open--
			}
			reached[d] = true
			if d >= deps[0] && !queued[d] {
				queued[d] = true
				heap.Push(&queue, d)
			}
		}
	}
	return slices.DeleteFunc(deps, func(d uint32) bool { return reached[d] })
}

// numbers is a heap with the greatest on top.
type numbers []uint32

func (h numbers) Len() int           { return len(h) }
func (h numbers) Less(i, j int) bool { return h[i] > h[j] }
func (h numbers) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *numbers) Push(x any)        { *h = append(*h, x.(uint32)) }
func (h *numbers) Pop() any {
	old := *h
	n := old[len(old)-1]
	*h = old[:len(old)-1]
	return n
}
