package weave

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

// undo checks that the weave records an undoing as the definition does.
func (r *replicas) undo(w *Weave, e oracle.Event) {
	if e.Kind != oracle.RolledBack {
		return
	}
	want := r.h.patch(e.Change)
	before := w.Encode(nil)
	p, deps, err := w.Undo(Source{Change: e.Change, Ord: want.Ord}, *want.Undoes, r.h)
	r.recorded(e, p.Hunks, deps, err)
	if d := cmp.Diff(want.Source, p.Source); d != "" || *p.Undoes != *want.Undoes {
		r.t.Errorf("the undoing is %v, want %v", p, want)
	}
	if !slices.Equal(before, w.Encode(nil)) {
		r.t.Errorf("recording an undoing changed the weave")
	}
	r.seen.undoings++
}

// resolveEach decides each block for each of its sides, for its base and for all sides together, and records that.
func (r *replicas) resolveEach(w *Weave, s oracle.Set) {
	before := r.h.Render(s)
	for at, b := range r.view(w, s).Blocks() {
		all := []int{}
		for i := range b.Sides {
			all = append([]int{i}, all...)
		}
		for i := Base; i <= len(b.Sides); i++ {
			parts := []int{i}
			if i == len(b.Sides) {
				parts = all
			}
			v := r.view(w, s)
			p := pageOf(r.t, r.h, v)
			text, err := p.Resolve(func(b *Block) ([]int, bool) { return parts, b == v.Blocks()[at] })
			if err != nil {
				r.t.Fatal(err)
			}
			// The oracle's text, with the block's lines in the place of its marks.
			var want []string
			block := 0
			for _, it := range before.Items {
				if it.Block == nil {
					want = append(want, it.Lines...)
					continue
				}
				if block == at {
					for _, k := range parts {
						show := b.Base
						if k >= 0 {
							show = b.Sides[k].Show
						}
						want = append(want, r.h.lines(show)...)
					}
				} else {
					want = append(want, it.Lines...)
				}
				block++
			}
			c, err := r.h.Record(s, want)
			if err != nil || c == nil {
				r.t.Fatal(c, err)
			}
			segments, texts, err := p.Cut(text)
			if err != nil {
				r.t.Fatal(err)
			}
			var all [][]Edit
			for i, s := range segments {
				all = append(all, edits(r.h.lines(s.Text), slices.Collect(strings.Lines(string(texts[i])))))
			}
			hunks, deps, err := v.Record(segments, all)
			r.recorded(oracle.Event{Change: c.Num}, hunks, deps, err)
			r.seen.resolved++
		}
	}
}

// undoEach takes back every change that counts, the adding of the file too, and takes that back again.
func (r *replicas) undoEach(w *Weave, s oracle.Set) {
	for _, p := range s.Sorted() {
		if !r.h.Live(s)[p] {
			continue
		}
		undone, in := w, s
		for range 3 {
			p = r.h.Rollback(in, p).Num
			after := in.With(p)
			r.undo(undone, oracle.Event{Kind: oracle.RolledBack, Change: p})
			undone = undone.Clone()
			if err := undone.ApplyPatch(r.h.patch(p), r.h); err != nil {
				r.t.Fatal(err)
			}
			r.compare(undone, after)
			r.view(undone, after)
			in = after
		}
	}
}
