package store

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// graph puts changes with random dependencies in ops of some hundreds, which end inside blocks and at their borders.
func graph(t *testing.T, fsys vfs.FS, rng *rand.Rand, changes uint32) (deps [][]uint32) {
	t.Helper()
	s := open(t, fsys)
	defer s.Close()
	for n := uint32(0); n < changes; {
		tx, err := s.Begin(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range min(changes-n, 1+rng.Uint32N(900)) {
			var d []uint32
			for range min(n, rng.Uint32N(5)) {
				back := 1 + rng.Uint32N(n)
				if rng.IntN(8) > 0 {
					back = min(back, 1+rng.Uint32N(50))
				}
				if !slices.Contains(d, n-back) {
					d = append(d, n-back)
				}
			}
			rec := Record{ID: change.ID(hashOf([]byte{byte(n), byte(n >> 8), byte(n >> 16)}))}
			if _, err := tx.PutChange(rec, d, 0); err != nil {
				t.Fatal(err)
			}
			deps = append(deps, d)
			n++
		}
		if _, err := tx.Commit(Op{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return deps
}

// naiveDependents asks each change in turn.
func naiveDependents(deps [][]uint32, of []uint32) (out []uint32) {
	on := map[uint32]bool{}
	for _, n := range of {
		on[n] = true
	}
	for n := range uint32(len(deps)) {
		if !on[n] && slices.ContainsFunc(deps[n], func(d uint32) bool { return on[d] }) {
			on[n] = true
			out = append(out, n)
		}
	}
	return out
}

func TestDependents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	mem := newMem(t)
	deps := graph(t, mem, rng, 12_000)
	asked := func(what string, s *Store, times int) {
		t.Helper()
		for range times {
			of := []uint32{rng.Uint32N(uint32(len(deps)))}
			for rng.IntN(3) == 0 {
				of = append(of, rng.Uint32N(uint32(len(deps))))
			}
			got, err := s.Dependents(of)
			if want := naiveDependents(deps, of); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: of %v it says %d changes, not %d: %v", what, of, len(got), len(want), err)
			}
		}
	}
	s := open(t, mem)
	if len(s.now.Load().sums) == 0 {
		t.Error("no block has a sum")
	}
	asked("as written", s, 200)
	if _, err := s.Dependents([]uint32{uint32(len(deps))}); err == nil {
		t.Error("of a change that is not there it says nothing")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// Whatever becomes of the sums and of the column, the answer is the log's.
	for _, name := range []string{sumsName(testDir), indexName(testDir, depsCol), indexName(testDir, changesCol)} {
		good, err := mem.ReadFile(name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			bad := slices.Clone(good)
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			if rng.IntN(4) == 0 {
				bad = bad[:rng.IntN(len(bad))]
			}
			if err := vfs.WriteFileAtomic(mem, name, bad, false); err != nil {
				t.Fatal(err)
			}
			s := open(t, mem)
			asked(name, s, 12)
			s.Close()
		}
		if err := vfs.WriteFileAtomic(mem, name, good, false); err != nil {
			t.Fatal(err)
		}
	}
	// A writer puts right what is wrong.
	if err := mem.Remove(sumsName(testDir)); err != nil {
		t.Fatal(err)
	}
	s = open(t, mem)
	tx, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(Op{}, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, mem)
	defer s.Close()
	if got := len(s.now.Load().sums) / sumSize; got != int(s.now.Load().n[depsCol]/depBlock) {
		t.Errorf("%d sums", got)
	}
	asked("put right", s, 20)
}
