package weave

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// Every base of up to two lines (three when thorough), every three changes that each put at most one line in the stead of
// some, united in two orders: the small cases, all of them.
func TestSmallScope(t *testing.T) {
	most := 2
	if *thorough {
		most = 3
	}
	for n := range most + 1 {
		base := []string{"1\n", "2\n", "3\n"}[:n]
		var all [][]string
		for i := range n + 1 {
			for j := i; j <= n; j++ {
				for _, ins := range [][]string{nil, {"a\n"}, {"b\n"}} {
					if want := slices.Concat(base[:i], ins, base[j:]); !slices.Equal(want, base) {
						all = append(all, want)
					}
				}
			}
		}
		for x := range all {
			for y := x; y < len(all); y++ {
				for z := y; z < len(all); z++ {
					smallScope(t, base, all[x], all[y], all[z])
				}
			}
		}
	}
}

func smallScope(t *testing.T, base []string, texts ...[]string) {
	w := oracle.NewWorld(rand.New(rand.NewSource(int64(len(texts[1]) + 7*len(texts[2])))))
	r := replicas{t: t, h: history{w}, seen: &coverage{}}
	steps := [][]string{base}
	if len(base) == 0 { // the definition knows no empty file: let one line have gone
		steps = [][]string{{"0\n"}, {}}
	}
	root := oracle.Set{}
	var start *Weave
	for _, want := range steps {
		c, err := w.Record(root, want)
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		root[c.Num] = true
		p := r.h.patch(c.Num)
		if start == nil {
			start = New(p.Source)
		} else if err := start.Apply(p.Source, p.Hunks); err != nil {
			t.Fatal(err)
		}
	}
	var made []*Weave
	all := root.With()
	for _, want := range texts {
		c, err := w.Record(root, want)
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		one, err := start.Add(r.h.patch(c.Num), r.h)
		if err != nil {
			t.Fatal(err)
		}
		made, all = append(made, one), all.With(c.Num)
	}
	for _, order := range [][3]int{{0, 1, 2}, {2, 0, 1}} {
		m, err := Merge(made[order[0]], made[order[1]], r.h)
		if err == nil {
			m, err = Merge(made[order[2]], m, r.h)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.compare(m, all)
		r.view(m, all)
	}
	if t.Failed() {
		t.Fatalf("%q by %q\n%s", base, texts, w)
	}
}
