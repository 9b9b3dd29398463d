package repo

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// What acts on a file is found whatever was learnt before, in whatever order, and after a failure too.
func TestTouchedFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const changes, files = 200, 12
	acts := make([][]change.FileID, changes)
	for n := range acts {
		for range rng.IntN(3) {
			acts[n] = append(acts[n], change.FileID{Change: rng.Uint32N(files)})
		}
	}
	asked := make([]int, changes)
	failed := false
	broken := errors.New("no such change")
	k := newTouchedFiles(func(n uint32) (*originOf, error) {
		if n == 77 && !failed {
			failed = true
			return nil, broken
		}
		asked[n]++
		o := &originOf{change: n, files: make([]change.File, len(acts[n]))}
		for i, id := range acts[n] {
			o.files[i].ID = id
		}
		return o, nil
	})
	for range 400 {
		var nums []uint32
		for range rng.IntN(9) {
			first := rng.Uint32N(changes)
			for n := first; n < min(first+rng.Uint32N(6), changes); n++ {
				nums = append(nums, n)
			}
		}
		set := state.NewSet(nums...)
		want := map[change.FileID][]uint32{}
		for n := range set.All() {
			for _, id := range acts[n] {
				want[id] = append(want[id], n)
			}
		}
		got := map[change.FileID][]uint32{}
		add := func(n uint32, id change.FileID) { got[id] = append(got[id], n) }
		if err := k.each(set, add); errors.Is(err, broken) {
			if err = k.each(set, add); err != nil {
				t.Fatal(err)
			}
		} else if err != nil {
			t.Fatal(err)
		}
		for f := range uint32(files) {
			id := change.FileID{Change: f}
			if !slices.Equal(got[id], want[id]) {
				t.Fatalf("%v act on file %d, not %v", got[id], f, want[id])
			}
			if k.by(id, set) != (len(want[id]) > 0) {
				t.Fatalf("of %v some act on file %d: %v", nums, f, k.by(id, set))
			}
		}
	}
	if !failed || slices.Max(asked) > 1 {
		t.Errorf("a change was asked about %d times", slices.Max(asked))
	}
}
