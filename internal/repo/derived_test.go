package repo

import (
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What was derived is given back as long as the states that it was derived from have their numbers.
func TestDerived(t *testing.T) {
	w := branched(t, 3, 20)
	r, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	defer r.Close()
	n := r.NumStates()
	given := func(want string, wantStates uint32) {
		t.Helper()
		if data, states := r.Derived("what"); string(data) != want || states != wantStates {
			t.Errorf("%q of %d states, not %q of %d", data, states, want, wantStates)
		}
	}
	given("", 0)
	r.KeepDerived("what", n+1, []byte("of more than there are"))
	given("", 0)
	r.KeepDerived("what", n-1, []byte("words"))
	given("words", n-1)
	name := r.derivedFile("what")
	whole, err := w.mem.ReadFile(name, maxDerived)
	check(t, err)
	for i := range whole {
		b := append([]byte(nil), whole...)
		b[i] ^= 1
		check(t, vfs.WriteFileAtomic(w.mem, name, b, false))
		given("", 0)
	}
	for i := range whole {
		check(t, vfs.WriteFileAtomic(w.mem, name, whole[:i], false))
		given("", 0)
	}
	check(t, vfs.WriteFileAtomic(w.mem, name, whole, false))
	given("words", n-1)

	// Another repository with as many states has others.
	other := branched(t, 4, 20)
	o, err := Open(memRoot, memOptions(other.mem))
	check(t, err)
	defer o.Close()
	if o.NumStates() < n-1 {
		t.Fatal("the other repository is too short")
	}
	check(t, vfs.WriteFileAtomic(other.mem, o.derivedFile("what"), whole, false))
	if data, _ := o.Derived("what"); data != nil {
		t.Errorf("%q was derived from other states", data)
	}
}
