package repo

import (
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// replaced tells of changes that came together with others that stand in their stead: one of the two came from the other
// state, and they do the same twice now. needed are the changes that depend on the old ones and have no others in their stead.
func (r *Repo) replaced(from, other StateRef, ours, theirs []uint32) (pairs []Rewritten, needed []uint32, err error) {
	done := r.opt.Timings.Phase("replaced")
	defer done(0)
	var here, there state.Set
	has := func(n uint32) bool { return here.Has(n) || there.Has(n) }
	came := func(n uint32) bool { return there.Has(n) && !here.Has(n) }
	sets := false
	for _, n := range slices.Concat(ours, theirs) {
		olds, err := r.replacedBy(n)
		if err != nil {
			return nil, nil, err
		}
		if len(olds) > 0 && !sets {
			if here, err = r.setOf(from.Num); err != nil {
				return nil, nil, err
			}
			if there, err = r.setOf(other.Num); err != nil {
				return nil, nil, err
			}
			sets = true
		}
		// One that was made anew twice stands in the stead of the first too. An id is the hash of what names another id, so
		// this ends.
		for len(olds) > 0 {
			old := olds[0]
			if has(old) && (came(old) || came(n)) {
				pairs = append(pairs, Rewritten{old, n})
			}
			before, err := r.replacedBy(old)
			if err != nil {
				return nil, nil, err
			}
			olds = append(olds[1:], before...)
		}
	}
	if len(pairs) == 0 {
		return nil, nil, nil
	}
	return pairs, r.dependOnOld(pairs, has), nil
}

// replacedBy gives the changes that one stands in the stead of, as far as the repository has them.
func (r *Repo) replacedBy(n uint32) (olds []uint32, err error) {
	info, err := r.Info(n)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(info.Extra, func(f change.Field) bool { return f.Key == keyReplaces })
	if i < 0 {
		return nil, nil
	}
	for id := range strings.SplitSeq(info.Extra[i].Value, " ") {
		if len(id) != 2*len(change.ID{}) || !isHex(id) {
			continue // who recorded it meant something else
		}
		olds = append(olds, r.store.FindPrefix(strings.ToLower(id), 1)...)
	}
	return olds, nil
}

// dependOnOld lists what depends on the old of some pairs and is none of these itself.
func (r *Repo) dependOnOld(pairs []Rewritten, has func(uint32) bool) (needed []uint32) {
	gone := map[uint32]bool{}
	first := r.store.NumChanges()
	for _, p := range pairs {
		gone[p.Old] = true
		first = min(first, p.Old)
	}
	for n := first; n < r.store.NumChanges(); n++ {
		if !gone[n] && has(n) && slices.ContainsFunc(r.store.Deps(n), func(d uint32) bool { return gone[d] }) {
			gone[n] = true
			needed = append(needed, n)
		}
	}
	return needed
}
