package weave

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

var thorough = flag.Bool("thorough", false, "ten thousand random histories instead of a few hundred")

// history is what a repository would know of the changes of a story.
type history struct{ *oracle.World }

func (h history) SameText(a, b change.Stretch) (bool, error) {
	return h.Inserted(a.Change)[a.Off:a.Off+a.Len] == h.Inserted(b.Change)[b.Off:b.Off+b.Len], nil
}

// bytes are what a run holds.
func (h history) bytes(r *Run) []byte { return []byte(h.Inserted(r.Change)[r.Off : r.Off+r.Len]) }

// patch is a change of the story as the product holds it.
func (h history) patch(c uint32) Patch {
	p := Patch{Source: Source{Change: c, Ord: 3, Size: uint32(len(h.Inserted(c)))}, Hunks: h.Export(c)}
	if u, ok := h.Undoes(c); ok {
		p.Undoes = &u
		for i := range h.Changes[c].Hunks {
			p.Hunks[i].Gains = h.Changes[c].Hunks[i].Gain
		}
	}
	return p
}

// Replicas that edit and exchange random parts of what they hold: each one's weave is, after every step, what the
// definition says of its set.
func TestAgainstOracle(t *testing.T) {
	stories, steps := int64(1200), 12
	if *thorough {
		stories, steps = 10_000, 16
	}
	seen := &coverage{}
	for seed := range stories {
		tell(t, seed, steps, seen)
	}
	tell(t, 1370, 16, seen) // a twin outside a block, which what its sides show hangs on
	t.Logf("%+v", *seen)
	if seen.blocks == 0 || seen.settled == 0 || seen.records == 0 || seen.undoings == 0 || seen.resolved == 0 || seen.shown == 0 || seen.besides == 0 {
		t.Errorf("something was never put to a test: %+v", *seen)
	}
}

// tell follows one story.
func tell(t *testing.T, seed int64, steps int, seen *coverage) {
	s := oracle.NewStory(seed)
	r := replicas{t: t, h: history{s.World}, seed: seed, seen: seen}
	for i := range r.weaves {
		r.weaves[i] = New(r.h.patch(0).Source)
	}
	for range steps {
		r.follow(s.Next())
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, s.World)
		}
	}
	all, err := Merge(r.weaves[0], r.weaves[1], r.h)
	if err != nil {
		t.Fatal(err)
	}
	r.compare(all, s.Replicas[0].Union(s.Replicas[1]))
	r.view(all, s.Replicas[0].Union(s.Replicas[1]))
	r.arrive(s.Replicas[0].Union(s.Replicas[1]).Union(s.Replicas[2]), s.Rand)
	if seed%16 == 0 {
		r.undoEach(all, s.Replicas[0].Union(s.Replicas[1]))
		r.resolveEach(all, s.Replicas[0].Union(s.Replicas[1]))
	}
}

