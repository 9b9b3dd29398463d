package store

import "testing"

// Before the operation that brought a change there were as many states as were seen there were then, also in a packed log.
func TestStatesBefore(t *testing.T) {
	for seed := range uint64(4) {
		s := open(t, newMem(t))
		rng, m := testRand(seed), newModel()
		var want []uint32 // of each change
		had := 0
		look := func(when string) {
			t.Helper()
			if len(want) == 0 {
				t.Fatal("no change was made")
			}
			for n, states := range want {
				if got, err := s.StatesBefore(uint32(n)); err != nil || got != states {
					t.Errorf("%s, change %d of %d: %d states and %v, want %d", when, n, len(want), got, err, states)
				}
			}
			if got, err := s.StatesBefore(s.NumChanges()); err != nil || got != s.NumStates() {
				t.Errorf("%s, a change to come: %d states and %v, want %d", when, got, err, s.NumStates())
			}
			if had == 0 {
				t.Error("no state was made")
			}
		}
		for range 30 {
			had = int(s.NumStates())
			var err error
			if m, err = m.commit(s, rng, mixed); err != nil {
				t.Fatal(err)
			}
			for len(want) < int(s.NumChanges()) {
				want = append(want, uint32(had))
			}
		}
		look("as written")
		if err := repackAll(s); err != nil {
			t.Fatal(err)
		}
		look("packed")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
