package weave

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// Every base of up to three lines; every three changes that each put at most one line in the stead of some, or decide a block
// in a few ways, or undo another one, each on the base or on any of those before; every order of arrival: the small cases, all of
// them when thorough, else of larger bases some.
func TestSmallScope(t *testing.T) {
	most := []int{1, 2, 100, 1200} // one case in so many, by the lines of the base
	if *thorough {
		most = []int{1, 1, 1, 1}
	}
	seen := &coverage{}
	for n, share := range most {
		s := scope{replicas: replicas{t: t, seen: seen}, share: share}
		s.base([]string{"1\n", "2\n", "3\n"}[:n])
	}
	t.Logf("%+v", *seen)
	if seen.cases == 0 || seen.blocks == 0 || seen.undoings == 0 {
		t.Errorf("something was never put to a test: %+v", *seen)
	}
}

// scope is the cases of one base.
type scope struct {
	replicas
	share, count int
	root         oracle.Set
	weaves       map[uint32]*Weave // of each change, it and its past
	made         []uint32
	events       []oracle.Event // how each was made
}

func (s *scope) base(lines []string) {
	s.h = history{oracle.NewWorld(rand.New(rand.NewSource(int64(len(lines)))))}
	s.root, s.weaves = oracle.Set{}, map[uint32]*Weave{}
	steps := [][]string{lines}
	if len(lines) == 0 { // the definition knows no empty file: let one line have gone
		steps = [][]string{{"0\n"}, {}}
	}
	var w *Weave
	for _, want := range steps {
		c, err := s.h.Record(s.root, want)
		if err != nil || c == nil {
			s.t.Fatal(c, err)
		}
		p := s.h.patch(c.Num)
		if w == nil {
			w = New(p.Source)
		} else if err := w.Apply(p.Source, p.Hunks); err != nil {
			s.t.Fatal(err)
		}
		s.root = s.root.With(c.Num)
		s.weaves[c.Num] = w.Clone()
	}
	s.extend()
}

// extend makes one more change in every way, on every closed set of those made.
func (s *scope) extend() {
	if len(s.made) == 3 {
		if s.count++; s.count%s.share == 0 {
			s.check()
		}
		return
	}
	for bits := range 1 << len(s.made) {
		on := s.root
		for i, c := range s.made {
			if bits>>i&1 == 1 {
				on = on.With(c)
			}
		}
		if !s.h.Closed(on) {
			continue
		}
		for _, want := range s.edits(on) {
			if c, err := s.h.Record(on, want); err != nil {
				s.t.Fatal(err)
			} else if c != nil {
				s.with(c, oracle.Event{Kind: oracle.Edited, Before: on, Want: want, Change: c.Num})
			}
		}
		for _, p := range s.made {
			if on[p] && s.h.Live(on)[p] {
				c := s.h.Rollback(on, p)
				s.with(c, oracle.Event{Kind: oracle.RolledBack, Before: on, Change: c.Num})
			}
		}
	}
}

// with goes on with one more change, and forgets it.
func (s *scope) with(c *oracle.Change, e oracle.Event) {
	s.made, s.events = append(s.made, c.Num), append(s.events, e)
	s.extend()
	s.made, s.events = s.made[:len(s.made)-1], s.events[:len(s.events)-1]
	s.h.Changes = s.h.Changes[:c.Num]
}

// edits is what may become of what a set shows. A block counts as one line, and may also be decided for a side or all.
func (s *scope) edits(on oracle.Set) (out [][]string) {
	var items [][]string
	for _, it := range s.h.Render(on).Items {
		items = append(items, it.Lines)
	}
	join := func(parts ...[][]string) (out []string) {
		for _, p := range parts {
			out = slices.Concat(append([][]string{out}, p...)...)
		}
		return out
	}
	for i := range len(items) + 1 {
		for j := i; j <= len(items); j++ {
			for _, ins := range [][]string{nil, {"a\n"}, {"b\n"}} {
				if len(ins) > 0 || j > i {
					out = append(out, join(items[:i], [][]string{ins}, items[j:]))
				}
			}
		}
		if i < len(items) && len(items[i]) > 1 {
			var all, first []string
			side := 0
			for _, l := range items[i] {
				if len(l) > 2 { // a mark
					side++
					continue
				}
				all = append(all, l)
				if side == 1 {
					first = append(first, l)
				}
			}
			out = append(out, join(items[:i], [][]string{all}, items[i+1:]), join(items[:i], [][]string{first}, items[i+1:]))
		}
	}
	return out
}

// check holds the weave of all changes, by every order of arrival and as unions, to the definition; and what would
// have been recorded for each.
func (s *scope) check() {
	s.seen.cases++
	all := s.root.With(s.made...)
	var first *Weave
	s.orders(s.weaves[s.root.Sorted()[len(s.root)-1]], s.root, func(w *Weave) {
		if first == nil {
			first = w
			s.compare(w, all)
			s.view(w, all)
		} else if !slices.EqualFunc(elements(first), elements(w), sameElement) || !slices.Equal(first.open, w.open) {
			s.t.Errorf("another order makes another weave: %v and %v", first, w)
		}
	})
	// Any two parts, united.
	for bits := range 1 << len(s.made) {
		a, b := s.root, s.root
		for i, c := range s.made {
			if bits>>i&1 == 1 {
				a = a.Union(s.h.Changes[c].Past).With(c)
			} else {
				b = b.Union(s.h.Changes[c].Past).With(c)
			}
		}
		wa, err := first.Only(func(c uint32) bool { return a[c] }, s.h)
		if err != nil {
			s.t.Fatal(err)
		}
		wb, err := first.Only(func(c uint32) bool { return b[c] }, s.h)
		if err != nil {
			s.t.Fatal(err)
		}
		m, err := Merge(wa, wb, s.h)
		if err != nil {
			s.t.Fatal(err)
		}
		if !slices.EqualFunc(elements(first), elements(m), sameElement) || !slices.Equal(first.open, m.open) {
			s.t.Errorf("the union of %v and %v makes another weave: %v and %v", a.Sorted(), b.Sorted(), first, m)
		}
	}
	for _, e := range s.events {
		on, err := first.Only(func(c uint32) bool { return e.Before[c] }, s.h)
		if err != nil {
			s.t.Fatal(err)
		}
		s.record(on, e)
		s.undo(on, e)
	}
	if s.t.Failed() {
		s.t.Fatalf("%s", s.h.World)
	}
}

// orders calls f with the weave of all changes made, for every order of arrival that dependencies allow.
func (s *scope) orders(w *Weave, in oracle.Set, f func(*Weave)) {
	last := true
	for _, c := range s.made {
		if in[c] {
			continue
		}
		last = false
		if !in.Holds(s.h.Changes[c].Past) {
			continue
		}
		next, err := w.Add(s.h.patch(c), s.h)
		if err != nil {
			s.t.Fatal(err)
		}
		s.orders(next, in.With(c), f)
	}
	if last {
		f(w)
	}
}

func sameElement(a, b element) bool {
	return a.Change == b.Change && a.Off == b.Off && a.Shown == b.Shown && a.HasRight == b.HasRight && a.Head == b.Head && a.Left == b.Left &&
		a.ParentChange == b.ParentChange && a.ParentOff == b.ParentOff && slices.Equal(a.Dead, b.Dead) && slices.Equal(a.Add, b.Add) && slices.Equal(a.Del, b.Del)
}