// resolveEach decides each block for each of its sides, for its base and for all sides together, and records that.
func (r *replicas) resolveEach(w *Weave, s oracle.Set) {
	before := r.h.Render(s)
	for at, b := range r.view(w, s).Blocks() {
		all := []int{}
		for i := range b.Sides {
			all = append([]int{i}, all...)
		}
		for i := theBase; i <= len(b.Sides); i++ {
			parts := []int{i}
			if i == len(b.Sides) {
				parts = all
			}
			v := r.view(w, s)
			p := pageOf(r.t, r.h, v)
			text, _ := p.Resolve(p.Text, func(b *Block) ([][]byte, bool) {
				return partsOf(p.Placed()[at], parts), b == v.Blocks()[at]
			})
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

// arrive adds the changes of a set one by one, in a random order that dependencies allow.
func (r *replicas) arrive(s oracle.Set, rng *rand.Rand) {
	w, in := New(r.h.patch(0).Source), oracle.Of(0)
	var order []Patch
	for len(in) < len(s) {
		var ready []uint32
		for _, c := range s.Minus(in).Sorted() {
			if in.Holds(r.h.Changes[c].Past) {
				ready = append(ready, c)
			}
		}
		c := ready[rng.Intn(len(ready))]
		r.beside(w, in, c)
		var err error
		if w, err = w.Add(r.h.patch(c), r.h); err != nil {
			r.t.Fatal(err)
		}
		order = append(order, r.h.patch(c))
		in[c] = true
	}
	r.compare(w, s)
	// All at once, or a few at a time, spread out or not.
	for _, runs := range []int{1, spreadRuns} {
		w := New(r.h.patch(0).Source)
		for ps := order; len(ps) > 0; {
			n := 1 + rng.Intn(len(ps))
			before := w.Clone()
			besides, err := w.addAll(ps[:n], r.h, runs, 1)
			if err != nil {
				r.t.Fatal(err)
			}
			for i := 0; besides && i < n; i++ {
				if err := before.ApplyBeside(ps[i].Source, ps[i].Hunks); err != nil {
					r.t.Fatal(err)
				}
			}
			if besides {
				sameRuns(r.t, before, w)
			}
			ps = ps[n:]
		}
		r.compare(w, s)
	}
}

// beside checks that what meets nothing goes in as Merge would have it, with and without a look at the history.
func (r *replicas) beside(w *Weave, in oracle.Set, c uint32) {
	p := r.h.patch(c)
	all, ok, err := w.Beside([]Patch{p}, r.h)
	if err != nil {
		r.t.Fatal(err)
	}
	if !ok {
		return
	}
	r.seen.besides++
	r.compare(all, in.With(c))
	again := w.Clone()
	if err := again.ApplyBeside(p.Source, p.Hunks); err != nil {
		r.t.Fatal(err)
	}
	r.compare(again, in.With(c))
}

// coverage counts what the stories came across.
type coverage struct{ records, blocks, settled, undoings, resolved, cases, shown, besides int }

type replicas struct {
	t      *testing.T
	h      history
	seed   int64
	seen   *coverage
	weaves [3]*Weave
}

// follow does to the weaves what happened in the story.
func (r *replicas) follow(e oracle.Event) {
	w := r.weaves[e.Replica]
	var err error
	switch {
	case e.Kind == oracle.Pulled:
		var part *Weave
		if part, err = r.all().Only(func(c uint32) bool { return e.Pulled[c] }, r.h); err == nil {
			r.compare(part, e.Pulled)
			w, err = Merge(w, part, r.h)
		}
	case e.Kind == oracle.Unrecorded:
		w, err = w.Only(func(c uint32) bool { return e.After[c] }, r.h)
	case len(e.After) > len(e.Before):
		r.record(w, e)
		r.undo(w, e)
		// Whoever knows that it was recorded upon all that is there puts it in without looking at what came before.
		applied := w.Clone()
		if err := applied.ApplyPatch(r.h.patch(e.Change), r.h); err != nil {
			r.t.Errorf("seed %d: %+v: %v", r.seed, e, err)
			return
		}
		r.compare(applied, e.After)
		r.applyShown(w.Clone(), e)
		w, err = w.Add(r.h.patch(e.Change), r.h)
	}
	if err != nil {
		r.t.Errorf("seed %d: %+v: %v", r.seed, e, err)
		return
	}
	r.compare(w, e.After)
	r.view(w, e.After)
	r.weaves[e.Replica] = w
}

// applyShown checks that the edits of what shows make of it what shows afterwards.
func (r *replicas) applyShown(w *Weave, e oracle.Event) {
	p := r.h.patch(e.Change)
	if p.Undoes != nil {
		return
	}
	show := func() (text []byte) {
		for i := range w.Runs {
			if n := &w.Runs[i]; n.Shown() {
				text = append(text, r.h.bytes(n)...)
			}
		}
		return text
	}
	before := show()
	edits, known, err := w.ApplyShown(p.Source, p.Hunks)
	if err != nil {
		r.t.Errorf("seed %d: %+v: %v", r.seed, e, err)
		return
	}
	r.compare(w, e.After)
	if !known {
		return
	}
	r.seen.shown++
	inserted := r.h.bytes(&Run{Change: p.Change, Len: p.Size})
	if got, want := Patched(nil, before, inserted, edits), show(); !bytes.Equal(got, want) {
		r.t.Errorf("seed %d: %+v: edits %+v of %q with %q make %q, not %q", r.seed, e, edits, before, inserted, got, want)
	}
}

// all is the union of what the replicas hold, by whatever way it came about.
func (r *replicas) all() *Weave {
	w := r.weaves[0]
	for _, o := range r.weaves[1:] {
		var err error
		if w, err = Merge(w, o, r.h); err != nil {
			r.t.Fatal(err)
		}
	}
	return w
}

// record checks that the weave records an edit as the definition does: in the same hunks, with the same past.
func (r *replicas) record(w *Weave, e oracle.Event) {
	if e.Kind != oracle.Edited {
		return
	}
	before := r.h.Render(e.Before)
	v := r.view(w, e.Before)
	if v == nil {
		return
	}
	segments, edits := r.segments(v, before, e.Want)
	hunks, deps, err := v.Record(segments, edits)
	r.recorded(e, hunks, deps, err)
	r.seen.records++
	if len(before.Regions) == 0 {
		hunks, deps, err = w.Record(edits[0])
		r.recorded(e, hunks, deps, err)
	}
}

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

// segments does what whoever edits a file does: it writes the view as a page and cuts the new text at the blocks that
// stand in it. The story's text has the oracle's marks, so each block that it keeps is put in the page's words.
func (r *replicas) segments(v *View, before *oracle.State, want []string) ([]Segment, [][]Edit) {
	p := pageOf(r.t, r.h, v)
	var edited []byte
	block, from := 0, 0
	for _, it := range before.Items {
		if it.Block == nil {
			continue
		}
		n := len(it.Lines)
		for j := from; j+n <= len(want); j++ {
			if slices.Equal(want[j:j+n], it.Lines) {
				edited = append(edited, strings.Join(want[from:j], "")...)
				edited = append(edited, p.Text[p.blocks[block].from:p.blocks[block].to]...)
				from = j + n
				break
			}
		}
		block++
	}
	edited = append(edited, strings.Join(want[from:], "")...)
	segments, texts, err := p.Cut(edited)
	if err != nil {
		r.t.Error(err)
	}
	r.seen.settled += block + 1 - len(segments)
	var all [][]Edit
	for i, s := range segments {
		all = append(all, edits(r.h.lines(s.Text), slices.Collect(strings.Lines(string(texts[i])))))
	}
	return segments, all
}

func (r *replicas) recorded(e oracle.Event, hunks []change.Hunk, deps []uint32, err error) {
	if err != nil {
		r.t.Error(err)
		return
	}
	if got, want := fmt.Sprintf("%+v", hunks), fmt.Sprintf("%+v", r.h.patch(e.Change).Hunks); got != want {
		r.t.Errorf("hunks of %d (-oracle +weave):\n-%s\n+%s", e.Change, want, got)
	}
	past := oracle.Set{}
	for _, d := range deps {
		past = past.Union(r.h.Changes[d].Past).With(d)
	}
	if d := cmp.Diff(r.h.Changes[e.Change].Past, past); d != "" {
		r.t.Errorf("past of %d (-oracle +weave):\n%s", e.Change, d)
	}
}

// edits is the lines of a that b does not keep, and what stands in their stead, in bytes.
func edits(a, b []string) (out []Edit) {
	aOff, bOff, next := 0, 0, 0
	e := Edit{}
	flush := func() {
		if e.A1, e.B1 = aOff, bOff; e.A1 > e.A0 || e.B1 > e.B0 {
			out = append(out, e)
		}
	}
	for i, to := range oracle.Match(a, b) {
		if to >= 0 {
			for ; next < to; next++ {
				bOff += len(b[next])
			}
			flush()
			next++
			bOff += len(a[i])
			e.A0, e.B0 = aOff+len(a[i]), bOff
		}
		aOff += len(a[i])
	}
	for ; next < len(b); next++ {
		bOff += len(b[next])
	}
	flush()
	return out
}

// element is a byte of the weave, with all that is kept of it.
type element struct {
	Change, Off  uint32
	Dead         []uint32
	Shown        bool
	HasRight     bool
	Add, Del     []uint32 // cover of the place before it
	Head, Left   bool
	ParentChange uint32
	ParentOff    uint32
}

// compare holds a weave, and what it becomes when encoded and decoded, to the definition of its set.
func (r *replicas) compare(w *Weave, s oracle.Set) {
	r.t.Helper()
	want := r.define(s)
	again, err := Decode(w.Encode(nil))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, w := range []*Weave{w, again} {
		if d := cmp.Diff(want, elements(w)); d != "" {
			r.t.Errorf("set %v (-oracle +weave):\n%s", s.Sorted(), d)
			return
		}
	}
	var open []Pair
	for _, p := range r.h.See(s).Open() {
		open = append(open, Pair{{p[0].Change, uint32(p[0].Hunk)}, {p[1].Change, uint32(p[1].Hunk)}})
	}
	slices.SortFunc(open, comparePairs)
	if !slices.Equal(open, w.Open()) || !slices.Equal(open, again.Open()) {
		r.t.Errorf("set %v: open are %v, want %v", s.Sorted(), w.Open(), open)
	}
	if !slices.Equal(w.Encode(nil), again.Encode(nil)) {
		r.t.Errorf("encodes otherwise once decoded")
	}
}

// elements is one entry a byte, and one for the end. Every line is two bytes.
func elements(w *Weave) (out []element) {
	for i := range w.Runs {
		r := &w.Runs[i]
		for k := range r.Len {
			e := element{Change: r.Change, Off: r.Off + k, Dead: w.Members(r.Dead), Shown: r.Shown(), HasRight: true}
			c := r.Inside
			if k == 0 {
				c = r.Before
				if r.Head {
					e.Head, e.Left, e.ParentChange, e.ParentOff = true, r.Left, r.Parent.Change, r.Parent.Off
				}
			}
			if k == r.Len-1 {
				e.HasRight = r.HasRight
			}
			if e.Off%2 == 0 { // a line is two bytes: no place lies within
				e.Add, e.Del = w.Members(c.Add), w.Members(c.Del)
			}
			out = append(out, e)
		}
	}
	return append(out, element{Change: change.Edge, Off: 1, Add: w.Members(w.Tail.Add), Del: w.Members(w.Tail.Del)})
}

// theBase stands for a block's base where a side's index is asked.
const theBase = -1

func partsOf(b Placed, parts []int) (out [][]byte) {
	for _, k := range parts {
		if k == theBase {
			out = append(out, b.Base)
		} else {
			out = append(out, b.Sides[k])
		}
	}
	return out
}
