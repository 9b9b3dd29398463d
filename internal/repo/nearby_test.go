package repo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Where the levels and a few steps tell whether one change is in the past of another, it is what a walk of its whole past says; and mostly
// they do.
func TestNearbyReaches(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	sure, unsure := 0, 0
	for _, far := range []int{3, 40, 3000} {
		deps := make([][]uint32, 3000)
		of := make(levels, len(deps))
		for n := range deps {
			for range 1 + rnd.IntN(3) {
				if n > 0 {
					deps[n] = append(deps[n], uint32(n-1-rnd.IntN(min(n, far))))
				}
			}
			slices.Sort(deps[n])
			deps[n] = slices.Compact(deps[n])
			for _, d := range deps[n] {
				of[n] = max(of[n], of[d]+1)
			}
		}
		get := func(n uint32) []uint32 { return deps[n] }
		near, walk := newNearby(of, get), &reach{pasts: map[uint32]*past{}, deps: get}
		near.turn = ^uint32(0) - 500 // the marks are begun anew on the way
		for range 3000 {
			a := 1 + rnd.Uint32N(uint32(len(deps)-1))
			b := rnd.Uint32N(a)
			got, ok := near.reaches(a, b)
			if !ok {
				unsure++
				continue
			}
			sure++
			if want := walk.Reaches(a, b); got != want {
				t.Fatalf("%d reaches %d: %v, and a walk says %v", a, b, got, want)
			}
		}
		if _, ok := near.reaches(uint32(len(deps)), 0); ok {
			t.Error("it is sure of a change that it does not know")
		}
	}
	if sure < unsure || unsure == 0 {
		t.Errorf("%d answers, and %d none", sure, unsure)
	}
}
