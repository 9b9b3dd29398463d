package weave

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
	"pgregory.net/rapid"
)

// render is the text that shows, from what each change inserted.
func render(w *Weave, text map[uint32]string) (s string) {
	for _, r := range w.Runs {
		if r.Dead == 0 {
			s += text[r.Change][r.Off : r.Off+r.Len]
		}
	}
	return
}

// closure is a set with all that its members depend on.
func closure(anc map[uint32]map[uint32]bool, deps map[uint32]bool) map[uint32]bool {
	out := map[uint32]bool{}
	for d := range deps {
		out[d] = true
		for a := range anc[d] {
			out[a] = true
		}
	}
	return out
}

// A file edited at random: after each record the weave shows what the naive model shows, in the same order with the
// same deleters, its dependencies reach the same changes, and it survives being encoded.
func TestAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "ab\n", "\n"})
		first := strings.Join(rapid.SliceOfN(line, 0, 5).Draw(t, "first"), "")
		n := &naive{text: map[uint32]string{}}
		w := New(Source{Change: 0, Size: uint32(len(first))})
		n.record(0, []lineEdit{{0, 0, slices.Collect(strings.Lines(first))}})
		anc := map[uint32]map[uint32]bool{}
		for c := uint32(1); c < 12; c++ {
			shown := n.shown()
			var edits []lineEdit
			for at := 0; at <= len(shown) && len(edits) < 3; {
				e := lineEdit{a0: at + rapid.IntRange(0, len(shown)-at).Draw(t, "skip")}
				e.a1 = e.a0 + rapid.IntRange(0, min(3, len(shown)-e.a0)).Draw(t, "cut")
				e.lines = rapid.SliceOfN(line, 0, 2).Draw(t, "ins")
				if e.a1 > e.a0 || len(e.lines) > 0 {
					edits = append(edits, e)
				}
				at = e.a1 + 1
				if rapid.Bool().Draw(t, "stop") {
					break
				}
			}
			if len(edits) == 0 {
				continue
			}
			off := func(i int) (b int) {
				for _, l := range shown[:i] {
					b += int(l.n)
				}
				return
			}
			var es []Edit
			var ins string
			for _, e := range edits {
				b0 := len(ins)
				ins += strings.Join(e.lines, "")
				es = append(es, Edit{off(e.a0), off(e.a1), b0, len(ins)})
			}
			hunks, deps, err := w.Record(es)
			if err != nil {
				t.Fatal(err)
			}
			want := n.record(c, edits)
			got := map[uint32]bool{}
			for _, d := range deps {
				got[d] = true
			}
			if len(n.lines) > 0 {
				want[0], got[0] = true, true // whoever edits a file depends on its adding
			}
			if d := cmp.Diff(closure(anc, want), closure(anc, got)); d != "" {
				t.Fatalf("dependencies of %d (-definition +weave):\n%s\n%v", c, d, w)
			}
			anc[c] = closure(anc, want)
			before := w.Clone()
			if err := w.Apply(Source{Change: c, Ord: 3, Size: uint32(len(ins))}, hunks); err != nil {
				t.Fatal(err)
			}
			compare(t, w, n)
			again, err := Decode(w.Encode(nil))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, again, n)
			if d := cmp.Diff(w.Encode(nil), again.Encode(nil)); d != "" {
				t.Fatal("encodes otherwise once decoded")
			}
			old, err := w.Only(func(x uint32) bool { return x < c }, linear(anc))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(elements(before), elements(old)); d != "" {
				t.Fatalf("seen without %d (-before +now):\n%s", c, d)
			}
		}
	})
}

// linear is a history in which changes are ordered by their number.
type linear map[uint32]map[uint32]bool

func (l linear) Less(a, b uint32) bool                      { return a < b }
func (l linear) Reaches(a, b uint32) bool                   { return a == b || l[a][b] }
func (l linear) SameText(_, _ change.Stretch) (bool, error) { return false, nil }

func compare(t *rapid.T, w *Weave, n *naive) {
	if got, want := render(w, n.text), n.render(); got != want {
		t.Fatalf("shows %q, want %q", got, want)
	}
	var got, want []string
	for _, r := range w.Runs {
		for i := range r.Len {
			got = append(got, fmt.Sprint(r.Change, r.Off+i, w.Members(r.Dead)))
		}
	}
	for _, l := range n.lines {
		for i := range l.n {
			want = append(want, fmt.Sprint(l.c, l.off+i, l.dead))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("order or deleters differ (-definition +weave):\n%s", d)
	}
}

func TestMisfitsAreRefused(t *testing.T) {
	pos := func(c, off uint32) change.Pos { return change.Pos{Change: c, Off: off} }
	cases := map[string]change.Hunk{
		"a line of another change":   {L: pos(7, 1), R: change.End, InsLen: 1},
		"a gap that runs backwards":  {L: pos(0, 4), R: pos(0, 2), InsLen: 1},
		"a deletion outside its gap": {L: change.Start, R: pos(0, 2), Del: []change.Stretch{{Change: 0, Off: 2, Len: 2}}},
		"a place that is taken":      {L: pos(0, 2), R: pos(0, 2), InsLen: 1},
		"a parent elsewhere":         {L: pos(0, 2), R: pos(0, 2), InsLen: 1, Left: true, Parent: pos(0, 4)},
		"a deletion past the end":    {L: pos(0, 2), R: change.End, Del: []change.Stretch{{Change: 0, Off: 2, Len: 900}}},
	}
	for name, h := range cases {
		t.Run(name, func(t *testing.T) {
			w := New(Source{Change: 0, Size: 6})
			if err := w.Apply(Source{Change: 1, Size: h.InsLen}, []change.Hunk{h}); !errors.Is(err, ErrMismatch) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	w := New(Source{Change: 0, Size: 6, Hash: change.Hash{1}})
	h, _, _ := w.Record([]Edit{{2, 4, 0, 2}})
	_ = w.Apply(Source{Change: 1, Size: 2}, h)
	f.Add(w.Encode(nil))
	for seed := range int64(20) {
		s := oracle.NewStory(seed)
		r := replicas{h: history{s.World}}
		all := New(r.h.patch(0).Source)
		for range 12 {
			s.Next()
		}
		for c := uint32(1); int(c) < len(s.Changes); c++ {
			var err error
			if all, err = all.Add(r.h.patch(c), r.h); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(all.Encode(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := Decode(b)
		if err != nil {
			return
		}
		_ = w.Size()
		_, _, _ = w.Record([]Edit{{0, 1, 0, 1}})
		if v, err := w.View(linear{}); err == nil {
			_, _, _ = v.Record(v.Segments(func(int) bool { return false }), [][]Edit{{{0, 1, 0, 1}}})
		}
		for _, s := range w.Sources {
			if p, _, err := w.Undo(Source{Change: math.MaxUint32}, s.Change, linear{}); err == nil {
				_ = w.Clone().ApplyPatch(p, linear{})
				_, _ = w.Add(p, linear{})
			}
		}
		odd, _ := w.Only(func(c uint32) bool { return c%2 == 1 }, linear{})
		even, _ := w.Only(func(c uint32) bool { return c%2 == 0 }, linear{})
		if odd != nil && even != nil {
			_, _ = Merge(odd, even, linear{})
		}
	})
}
