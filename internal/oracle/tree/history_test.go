package tree

import (
	"flag"
	"fmt"
	"testing"
)

var (
	histories = flag.Int("histories", 1000, "how many random histories")
	steps     = flag.Int("steps", 12, "of each")
	from      = flag.Int64("from", 0, "the first seed")
)

// history is a story each of whose steps is checked against the laws that it could break.
type history struct {
	*Story
	seen  map[string]int
	fail  func(law, what string)
	found bool
}

// TestLaws also counts what the histories came across, to know that the laws were put to a test.
func TestLaws(t *testing.T) {
	seen := map[string]int{}
	laws := map[string]bool{}
	for seed := *from; seed < *from+int64(*histories) && len(laws) < 5; seed++ {
		tell(seed, loose{}, seen, func(law, what string) {
			if !laws[law] {
				laws[law] = true
				t.Errorf("%s: seed %d: %s", law, seed, what)
			}
		})
	}
	t.Log(seen)
	for _, k := range []string{"place", "mode", "body", "life", "name", "text"} {
		if seen["conflicts "+k] == 0 || seen["settled "+k] == 0 {
			t.Errorf("no %s conflict was ever open and settled", k)
		}
	}
	for _, k := range []string{"twins", "rivals", "rollbacks", "undone alone", "unions without undoing", "independent", "edits", "unrecords"} {
		if seen[k] == 0 {
			t.Errorf("%s: never", k)
		}
	}
}

// tell runs a history with some definition made loose.
func tell(seed int64, l loose, seen map[string]int, fail func(law, what string)) {
	h := &history{Story: NewStory(seed), seen: seen}
	h.loose = l
	h.fail = func(law, what string) {
		if !h.found {
			h.found = true
			fail(law, what)
		}
	}
	h.run(*steps)
}

func (h *history) run(steps int) {
	defer func() {
		if e := recover(); e != nil {
			if h.loose == (loose{}) {
				panic(fmt.Sprintf("seed %d: %v\n%s", h.Seed, e, h.World))
			}
			h.fault("panic", "%v", e)
		}
	}()
	for range steps {
		e := h.Next()
		switch e.Kind {
		case Edited:
			h.edited(e)
		case Pulled:
			h.united(e.Before, e.Pulled)
		case Unrecorded:
			h.unrecorded(e)
		case RolledBack:
			h.rolledBack(e)
		}
		h.set(e.After)
		if h.Rand.Intn(4) == 0 {
			h.rivals(e.After)
		}
		if h.found {
			return
		}
	}
	all := h.Replicas[0].Union(h.Replicas[1]).Union(h.Replicas[2])
	h.united(h.Replicas[0], h.Replicas[1])
	h.set(all)
	h.rivals(all)
	h.undoings(all)
}

// fault reports a broken law with the whole story.
func (h *history) fault(law, format string, args ...any) {
	h.fail(law, fmt.Sprintf(format, args...)+"\n"+h.World.String())
}
