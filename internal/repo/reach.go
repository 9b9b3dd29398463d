package repo

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// reach answers which changes lie in the past of which. A change's number is above those of its dependencies, so the past
// of one is walked down by descending number, no deeper than was asked so far. It is for one goroutine.
type reach struct {
	deps  func(n uint32) []uint32
	id    func(n uint32) change.ID
	pasts map[uint32]*past
	// A change in the making, if draftDeps is not nil, and what is known by now of what it depends on.
	draft     uint32
	draftDeps []uint32
}

// past is what was walked of one change's past.
type past struct {
	seen  map[uint32]struct{} // reached
	queue numbers             // reached and not walked
}

// It sees the changes that the transaction under way made, too.
func (r *Repo) newReach() *reach {
	first := r.store.NumChanges()
	return &reach{pasts: map[uint32]*past{}, deps: func(n uint32) []uint32 {
		if n < first {
			return r.store.Deps(n)
		} else if b := r.freshOf(n); b != nil {
			return b.deps
		}
		return nil
	}, id: func(n uint32) change.ID {
		if n < first {
			return r.store.ChangeID(n)
		} else if b := r.freshOf(n); b != nil {
			return b.id // of one in the making it is not known before all that it says is
		}
		return change.ID{}
	}}
}

// depsOf gives the dependencies of a change of the store or of this transaction.
func (t *tx) depsOf(n uint32) []uint32 {
	if first := t.r.store.NumChanges(); n >= first {
		return t.made[n-first].deps
	}
	return t.r.store.Deps(n)
}

// Less orders changes by their hashes.
func (h *reach) Less(a, b uint32) bool {
	x, y := h.id(a), h.id(b)
	return bytes.Compare(x[:], y[:]) < 0
}

// Reaches reports whether b is a or in a's past.
func (h *reach) Reaches(a, b uint32) bool {
	if a <= b {
		return a == b
	}
	p := h.pasts[a]
	if p == nil {
		p = &past{seen: map[uint32]struct{}{}, queue: numbers{a}}
		h.pasts[a] = p
	}
	for len(p.queue) > 0 && p.queue[0] > b {
		n := heap.Pop(&p.queue).(uint32)
		for _, d := range h.depsOf(n) {
			if _, ok := p.seen[d]; !ok {
				p.seen[d] = struct{}{}
				heap.Push(&p.queue, d)
			}
		}
	}
	_, ok := p.seen[b]
	return ok
}

func (h *reach) depsOf(n uint32) []uint32 {
	if h.draftDeps != nil && n == h.draft {
		return h.draftDeps
	}
	return h.deps(n)
}

// inTheMaking lets a change be asked about that is not whole yet.
func (h *reach) inTheMaking(n uint32, deps []uint32) {
	h.draft, h.draftDeps = n, append([]uint32{}, deps...)
}

// closure gives, ascending, the changes that a set lacks of the given ones and their pasts. The set is closed.
func (h *reach) closure(of []uint32, has func(uint32) bool) []uint32 {
	seen := map[uint32]struct{}{}
	var queue, out numbers
	add := func(n uint32) {
		if _, ok := seen[n]; !ok && !has(n) {
			seen[n] = struct{}{}
			queue = append(queue, n)
		}
	}
	for _, n := range of {
		add(n)
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		out = append(out, n)
		for _, d := range h.deps(n) {
			add(d)
		}
	}
	slices.Sort(out)
	return out
}

// fileHistory is what the weave of one file asks.
type fileHistory struct {
	*reach
	owner uint32 // of the file: all that touch it reach it
	text  func(s change.Stretch) ([]byte, error)
}

func (h *fileHistory) Reaches(a, b uint32) bool {
	return b == h.owner && a >= b || h.reach.Reaches(a, b)
}

// SameText compares what two changes inserted.
func (h *fileHistory) SameText(a, b change.Stretch) (bool, error) {
	x, err := h.text(a)
	if err != nil {
		return false, err
	}
	y, err := h.text(b)
	return err == nil && bytes.Equal(x, y), err
}
