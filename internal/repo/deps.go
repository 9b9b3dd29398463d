package repo

import "slices"

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
	last := deps[len(deps)-1]
	queue, reached := newPast(last), newPast(last)
	for _, d := range deps {
		queue.add(d)
	}
	wanted := func(n uint32) bool { _, ok := slices.BinarySearch(deps, n); return ok }
	for open := len(deps); open > 0; { // open: wanted ones not walked yet and not reached
		n, ok := queue.next(deps[0])
		if !ok {
			break
		}
		if !reached.has(n) && wanted(n) {
			open--
		}
		for _, d := range depsOf(n) {
			if d < deps[0] || reached.has(d) {
				continue
			}
			if wanted(d) {
				open--
			}
			reached.add(d)
			queue.add(d)
		}
	}
	return slices.DeleteFunc(deps, reached.has)
}
