package weave

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
)

// A patch of many hunks makes of a large weave what its hunks make of it one by one.
func TestWindows(t *testing.T) {
	const line = 8
	windowed := 0
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 9))
		w := New(Source{Size: 4000 * line})
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
			if trial.windowed(hunks) {
				windowed++
			}
			if err := w.Apply(Source{Change: n, Size: off}, hunks); err != nil {
				t.Fatal(err)
			}
			sameRuns(t, w, one)
		}
	}
	if windowed < 20 {
		t.Errorf("only %d patches were applied by windows", windowed)
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

// What does not come in order, or does not fit, is left to be applied hunk by hunk: the weave stays as it was.
func TestNoWindows(t *testing.T) {
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
	hunks[30], hunks[500] = hunks[500], hunks[30]
	missing := append([]change.Hunk(nil), hunks[:40]...)
	missing[39].L = change.Pos{Change: 77, Off: 8}
	before := append([]Run(nil), w.Runs...)
	for _, bad := range [][]change.Hunk{hunks, missing} {
		a := applier{w: w, change: 2}
		if a.windowed(bad) {
			t.Error("applied by windows")
		}
		if d := cmp.Diff(before, w.Runs); d != "" {
			t.Error(d)
		}
	}
}
