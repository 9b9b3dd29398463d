package weave

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// Many write into one place, each knowing of some of the others only: so lines hang on both sides of each other and
// siblings have siblings, which stories of three replicas seldom get to.
func TestCrowd(t *testing.T) {
	worlds := int64(500)
	if *thorough {
		worlds = 20_000
	}
	for seed := range worlds {
		rng := rand.New(rand.NewSource(seed))
		w := oracle.NewWorld(rng)
		if _, err := w.Record(oracle.Set{}, []string{"1\n", "2\n"}); err != nil {
			t.Fatal(err)
		}
		r := replicas{t: t, h: history{w}, seed: seed, seen: &coverage{}}
		all := New(r.h.patch(0).Source)
		for len(w.Changes) < 8 {
			c, err := w.Record(crowdEdit(w, crowdPart(w, rng), rng))
			if err != nil {
				t.Fatal(err)
			}
			if c == nil { // a line replaced by the same
				continue
			}
			if all, err = all.Add(r.h.patch(c.Num), r.h); err != nil {
				t.Fatal(err)
			}
		}
		a, b := crowdPart(w, rng), crowdPart(w, rng)
		wa, errA := all.Only(func(c uint32) bool { return a[c] }, r.h)
		wb, errB := all.Only(func(c uint32) bool { return b[c] }, r.h)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		m, err := Merge(wa, wb, r.h)
		if err != nil {
			t.Fatal(err)
		}
		r.compare(m, a.Union(b))
		r.compare(all, oracle.Of(0, 1, 2, 3, 4, 5, 6, 7))
		r.view(m, a.Union(b))
		if t.Failed() {
			t.Logf("seed %d\n%s", seed, w)
			return
		}
	}
}

// crowdPart is a few random changes and what they depend on.
func crowdPart(w *oracle.World, rng *rand.Rand) oracle.Set {
	s := oracle.Of(0)
	for range 1 + rng.Intn(4) {
		c := uint32(rng.Intn(len(w.Changes)))
		s = s.Union(w.Changes[c].Past).With(c)
	}
	return s
}

// crowdEdit is what a set shows with a line more, seldom one less.
func crowdEdit(w *oracle.World, s oracle.Set, rng *rand.Rand) (oracle.Set, []string) {
	items := w.Render(s).Items
	at := rng.Intn(len(items) + 1)
	var want []string
	for i, it := range items {
		if i == at {
			want = append(want, string(rune('a'+rng.Intn(20)))+"\n")
			if it.Block == nil && rng.Intn(6) == 0 {
				continue
			}
		}
		want = append(want, it.Lines...)
	}
	if at == len(items) {
		want = append(want, string(rune('a'+rng.Intn(20)))+"\n")
	}
	return s, slices.Clip(want)
}
