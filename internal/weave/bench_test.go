package weave

import (
	"math/rand"
	"strconv"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// sides is a history of two lines of changes on one base: 1, 3, 5 and 2, 4, 6. A union's resolution would end it.
type sides struct{}

func (sides) Less(a, b uint32) bool                      { return a*2654435761 < b*2654435761 }
func (sides) Reaches(a, b uint32) bool                   { return b == 0 || a >= b && (a-b)%2 == 0 }
func (sides) SameText(_, _ change.Stretch) (bool, error) { return false, nil }

// twoSides is a file of lines of 20 bytes that two sides edited n times each, one line a time, anywhere or in its own
// half.
func twoSides(b *testing.B, lines, n int, apart bool) (x, y *Weave) {
	b.Helper()
	rng := rand.New(rand.NewSource(1))
	base := New(Source{Change: 0, Size: uint32(lines * 20)})
	out := [2]*Weave{base, base.Clone()}
	for c := 1; c <= 2*n; c++ {
		w := out[(c-1)%2]
		at := rng.Intn(lines)
		if apart {
			at = at/2 + (c-1)%2*lines/2
		}
		hunks, _, err := w.Record([]Edit{{at * 20, at*20 + 20, 0, 20}})
		if err == nil {
			err = w.Apply(Source{Change: uint32(c), Size: 20}, hunks)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return out[0], out[1]
}

func BenchmarkMerge(b *testing.B) {
	for _, k := range []struct {
		name     string
		lines, n int
		apart    bool
	}{{"1000 changes apart", 20_000, 500, true}, {"20000 changes apart", 20_000, 10_000, true}, {"1000 changes anywhere", 20_000, 500, false},
		{"20000 changes anywhere", 200_000, 10_000, false}, {"1000 changes of 10 lines", 10, 500, false}} {
		b.Run(k.name, func(b *testing.B) {
			x, y := twoSides(b, k.lines, k.n, k.apart)
			for b.Loop() {
				m, err := Merge(x, y, sides{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(m.open)), "conflicts")
				b.ReportMetric(float64(len(m.Runs)), "runs")
			}
		})
	}
}

// counted is a history that counts the questions.
type counted struct {
	sides
	n *int
}

func (c counted) Reaches(a, b uint32) bool {
	*c.n++
	return c.sides.Reaches(a, b)
}

// A file of twenty thousand changes by two sides, and one change more or less: on one side's end, known to that side only; after
// all, known to all; the last one or an early one taken away; the last one undone.
func BenchmarkOne(b *testing.B) {
	const n = 10_000
	for _, k := range []struct {
		name  string
		lines int
		apart bool
	}{{"apart", 20_000, true}, {"anywhere", 200_000, false}} {
		x, y := twoSides(b, k.lines, n, k.apart)
		m, err := Merge(x, y, sides{})
		if err != nil {
			b.Fatal(err)
		}
		hunks, _, err := x.Record([]Edit{{2000, 2020, 0, 20}})
		if err != nil {
			b.Fatal(err)
		}
		one := Patch{Source: Source{Change: 2*n + 1, Size: 20}, Hunks: hunks}
		asked := 0
		h := counted{n: &asked}
		run := func(name string, f func() error) {
			b.Run(k.name+"/"+name, func(b *testing.B) {
				asked = 0
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(asked)/float64(b.N), "questions")
			})
		}
		run("add", func() error { _, err := m.Add(one, h); return err })
		for _, c := range []uint32{2*n - 1, 11} {
			run("without "+strconv.Itoa(int(c)), func() error {
				_, err := m.Only(func(o uint32) bool { return o != c }, h)
				return err
			})
		}
		run("record an undoing", func() error {
			_, _, err := m.Undo(Source{Change: 2*n + 1}, 2*n-1, h)
			return err
		})
		p, _, err := m.Undo(Source{Change: 2*n + 1}, 2*n-1, h)
		if err != nil {
			b.Fatal(err)
		}
		run("apply an undoing", func() error { return m.Clone().ApplyPatch(p, all{h}) })
		undone := m.Clone()
		if err := undone.ApplyPatch(p, all{h}); err != nil {
			b.Fatal(err)
		}
		next := Patch{Source: Source{Change: 2*n + 2, Size: 20}}
		if next.Hunks, _, err = undone.Record([]Edit{{4000, 4020, 0, 20}}); err != nil {
			b.Fatal(err)
		}
		run("apply beside an undoing", func() error { return undone.Clone().ApplyPatch(next, all{h}) })
		run("merge", func() error { _, err := Merge(x, y, h); return err })
		run("clone", func() error { m.Clone(); return nil })
	}
}

// all is a history whose last changes know of all others.
type all struct{ counted }

func (all) Reaches(a, b uint32) bool { return a > 20_000 && b <= a || sides{}.Reaches(a, b) }

func BenchmarkView(b *testing.B) {
	for _, k := range []struct {
		name     string
		lines, n int
	}{{"46 conflicts", 20_000, 500}, {"1539 conflicts", 200_000, 10_000}} {
		b.Run(k.name, func(b *testing.B) {
			x, y := twoSides(b, k.lines, k.n, false)
			m, err := Merge(x, y, sides{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := m.View(sides{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// known is a history as a list of what each change knows of.
type known []map[uint32]bool

func (k known) Less(a, b uint32) bool                      { return a < b }
func (k known) Reaches(a, b uint32) bool                   { return a == b || k[a][b] }
func (k known) SameText(_, _ change.Stretch) (bool, error) { return false, nil }

// They edit one line again and again; each time we unite with them and settle the conflict. It tells what the last rounds
// cost.
func BenchmarkRounds(b *testing.B) {
	for _, rounds := range []int{10, 50, 250} {
		b.Run(strconv.Itoa(rounds), func(b *testing.B) {
			h := known{nil}
			record := func(w *Weave, hunks []change.Hunk, err error) {
				past := map[uint32]bool{}
				for _, s := range w.Sources {
					past[s.Change] = true
				}
				c := uint32(len(h))
				h = append(h, past)
				if err == nil {
					err = w.Apply(Source{Change: c, Size: 20}, hunks)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			edit := func(w *Weave) {
				hunks, _, err := w.Record([]Edit{{20, 40, 0, 20}})
				record(w, hunks, err)
			}
			they := New(Source{Change: 0, Size: 60})
			we := they.Clone()
			edit(we)
			round := func() {
				m, err := Merge(we, they, h)
				if err != nil {
					b.Fatal(err)
				}
				v, err := m.View(h)
				if err != nil {
					b.Fatal(err)
				}
				segments := v.Segments(func(int) bool { return false })
				n := int(size(segments[0].Text))
				hunks, _, err := v.Record(segments, [][]Edit{{{20, n - 20, 0, 20}}})
				record(m, hunks, err)
				we = m
			}
			for range rounds {
				edit(they)
				round()
			}
			edit(they)
			before, known := we, len(h)
			for b.Loop() {
				we, h = before, h[:known]
				round()
			}
		})
	}
}

// Two sides that each put line after line at the top of one file, as of a list of news: each line of the one conflicts with
// each of the other.
func BenchmarkNews(b *testing.B) {
	for _, n := range []int{100, 300, 1000} {
		base := New(Source{Change: 0, Size: 200})
		out := [2]*Weave{base, base.Clone()}
		for c := 1; c <= 2*n; c++ {
			w := out[c%2]
			hunks, _, err := w.Record([]Edit{{0, 0, 0, 20}})
			if err == nil {
				err = w.Apply(Source{Change: uint32(c), Size: 20}, hunks)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		var m *Weave
		b.Run("merge "+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if m, err = Merge(out[0], out[1], sides{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(m.open)), "conflicts")
		})
		b.Run("view "+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.View(sides{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
