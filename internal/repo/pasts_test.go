package repo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Whole pasts say what walking says, whatever was forgotten between.
func TestWholePasts(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		const changes = 900
		deps := make([][]uint32, changes)
		for n := uint32(1); n < changes; n++ {
			for range rng.IntN(4) {
				d := n - 1 - min(n-1, uint32(rng.ExpFloat64()*30))
				if rng.IntN(20) == 0 {
					d = rng.Uint32N(n)
				}
				deps[n] = append(deps[n], d)
			}
			slices.Sort(deps[n])
			deps[n] = slices.Compact(deps[n])
		}
		of := func(n uint32) []uint32 { return deps[n] }
		whole := newWholePasts(of)
		walked := &reach{pasts: map[uint32]*past{}, deps: of}
		for range 2000 {
			a, b := rng.Uint32N(changes), rng.Uint32N(changes)
			if a <= b {
				continue
			}
			if got, want := whole.of(a).has(b), walked.Reaches(a, b); got != want {
				t.Fatalf("seed %d: %d in the past of %d: %v, not %v", seed, b, a, got, want)
			}
			if rng.IntN(50) == 0 {
				whole.young, whole.old = map[uint32]bitset{}, whole.young
			}
			if rng.IntN(50) == 0 {
				whole.forget(a)
			}
			var some []uint32
			most := 6
			if rng.IntN(20) == 0 {
				most = 300
			}
			for range 1 + rng.IntN(most) {
				some = append(some, rng.Uint32N(changes))
			}
			if got, want := whole.minimal(some), minimalOf(some, of); !slices.Equal(got, want) {
				t.Fatalf("seed %d: of %v %v are needed, not %v", seed, some, got, want)
			}
		}
	}
}
