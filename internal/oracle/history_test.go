package oracle

import (
	"flag"
	"fmt"
	"testing"
)

var thorough = flag.Bool("thorough", false, "ten thousand random histories instead of a few hundred")

// history is a story each of whose steps is checked against the laws that it could break.
type history struct {
	*Story
	t     *testing.T
	seen  *coverage
	loose bool // a law that fails is not an error, only found
	found bool
}

// coverage counts what the histories came across, to know that the laws were put to a test.
type coverage struct {
	sets, conflicts, many, settled, twins, resolutions, rollbacks, strong, unrecords, reopened int
}

func TestLaws(t *testing.T) {
	histories, steps := 2000, 12
	if *thorough {
		histories, steps = 10_000, 14
	}
	seen := &coverage{}
	for seed := range int64(histories) {
		(&history{Story: NewStory(seed), t: t, seen: seen}).run(steps)
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", *seen)
	if seen.conflicts == 0 || seen.many == 0 || seen.twins == 0 || seen.resolutions == 0 || seen.rollbacks == 0 ||
		seen.strong == 0 || seen.unrecords == 0 || seen.reopened == 0 {
		t.Errorf("some law was never put to a test: %+v", *seen)
	}
}

func (h *history) run(steps int) {
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
		if h.found {
			return
		}
	}
	h.united(h.Replicas[0], h.Replicas[1])
	all := h.Replicas[0].Union(h.Replicas[1]).Union(h.Replicas[2])
	h.set(all)
	h.undoings(all)
}

// fault reports a broken law with the whole story.
func (h *history) fault(law, format string, args ...any) {
	h.t.Helper()
	if h.found = true; h.loose {
		return
	}
	h.t.Errorf("%s: seed %d: %s\n%s", law, h.Seed, fmt.Sprintf(format, args...), h.World)
}

// The laws can fail: with any one definition made loose, random histories find a fault.
func TestLooseDefinitionsAreFoundOut(t *testing.T) {
	for name, l := range map[string]loose{
		"a record does not depend on the open region that its gap meets": {noRegion: true},
		"twins share their text, wherever it hangs":                      {literalTwin: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range int64(2000) {
				h := &history{Story: NewStory(seed), t: t, seen: &coverage{}, loose: true}
				h.World.loose = l
				if h.run(12); h.found {
					t.Logf("seed %d", seed)
					return
				}
			}
			t.Error("no law found it out")
		})
	}
}
