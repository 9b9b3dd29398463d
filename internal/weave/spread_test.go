package weave

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
)

// A patch of many hunks makes of a large weave what its hunks make of it one by one, and many patches what each makes of it.
func TestSpread(t *testing.T) {
	const line = 8
	spread := 0
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 9))
		w := New(Source{Size: 4000 * line})
		var all []Patch
		var first *Weave
		for n := uint32(1); n < 12; n++ {
			var edits []Edit
			shown, from := int(w.Size())/line, 0
			gap := 1 + rng.IntN(60)
			for at := rng.IntN(gap); at < shown; at += 1 + rng.IntN(gap) {
				a1 := min(at+rng.IntN(3), shown)
				ins := rng.IntN(3)
				if a1 == at && ins == 0 {
					continue
				}
				edits = append(edits, Edit{A0: at * line, A1: a1 * line, B0: from * line, B1: (from + ins) * line})
				at, from = a1, from+ins
			}
			hunks, _, err := w.Record(edits)
			if err != nil {
				t.Fatal(err)
			}
			one := w.Clone()
			a := applier{w: one, change: n}
			var off uint32
			for i := range hunks {
				if _, err := a.hunk(off, &hunks[i], 0); err != nil {
					t.Fatal(err)
				}
				off += hunks[i].InsLen
			}
			trial := applier{w: w.Clone(), change: n}
			if trial.spreading(hunks) {
				spread++
			}
			if err := w.Apply(Source{Change: n, Size: off}, hunks); err != nil {
				t.Fatal(err)
			}
			sameRuns(t, w, one)
			if n == 2 {
				first = w.Clone()
			} else if n > 2 {
				all = append(all, Patch{Source: Source{Change: n, Size: off}, Hunks: hunks})
			}
		}
		again := first.Clone()
		if n, err := again.applySome(all); n != len(all) || err != nil {
			t.Errorf("%d of %d patches were applied at once: %v", n, len(all), err)
		}
		sameRuns(t, again, w)
		if d := cmp.Diff(w.Sources, again.Sources); d != "" {
			t.Error(d)
		}
		// One that does not fit: those before it are there, and it is named.
		broken := slices.Clone(all[3].Hunks)
		broken[7].L = change.Pos{Change: 77, Off: 8}
		bad := append(slices.Clone(all[:3]), Patch{Source: all[3].Source, Hunks: broken})
		again = first.Clone()
		if n, err := again.applySome(bad); n != 0 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		sameRuns(t, again, first)
		fit, some := first.Clone(), first.Clone()
		if err := fit.ApplyAll(bad[:3]); err != nil {
			t.Fatal(err)
		}
		if n, err := some.addSome(bad, inALine{}, 1<<20); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		sameRuns(t, some, fit)
		if _, err := some.AddAll(bad[3:], inALine{}); !errors.Is(err, ErrMismatch) {
			t.Error(err)
		}
		if err := again.ApplyAll(bad); !errors.Is(err, ErrMismatch) {
			t.Error(err)
		}
	}
	if spread < 20 {
		t.Errorf("only %d patches were applied to a weave that was spread out", spread)
	}
}

// sameRuns compares two weaves, which may number their sets otherwise.
func sameRuns(t *testing.T, w, want *Weave) {
	t.Helper()
	w, want = w.Clone(), want.Clone()
	w.join()
	want.join()
	if len(w.Runs) != len(want.Runs) {
		t.Fatalf("%d runs, not %d", len(w.Runs), len(want.Runs))
	}
	cover := func(c, o Cover) {
		if !slices.Equal(w.Members(c.Add), want.Members(o.Add)) || !slices.Equal(w.Members(c.Del), want.Members(o.Del)) {
			t.Fatalf("a place is covered by %v and %v, not by %v and %v", w.Members(c.Add), w.Members(c.Del), want.Members(o.Add), want.Members(o.Del))
		}
	}
	for i := range w.Runs {
		r, o := w.Runs[i], want.Runs[i]
		cover(r.Before, o.Before)
		cover(r.Inside, o.Inside)
		if !slices.Equal(w.Members(r.Dead), want.Members(o.Dead)) {
			t.Fatalf("run %d is deleted by %v, not %v", i, w.Members(r.Dead), want.Members(o.Dead))
		}
		r.Before, r.Inside, r.Dead = o.Before, o.Inside, o.Dead
		if r != o {
			t.Fatalf("run %d is %+v, not %+v", i, r, o)
		}
	}
	cover(w.Tail, want.Tail)
}

// What does not fit is left to be applied hunk by hunk: the weave stays as it was.
func TestNoSpread(t *testing.T) {
	const line = 8
	w := New(Source{Size: 4000 * line})
	var edits []Edit
	for i := range 1000 {
		edits = append(edits, Edit{A0: 4 * i * line, A1: (4*i + 1) * line, B0: i * line, B1: (i + 1) * line})
	}
	hunks, _, err := w.Record(edits)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(Source{Change: 1, Size: 1000 * line}, hunks); err != nil {
		t.Fatal(err)
	}
	missing := slices.Clone(hunks[:40])
	missing[39].L = change.Pos{Change: 77, Off: 8}
	crossed := slices.Clone(hunks[:40])
	crossed[39].R = crossed[30].R
	before := slices.Clone(w.Runs)
	for _, bad := range [][]change.Hunk{missing, crossed} {
		a := applier{w: w, change: 2}
		if a.spreading(bad) {
			t.Error("applied to a weave that was spread out")
		}
		if d := cmp.Diff(before, w.Runs); d != "" {
			t.Error(d)
		}
	}
}

// inALine is a history in which each change knows all before it.
type inALine struct{ History }

func (inALine) Reaches(a, b uint32) bool { return a >= b }
