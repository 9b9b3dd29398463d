package repo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// closure finds what is reached from a change by edges, and in how many steps, the slow way.
func closure(from uint32, edges func(uint32) []uint32) map[uint32]int {
	depth := map[uint32]int{from: 0}
	for grown := true; grown; {
		grown = false
		for n, d := range depth {
			for _, to := range edges(n) {
				if old, ok := depth[to]; !ok || d+1 < old {
					depth[to] = d + 1
					grown = true
				}
			}
		}
	}
	delete(depth, from)
	return depth
}

// Dependencies and dependents are what following the ids of the changes, one by one, finds.
func TestRelatedAgainstClosure(t *testing.T) {
	for seed := range uint64(4) {
		w := branched(t, seed, 25)
		w.with(t, func(r *Repo) error {
			deps := make([][]uint32, r.store.NumChanges())
			byID := map[change.ID]uint32{}
			for n := range deps {
				byID[r.store.ChangeID(uint32(n))] = uint32(n)
			}
			for n := range deps {
				info, err := r.Info(uint32(n))
				check(t, err)
				for _, id := range info.Deps {
					deps[n] = append(deps[n], byID[id])
				}
			}
			down := func(n uint32) []uint32 { return deps[n] }
			for n := range uint32(len(deps)) {
				want := closure(n, down)
				got, err := r.Deps(n, true)
				check(t, err)
				checkRelated(t, fmt.Sprint("deps of ", n), n, got, want, down)
				got, err = r.Deps(n, false)
				check(t, err)
				checkRelated(t, fmt.Sprint("nearest deps of ", n), n, got, nearest(want), down)
			}
			_, _, states := everyNamed(t, r)
			for _, s := range states {
				set := changesOf(t, r, s)
				up := func(n uint32) (out []uint32) {
					for m := range set {
						if slices.Contains(deps[m], n) {
							out = append(out, m)
						}
					}
					return out
				}
				for n := range uint32(len(deps)) {
					got, err := r.Dependents(n, s, true)
					if !set[n] {
						if e := (*Error)(nil); !errors.As(err, &e) || !e.No {
							t.Fatalf("dependents of %d in a state without it: %v, %v", n, got, err)
						}
						continue
					}
					check(t, err)
					want := closure(n, up)
					checkRelated(t, fmt.Sprint("dependents of ", n), n, got, want, up)
					got, err = r.Dependents(n, s, false)
					check(t, err)
					checkRelated(t, fmt.Sprint("nearest dependents of ", n), n, got, nearest(want), up)
				}
			}
			return nil
		})
	}
}

func nearest(depth map[uint32]int) map[uint32]int {
	out := map[uint32]int{}
	for n, d := range depth {
		if d == 1 {
			out[n] = d
		}
	}
	return out
}

// checkRelated looks whether each is there once, as deep as it is, beneath one that leads to it.
func checkRelated(t *testing.T, what string, from uint32, got []Related, want map[uint32]int, edges func(uint32) []uint32) {
	t.Helper()
	want = maps.Clone(want)
	above := []uint32{from}
	for _, rel := range got {
		if want[rel.Num] != rel.Depth {
			t.Fatalf("%s: %d lies %d deep, not %d", what, rel.Num, want[rel.Num], rel.Depth)
		}
		if rel.Depth > len(above) || !slices.Contains(edges(above[rel.Depth-1]), rel.Num) {
			t.Fatalf("%s: %d stands beneath none that leads to it: %v", what, rel.Num, got)
		}
		above = append(above[:rel.Depth], rel.Num)
		delete(want, rel.Num)
	}
	if len(want) > 0 {
		t.Fatalf("%s: missing %v of %v", what, want, got)
	}
}
