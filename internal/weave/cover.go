package weave

import "slices"

// Cover lists the changes with a hunk over a place between two elements: of those that add, the ones in no other's past,
// and of those that delete only, the ones in the past of no adding one. A record depends on them (docs/spec/weave.md).
type Cover struct{ Add, Del Set }

// latest makes the cover of a place from lists that hold at least its members; the lists are used up. A change's number
// is above those of its past, so one is surpassed by higher numbers only.
func (w *Weave) latest(add, del []uint32, h History) Cover {
	var last []uint32
	surpassed := func(c uint32) bool {
		return slices.ContainsFunc(last, func(d uint32) bool { return h.Reaches(d, c) })
	}
	slices.Sort(add)
	for _, c := range slices.Backward(add) {
		if !surpassed(c) {
			last = append(last, c)
		}
	}
	slices.Sort(del)
	del = slices.DeleteFunc(slices.Compact(del), surpassed)
	slices.Reverse(last)
	return Cover{w.set(last), w.set(del)}
}
