package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/state"
)

// The sets behind where and compare are those that the logs tell.
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
			for _, a := range states {
				for _, b := range states {
					checkCompare(t, r, a, b, sets)
				}
			}
			return nil
		})
	}
}

func checkCompare(t *testing.T, r *Repo, a, b StateRef, sets map[uint32]map[uint32]bool) {
	t.Helper()
	c, err := r.Compare(a, b)
	check(t, err)
	var onlyA, onlyB []uint32
	shared := uint64(0)
	for n := range sets[a.Num] {
		if sets[b.Num][n] {
			shared++
		} else {
			onlyA = append(onlyA, n)
		}
	}
	for n := range sets[b.Num] {
		if !sets[a.Num][n] {
			onlyB = append(onlyB, n)
		}
	}
	sorted := func(nums []uint32) []uint32 { return slices.Sorted(slices.Values(nums)) }
	if !slices.Equal(sorted(onlyA), sorted(c.OnlyA)) || !slices.Equal(sorted(onlyB), sorted(c.OnlyB)) || c.Shared != shared {
		t.Fatalf("states %d and %d: only %v and %v, %d shared; it says %v, %v, %d", a.Num, b.Num, onlyA, onlyB, shared, c.OnlyA, c.OnlyB, c.Shared)
	}
	if (a.ID == b.ID) != (len(c.OnlyA)+len(c.OnlyB) == 0) {
		t.Fatalf("states %d and %d: the ids tell something else", a.Num, b.Num)
	}
}

// The set of a state is kept beside its tree now and then; it is the log's all the same, also after an unrecord.
func TestKeptSets(t *testing.T) {
	w := born(t)
	w.commit(t, "first")
	ctx := context.Background()
	w.with(t, func(r *Repo) error {
		_, err := transact(r, func(x *tx) (bool, error) {
			if err := x.keepSet(x.before, 1); err != nil {
				return false, err
			}
			return true, x.commit("checkpoint")
		})
		return err
	})
	for i := range 3 {
		put(t, w.mem, "a", lines(0, 20+i))
		w.commit(t, fmt.Sprint(i))
	}
	w.with(t, func(r *Repo) error {
		base, err := r.Base()
		check(t, err)
		id := r.store.ChangeID(2).String()
		_, err = r.Unrecord(ctx, []string{id}, UnrecordOptions{WithDependents: true})
		check(t, err)
		now, err := r.Base()
		check(t, err)
		if kept, ok, err := r.keptSet(0); !ok || err != nil || !kept.Equal(state.NewSet(0)) {
			t.Errorf("kept: %v %v %v", kept, ok, err)
		}
		for _, s := range []StateRef{base, now} {
			set, err := r.setOf(s.Num)
			check(t, err)
			if got, want := slices.Collect(set.All()), slices.Sorted(maps.Keys(changesOf(t, r, s))); !slices.Equal(got, want) {
				t.Errorf("state %d has %v, not %v", s.Num, want, got)
			}
		}
		return nil
	})
}
