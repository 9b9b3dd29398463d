package repo

import (
	"slices"
	"testing"
)

func TestVerbOfACommand(t *testing.T) {
	for _, test := range []struct {
		command []string
		verb    string
	}{
		{nil, ""},
		{[]string{"undo"}, "undo"},
		{[]string{"-C", "undo", "redo"}, "redo"},
		{[]string{"--json", "--color", "always", "--dir=x", "undo", "-C", "y"}, "undo"},
		{[]string{"-C"}, ""},
	} {
		if got := verbOf(test.command); got != test.verb {
			t.Errorf("the verb of %q is %q, not %q", test.command, got, test.verb)
		}
	}
}

// What an operation brought and took is the difference of all that had a name before and after.
func TestShowOpAgainstLogs(t *testing.T) {
	w := branched(t, 7, 30)
	w.with(t, func(r *Repo) error {
		named := func(n uint32) map[uint32]bool {
			out := map[uint32]bool{}
			v, err := r.store.OpView(n)
			check(t, err)
			states := []uint32{baseOf(v)}
			for _, s := range v.Bookmarks {
				states = append(states, s)
			}
			for _, s := range v.Tags {
				states = append(states, s)
			}
			for _, s := range states {
				ref, err := r.stateRef(s)
				check(t, err)
				for c := range changesOf(t, r, ref) {
					out[c] = true
				}
			}
			return out
		}
		for n := uint32(1); n < r.store.NumOps(); n++ {
			d, err := r.ShowOp(n)
			check(t, err)
			was, is := named(n-1), named(n)
			for c := range r.store.NumChanges() {
				if slices.Contains(d.Gained, c) != (is[c] && !was[c]) || slices.Contains(d.Lost, c) != (was[c] && !is[c]) {
					t.Fatalf("operation %d, %v: it says %v came and %v went, which is wrong of %d", n, d.Command, d.Gained, d.Lost, c)
				}
			}
		}
		return nil
	})
}
