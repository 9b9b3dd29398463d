package oracle

import (
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func setOf(pairs []Pair) map[Pair]bool {
	out := map[Pair]bool{}
	for _, p := range pairs {
		out[p] = true
	}
	return out
}

// set checks what holds of any set: it comes out the same by whatever order its changes arrive in; recording what it shows records
// nothing; what closes a pair is what solved it by name; of twins one shows.
func (h *history) set(s Set) {
	st := h.Render(s)
	h.seen.sets++
	for range 2 {
		h.arrival(s, st)
	}
	if c, err := h.Record(s, st.Lines()); c != nil || err != nil {
		h.fault("recording what shows records nothing", "%v %v", c, err)
	}
	named := map[Pair]bool{}
	for c := range st.live {
		maps.Copy(named, h.Changes[c].named)
	}
	for _, p := range st.Pairs() {
		if named[p] && !st.closed(p) {
			h.fault("a solved stretch closes the pairs that its region named", "%v in %v", p, s.Sorted())
		}
	}
	for x, twins := range st.twins {
		n := 0
		for _, y := range twins {
			if st.shown[y] {
				n++
			}
			if x != y && !h.Concurrent(x.Change, y.Change) {
				h.fault("twins are concurrent", "%v %v", x, y)
			}
		}
		if n != 1 {
			h.fault("of a line's twins one shows", "%v", twins)
		}
		if len(twins) > 1 {
			h.seen.twins++
		}
	}
	for _, r := range st.Regions {
		h.seen.settled += count(r.First > r.Last)
	}
	h.seen.conflicts += count(len(st.Regions) > 0)
	h.seen.many += count(len(st.Regions) > 1)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// edited checks that a record shows what was written, conflicts with nothing that it was recorded on, and closes
// exactly the pairs of the blocks that it settles.
func (h *history) edited(e Event) {
	before := h.Render(e.Before)
	switch {
	case e.Err != nil:
		h.fault("a text without half blocks is recorded", "%q -> %q: %v", before.Lines(), e.Want, e.Err)
		return
	case len(e.After) == len(e.Before):
		if !slices.Equal(before.Lines(), e.Want) {
			h.fault("an edit is recorded", "%q -> %q", before.Lines(), e.Want)
		}
		return
	}
	c, after := h.Changes[e.Change], h.Render(e.After)
	if got := after.Lines(); !slices.Equal(got, e.Want) {
		h.fault("a record shows what was written", "set %v: %q -> %q shows %q", e.Before.Sorted(), before.Lines(), e.Want, got)
	}
	h.fresh(c, after)
	open := setOf(after.Open())
	for _, p := range before.Open() {
		if open[p] == c.named[p] {
			h.fault("a resolution closes exactly the pairs that it solves", "%v", p)
		}
	}
	h.seen.resolutions += count(len(c.named) > 0)
}

func (h *history) fresh(c *Change, after *State) {
	for _, p := range after.Pairs() {
		if p.Names(c.Num) {
			h.fault("a fresh record conflicts with nothing", "pair %v", p)
		}
	}
}

// united checks that no line vanishes, that new pairs lie across the two sides, are open and are found by a sweep, and that the
// open pairs of a union follow from those of its parts.
func (h *history) united(a, b Set) {
	u := a.Union(b)
	before, after := h.See(a), h.See(u)
	for _, x := range before.Shown() {
		if !after.shown[x] && after.dead[x] == nil && after.live[x.Change] &&
			!slices.ContainsFunc(after.twins[x], func(y Line) bool { return after.shown[y] && h.text[y] == h.text[x] }) {
			h.fault("no line vanishes", "%v in %v and %v", x, a.Sorted(), b.Sorted())
		}
	}
	open, swept := setOf(after.Open()), h.sweep(a, b, after)
	across := func(p Pair) bool {
		in := func(s Set, i int) bool { return s[p[i].Change] }
		return in(a, 0) && !in(b, 0) && in(b, 1) && !in(a, 1) || in(b, 0) && !in(a, 0) && in(a, 1) && !in(b, 1)
	}
	for _, p := range after.Pairs() {
		if has(a, p) || has(b, p) {
			continue
		}
		if !across(p) || !open[p] || !swept[p] {
			h.fault("a new pair lies across, is open and is swept up", "%v", p)
		}
	}
	for p := range swept {
		if after.live[p[0].Change] && after.live[p[1].Change] && !open[p] {
			h.fault("what is swept up is open", "%v", p)
		}
	}
	if slices.ContainsFunc(u.Sorted(), func(c uint32) bool { return h.Changes[c].Undoes != None }) {
		return // an undoing may reopen and close
	}
	want := swept
	for _, parts := range [][2]Set{{a, b}, {b, a}} {
		there := setOf(h.See(parts[1]).Open())
		for _, p := range h.See(parts[0]).Open() {
			if there[p] || !has(parts[1], p) {
				want[p] = true
			}
		}
	}
	if !maps.Equal(want, open) {
		h.fault("a union's open pairs follow from its parts'", "%v %v", want, open)
	}
}

func has(s Set, p Pair) bool { return s[p[0].Change] && s[p[1].Change] }

// sweep finds the clashing hunks across a\b and b\a without asking who depends on whom.
func (h *history) sweep(a, b Set, v *View) map[Pair]bool {
	out := map[Pair]bool{}
	for p := range a.Minus(b) {
		for q := range b.Minus(a) {
			for _, k := range v.between(p, q) {
				out[k] = true
			}
		}
	}
	return out
}

// unrecorded checks that without a change that no other needs the rest keeps its order, and exactly the pairs that it
// alone closed open again.
func (h *history) unrecorded(e Event) {
	x, s, t := e.Change, e.Before, e.After
	before, after := h.See(s), h.See(t)
	h.seen.unrecords++
	rest := slices.DeleteFunc(slices.Clone(before.Order), func(l Line) bool { return l.Change == x })
	if !slices.Equal(rest, after.Order) {
		h.fault("taking a change away leaves the order", "%d", x)
	}
	if h.Changes[x].Undoes != None || !before.live[x] {
		return
	}
	was, is := setOf(before.Open()), setOf(after.Open())
	for p := range is {
		if !was[p] && !h.Changes[x].named[p] {
			h.fault("only what it closed opens again", "%v without %d", p, x)
		}
	}
	for p := range h.Changes[x].named {
		if after.live[p[0].Change] && after.live[p[1].Change] && after.closed(p) == is[p] {
			h.fault("what it alone closed opens again", "%v without %d", p, x)
		}
		h.seen.reopened += count(is[p])
	}
}

// rolledBack checks that of a change that nothing builds on, undone, nothing is there.
func (h *history) rolledBack(e Event) {
	u := h.Changes[e.Change]
	after := h.Render(e.After)
	h.fresh(u, after)
	if slices.Contains(h.Free(e.Before), u.Undoes) {
		if want := h.Show(e.Before.Minus(Of(u.Undoes))); !slices.Equal(after.Lines(), want) {
			h.fault("undone is not there", "%d in %v: %q, want %q", u.Undoes, e.Before.Sorted(), after.Lines(), want)
		}
	}
	h.seen.rollbacks++
}

// undoings checks the same beside anything else: with what builds on neither, a change and its undoing show nothing.
func (h *history) undoings(s Set) {
	for c := range s {
		p := h.Changes[c].Undoes
		if p == None {
			continue
		}
		rest := Set{}
		for x := range s {
			if x == p || x == c || !h.Reaches(x, p) && !h.Reaches(x, c) {
				rest[x] = true
			}
		}
		gone := rest.Minus(Of(p, c))
		if !h.Closed(rest) || !h.Closed(gone) {
			continue
		}
		h.seen.strong++
		if a, b := h.Show(rest), h.Show(gone); !slices.Equal(a, b) {
			h.fault("undone is not there, whatever else is", "%d by %d in %v: %v, want %v", p, c, rest.Sorted(), a, b)
		}
	}
}

// The half of a block that an edit leaves behind is refused.
func TestHalfBlock(t *testing.T) {
	seen := 0
	for seed := range int64(60) {
		h := NewStory(seed)
		for range 10 {
			h.Next()
		}
		for _, s := range h.Replicas {
			st := h.Render(s)
			for i, l := range st.Lines() {
				if !isMark(l) {
					continue
				}
				seen++
				if c, err := h.Record(s, slices.Delete(st.Lines(), i, i+1)); err != ErrHalfBlock {
					t.Fatalf("seed %d without mark %d: %v %v", seed, i, c, err)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no block was ever open")
	}
}

// A base that leans on a line outside, hidden as a twin: whichever of the two has the lesser hash, a block edited away
// leaves what was written.
func TestBaseBesideHiddenTwin(t *testing.T) {
	text := func(s string) []string { return strings.Fields(s) }
	for seed := range int64(200) {
		w := NewWorld(rand.New(rand.NewSource(seed)))
		record := func(on Set, want []string) Set {
			c, err := w.Record(on, want)
			if err != nil {
				t.Fatal(err)
			}
			return on.With(c.Num)
		}
		a := record(Set{}, text("b c"))
		one, two := record(a, text("b b c c a c")), record(a, text("b b c c a c"))
		s := two.Union(record(one, text("c d c d d a")))
		var want []string
		for i, it := range w.Render(s).Items {
			if it.Block != nil && i > 0 || it.Block == nil && it.Lines[0] != "a" {
				want = append(want, it.Lines...)
			}
		}
		if got := w.Show(record(s, want)); !slices.Equal(got, want) {
			t.Fatalf("seed %d: shows %q, want %q\n%s", seed, got, want, w)
		}
	}
}
