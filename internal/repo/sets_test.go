package repo

import (
	"slices"
	"testing"
)

// The sets behind where are those that the logs tell.
func TestSetsAgainstLogs(t *testing.T) {
	for seed := range uint64(4) {
		w := branched(t, seed, 25)
		w.with(t, func(r *Repo) error {
			bookmarks, tags, states := everyNamed(t, r)
			sets := map[uint32]map[uint32]bool{}
			for _, s := range states {
				sets[s.Num] = changesOf(t, r, s)
				set, err := r.setOf(s.Num)
				check(t, err)
				for n := range r.store.NumChanges() {
					if set.Has(n) != sets[s.Num][n] {
						t.Fatalf("state %d has change %d: %v", s.Num, n, set.Has(n))
					}
				}
			}
			for n := range r.store.NumChanges() {
				names, err := r.Where(n)
				check(t, err)
				for _, b := range bookmarks {
					if slices.Contains(names.Bookmarks, b.Name) != sets[b.State.Num][n] {
						t.Fatalf("change %d is in %s: %v", n, b.Name, names.Bookmarks)
					}
				}
				for _, b := range tags {
					if slices.Contains(names.Tags, b.Name) != sets[b.State.Num][n] {
						t.Fatalf("change %d is in %s: %v", n, b.Name, names.Tags)
					}
				}
				if names.Here != sets[states[0].Num][n] {
					t.Fatalf("change %d is here: %v", n, names.Here)
				}
			}
			return nil
		})
	}
}
