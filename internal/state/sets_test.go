package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naiveSet is a Set as one would write it down.
type naiveSet map[uint32]bool

func (n naiveSet) sorted() []uint32 { return slices.Sorted(maps.Keys(n)) }

// randomSet adds stretches up and down, single numbers and repeats, near zero and near the greatest number.
func randomSet(r *rand.Rand) (Set, naiveSet) {
	var b SetBuilder
	naive := naiveSet{}
	add := func(n uint32) {
		b.Add(n)
		naive[n] = true
	}
	for range r.IntN(12) {
		from := r.Uint32N(40)
		if r.IntN(6) == 0 {
			from += 1<<32 - 59
		}
		length := r.Uint32N(20)
		switch r.IntN(3) {
		case 0:
			add(from)
		case 1:
			for i := range length {
				add(from + i)
			}
		default:
			for i := range length {
				add(from + length - i)
			}
		}
	}
	return b.Set(), naive
}

// checkSet holds a set against its like, and looks whether it is kept in as few runs as there can be.
func checkSet(t *testing.T, what string, s Set, want naiveSet) {
	t.Helper()
	sorted := want.sorted()
	if got := slices.Collect(s.From(0)); !slices.Equal(got, sorted) {
		t.Fatalf("%s (-wanted +got): %s", what, cmp.Diff(sorted, got))
	}
	down := slices.Collect(s.Down())
	slices.Reverse(down)
	if !slices.Equal(down, sorted) {
		t.Fatalf("%s, from above (-wanted +got): %s", what, cmp.Diff(sorted, down))
	}
	if s.Len() != uint64(len(sorted)) {
		t.Fatalf("%s: it says it has %d, not %d", what, s.Len(), len(sorted))
	}
	runs := 0
	for _, n := range sorted {
		if n == 0 || !want[n-1] {
			runs++
		}
	}
	if len(s.runs) != runs {
		t.Fatalf("%s: %d runs where %d do: %v", what, len(s.runs), runs, s.runs)
	}
	for _, n := range sorted {
		for _, near := range []uint32{n - 1, n, n + 1} {
			if s.Has(near) != want[near] {
				t.Fatalf("%s: has %d: %v", what, near, s.Has(near))
			}
		}
		rest := sorted[slices.Index(sorted, n):]
		if got := slices.Collect(s.From(n)); !slices.Equal(got, rest) {
			t.Fatalf("%s: from %d: %v, not %v", what, n, got, rest)
		}
	}
}

// Sets are what maps are.
func TestSetsAgainstMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 3000 {
		a, inA := randomSet(r)
		b, inB := randomSet(r)
		checkSet(t, fmt.Sprint(i, " a"), a, inA)
		without := maps.Clone(inA)
		maps.DeleteFunc(without, func(n uint32, _ bool) bool { return inB[n] })
		checkSet(t, fmt.Sprint(i, " a minus b"), a.Minus(b), without)
		checkSet(t, fmt.Sprint(i, " a minus a"), a.Minus(a), naiveSet{})
	}
}

// An iteration may end early.
func TestSetIterationStops(t *testing.T) {
	var b SetBuilder
	for n := range uint32(10) {
		b.Add(n)
	}
	s := b.Set()
	for n := range s.From(3) {
		if n == 5 {
			break
		}
	}
	for n := range s.Down() {
		if n == 5 {
			break
		}
	}
}

func BenchmarkSetOfALinearHistory(b *testing.B) {
	for b.Loop() {
		var sb SetBuilder
		for n := uint32(1_000_000); n > 0; n-- {
			sb.Add(n)
		}
		if s := sb.Set(); s.Len() != 1_000_000 {
			b.Fatal(s.Len())
		}
	}
}
