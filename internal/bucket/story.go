package bucket

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// story is what updates say, as they are read: how each state comes from one that the reader has, or from nothing.
type story struct {
	haves map[[32]byte]bool
	steps []step
	of    map[[32]byte]int32 // the last step that made a state and leads back to what the reader has
}

type step struct {
	prev           int32 // the step that made its base; -1: the reader has that
	base, state    [32]byte
	removed, added []change.ID
}

func newStory(haves map[[32]byte]bool) *story {
	return &story{haves: haves, of: map[[32]byte]int32{}}
}

// add hears an update. One whose base nobody made belongs to a push that was refused.
func (s *story) add(u *sync.Update) {
	prev, ok := s.of[u.Base]
	if u.Base == [32]byte{} || s.haves[u.Base] {
		prev = -1
	} else if !ok {
		return
	}
	s.of[u.State] = int32(len(s.steps))
	s.steps = append(s.steps, step{prev, u.Base, u.State, u.Removed, u.Added})
}

// path lists the steps to a state, from what the reader has on.
func (s *story) path(state [32]byte) (out []int32, ok bool) {
	at, ok := s.of[state]
	if !ok {
		return nil, false
	}
	for ; at >= 0; at = s.steps[at].prev {
		out = append(out, at)
	}
	slices.Reverse(out)
	return out, true
}

// told is how a state comes from another.
type told struct {
	base           [32]byte
	removed, added []change.ID
}

// compose puts steps together into one.
func (s *story) compose(path []int32) told {
	if len(path) == 0 {
		return told{}
	}
	t := told{base: s.steps[path[0]].base}
	gone := map[change.ID]int{} // how often a later step removes what an earlier one added
	var parts [][]change.ID
	for _, at := range slices.Backward(path) {
		st := &s.steps[at]
		added := st.added
		if len(gone) > 0 {
			added = nil
			for _, id := range st.added {
				if gone[id] > 0 {
					gone[id]--
				} else {
					added = append(added, id)
				}
			}
		}
		parts = append(parts, added)
		for _, id := range st.removed {
			gone[id]++
		}
	}
	for _, part := range slices.Backward(parts) {
		t.added = append(t.added, part...)
	}
	for id, n := range gone {
		if n > 0 {
			t.removed = append(t.removed, id)
		}
	}
	change.SortIDs(t.removed)
	return t
}

// tell says how a state comes from what the reader has, or from another state that it will have by then, whichever takes fewer words.
func (s *story) tell(state [32]byte, first *[32]byte) (told, bool) {
	if s.haves[state] {
		return told{base: state}, true
	}
	path, ok := s.path(state)
	if !ok {
		return told{}, false
	}
	best := s.compose(path)
	if first == nil || *first == state {
		if first != nil {
			best = told{base: state}
		}
		return best, true
	}
	of, ok := s.path(*first)
	if !ok || s.steps[of[0]].base != s.steps[path[0]].base {
		return best, true
	}
	n := 0
	for n < len(of) && n < len(path) && of[n] == path[n] {
		n++
	}
	back, on := s.compose(of[n:]), s.compose(path[n:])
	if len(back.removed) == 0 && len(on.removed) == 0 && len(back.added)+len(on.added) < len(best.added)+len(best.removed) {
		// Of two branches one may have what the other took elsewhere.
		return exchange(told{base: *first, removed: back.added, added: on.added}), true
	}
	return best, true
}

// exchange leaves out what is removed only to be added again.
func exchange(t told) told {
	removed, both := map[change.ID]struct{}{}, map[change.ID]struct{}{}
	for _, id := range t.removed {
		removed[id] = struct{}{}
	}
	for _, id := range t.added {
		if _, ok := removed[id]; ok {
			both[id] = struct{}{}
		}
	}
	if len(both) == 0 {
		return t
	}
	again := func(id change.ID) bool { _, ok := both[id]; return ok }
	t.removed = slices.DeleteFunc(t.removed, again)
	t.added = slices.DeleteFunc(t.added, again)
	return t
}
