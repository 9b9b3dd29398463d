package bucket

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// TestCrashes stops a pusher at each of its requests, before it is done and after: a push that merges packs, sweeps, and deletes. The bucket holds what was pushed before, or
// the push too; the next push goes well, and in the end nothing is left of the one that was stopped.
func TestCrashes(t *testing.T) {
	w := newWorld(t, 9)
	var log []change.ID
	push := func(name string, n int) {
		for range n {
			log = append(slices.Clone(log), w.fresh(1)...)
			w.push(pushOne{sync.Bookmark, name, log, false})
			w.clock = w.clock.Add(time.Hour)
		}
	}
	push("main", 35) // of which many are garbage now, and were found to be
	w.clock = w.clock.Add(2 * garbageAge)
	w.m.log = nil
	good, clock, old := w.m, w.clock, slices.Clone(log)
	next := append(slices.Clone(log), w.fresh(1)...)
	act := func(m *memory) ([]sync.Answer, error) {
		w.clock = clock
		w.c.store = m
		return w.c.push(context.Background(), pushOne{sync.Bookmark, "main", next, false})
	}
	m := good.copy()
	m.now = w.m.now
	if _, err := act(m); err != nil {
		t.Fatal(err)
	}
	requests := strings.Join(m.log, "\n")
	for _, kind := range []string{"PUT project/root", "PUT project/garbage", "LIST", "DELETE"} {
		if !strings.Contains(requests, kind) {
			t.Fatalf("the push makes no %s:\n%s", kind, requests)
		}
	}
	t.Logf("%d requests", m.n)
	for n := range m.n {
		for _, how := range []fault{before, after} {
			m := good.copy()
			m.fault = func(i int) fault {
				if i >= n {
					return how
				}
				return none
			}
			answers, err := act(m)
			m.fault = func(int) fault { return none }
			w.m = m
			b := New(w.c.store, "project", w.c)
			r, failed := b.readRoot(context.Background())
			if failed != nil {
				t.Fatalf("stopped at %d: %v", n, failed)
			}
			main, _ := r.Name(sync.Bookmark, "main")
			done := main.State == stateOf(next)
			if !done && main.State != stateOf(old) {
				t.Fatalf("stopped at %d: main is neither old nor new", n)
			}
			if err == nil && answers[0].Done != done {
				t.Fatalf("stopped at %d: %v, and it is %v", n, answers, done)
			}
			if err != nil && !errors.Is(err, errWay) {
				t.Fatalf("stopped at %d: %v", n, err)
			}
			w.names[sync.Bookmark]["main"] = old
			if done {
				w.names[sync.Bookmark]["main"] = next
			}
			log = next
			w.whole()
			for range 3 {
				w.check()
			}
			if n%4 == 0 {
				push("main", 14)
				w.check()
				w.clock = w.clock.Add(2 * garbageAge)
				push("main", 14)
				w.clock = w.clock.Add(2 * garbageAge)
				push("main", 8)
				if g := w.garbage(); g > 20 {
					t.Errorf("stopped at %d: %d packs of garbage are left", n, g)
				}
			}
		}
	}
}
