package repo

import (
	"encoding/binary"
	"slices"

	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// fewLookups is how many states are looked for one by one. Who has more names than that gets a table of all states.
const fewLookups = 8

// fewStates is up to how many states that may be the one are looked at without asking whether another is likelier.
const fewStates = 256

// stateFinder finds states by the beginnings of their ids. It belongs to a repository and grows with it.
type stateFinder struct {
	asked int
	upTo  uint32            // the states below are in the table, but for another's
	table map[uint64]uint32 // the first 8 bytes of an id to the state that came last
}

func (f *stateFinder) key(id [32]byte) uint64 { return binary.LittleEndian.Uint64(id[:]) }

// stateBy finds a state by its id: first among those that a view names, then among all, latest first. Of the transaction under
// way none is found: it can be built upon once it stands.
func (r *Repo) stateBy(v *store.View, id [32]byte) (StateRef, bool, error) {
	if id == ([32]byte{}) {
		return StateRef{Num: NoState}, true, nil
	}
	return r.stateSince(v, id, 0)
}

// stateSince is stateBy for a state that is none of the first ones, so many, if it is here at all: a push to a million states need
// not look at each to know that what it makes is new.
func (r *Repo) stateSince(v *store.View, id [32]byte, first uint32) (StateRef, bool, error) {
	all := r.store.NumStates()
	_, others := foreign(v)
	if first >= others && all-first <= fewStates {
		return r.stateAmong(id, first, all)
	}
	if r.finder.asked++; r.finder.asked > fewLookups {
		if err := r.finder.fill(r, v, all); err != nil {
			return StateRef{}, false, err
		}
		n, ok := r.finder.table[r.finder.key(id)]
		if !ok {
			return StateRef{}, false, nil
		}
		if s, err := r.stateRef(n); err != nil || s.ID == id {
			return s, err == nil, err
		} // another that begins alike, which somebody took pains to make
	} else {
		for _, n := range namedStates(v) {
			if n >= all {
				continue
			}
			if s, err := r.stateRef(n); err != nil || s.ID == id {
				return s, err == nil, err
			}
		}
	}
	return r.stateAmong(id, others, all)
}

// stateAmong looks at one state after the other, the latest first.
func (r *Repo) stateAmong(id [32]byte, from, to uint32) (StateRef, bool, error) {
	for n := to; n > from; n-- {
		if s, err := r.stateRef(n - 1); err != nil || s.ID == id {
			return s, err == nil, err
		}
	}
	return StateRef{}, false, nil
}

// fill brings the table up to date.
func (f *stateFinder) fill(r *Repo, v *store.View, all uint32) error {
	var named []uint32
	if f.table == nil {
		f.table, named = make(map[uint64]uint32, all), namedStates(v)
		_, f.upTo = foreign(v)
	}
	put := func(n uint32) error {
		s, err := r.stateRef(n)
		if err == nil {
			f.table[f.key(s.ID)] = n
		}
		return err
	}
	for ; f.upTo < all; f.upTo++ {
		if err := put(f.upTo); err != nil {
			return err
		}
	}
	for _, n := range named {
		if n >= all {
			continue
		}
		if err := put(n); err != nil {
			return err
		}
	}
	return nil
}

// maxHaves is how many states a request says that the asker has, 32 bytes each. It bounds what somebody with 100 000 tags
// sends to pull one change; what is common beyond them is found out by ranges.
const maxHaves = 4096

// haves are the ids of states that are here: those that names of the request stand for first, then the working copy's, and
// of the others as many as there is room for, the latest first.
func (r *Repo) haves(v *store.View, remote string, wants []sync.Ref) ([][32]byte, error) {
	var nums []uint32
	for _, ref := range wants {
		if ref.Kind != sync.Bookmark {
			continue
		}
		if n, ok := v.Bookmarks[ref.Name]; ok {
			nums = append(nums, n)
		}
		if n, ok := tracked(v, remote+"/"+ref.Name); ok {
			nums = append(nums, n)
		}
	}
	nums = append(nums, baseOf(v))
	for _, n := range slices.Backward(namedStates(v)) {
		nums = append(nums, n)
	}
	var ids [][32]byte
	seen := map[uint32]bool{NoState: true}
	for _, n := range nums {
		if seen[n] || len(ids) == maxHaves {
			continue
		}
		seen[n] = true
		s, err := r.stateRef(n)
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.ID)
	}
	return ids, nil
}
