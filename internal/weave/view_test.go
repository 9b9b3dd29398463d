package weave

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

// lines is the text of stretches. Every line is two bytes.
func (h history) lines(of []change.Stretch) (out []string) {
	for _, s := range of {
		text := h.Inserted(s.Change)[s.Off : s.Off+s.Len]
		for i := 0; i < len(text); i += 2 {
			out = append(out, text[i:i+2])
		}
	}
	return
}

// written is a view as the oracle writes it, each block's sides and base.
func (h history) written(v *View) (out []string) {
	for _, it := range v.Items {
		if it.Block == nil {
			out = append(out, h.lines([]change.Stretch{it.Stretch})...)
			continue
		}
		name := fmt.Sprintf("%06x.%d", h.Changes[it.Block.Name.Change].Hash, it.Block.Name.Index)
		for i, s := range it.Block.Sides {
			by := "all"
			if len(s.By) > 0 {
				var names []string
				for _, c := range s.By {
					names = append(names, fmt.Sprintf("%x", h.Changes[c].Hash))
				}
				slices.Sort(names)
				by = names[0]
				for _, n := range names[1:] {
					by += "+" + n
				}
			}
			if i == 0 {
				out = append(out, "<<<<<<< "+name+" "+by)
				out = append(out, h.lines(s.Show)...)
				out = append(out, "||||||| base")
				out = append(out, h.lines(it.Block.Base)...)
				continue
			}
			out = append(out, "======= "+by)
			out = append(out, h.lines(s.Show)...)
		}
		out = append(out, ">>>>>>> "+name)
	}
	return
}

// view holds what a person sees to the definition.
func (r *replicas) view(w *Weave, s oracle.Set) *View {
	v, err := w.View(r.h)
	if err != nil {
		r.t.Errorf("set %v: %v", s.Sorted(), err)
		return nil
	}
	want := r.h.Show(s)
	if got := r.h.written(v); !slices.Equal(got, want) {
		r.t.Errorf("set %v shows (-oracle +weave):\n%s", s.Sorted(), cmp.Diff(want, got))
	}
	for _, it := range v.Items {
		if it.Block != nil {
			r.seen.blocks++
		}
	}
	return v
}

// A twin of a line of the block lies outside, and which of the two is hidden hangs on their hashes: sides and base are
// what they are with either.
func TestTwinBesideBlock(t *testing.T) {
	text := func(s string) (out []string) {
		for _, f := range strings.Fields(s) {
			out = append(out, f+"\n")
		}
		return
	}
	for seed := range int64(60) {
		w := oracle.NewWorld(rand.New(rand.NewSource(seed)))
		record := func(on oracle.Set, want []string) oracle.Set {
			c, err := w.Record(on, want)
			if err != nil {
				t.Fatal(err)
			}
			return on.With(c.Num)
		}
		a := record(oracle.Set{}, text("b c"))
		one, two := record(a, text("b b c c a c")), record(a, text("b b c c a c"))
		s := two.Union(record(one, text("c d c d d a")))
		r := replicas{t: t, h: history{w}, seen: &coverage{}}
		all := New(r.h.patch(0).Source)
		for c := uint32(1); int(c) < len(w.Changes); c++ {
			var err error
			if all, err = all.Add(r.h.patch(c), r.h); err != nil {
				t.Fatal(err)
			}
		}
		r.compare(all, s)
		r.view(all, s)
	}
}
