package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A difference applied to the old view makes the new one, and its encoding is the only one.
func TestViewDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := NewView()
		rng := testRand(rapid.Uint64().Draw(t, "seed"))
		for range rapid.IntRange(0, 20).Draw(t, "before") {
			alterView(old, rng, 40)
		}
		now := old.Clone()
		if rapid.Bool().Draw(t, "apart") {
			now = NewView()
		}
		for range rapid.IntRange(0, 20).Draw(t, "after") {
			alterView(now, rng, 40)
		}
		var delta []viewEntry
		diffViews(old, now, func(e viewEntry) { delta = append(delta, e) })
		encoded := encodeEntries(delta)
		got := old.Clone()
		var read []viewEntry
		err := decodeEntries(encoded, func(e viewEntry) {
			got.apply(e)
			read = append(read, e)
		})
		if err != nil || !sameView(got, now) {
			t.Fatalf("%v makes %v, not %v: %v", delta, got, now, err)
		}
		if again := encodeEntries(read); string(again) != string(encoded) {
			t.Fatalf("encoded again as %x, not %x", again, encoded)
		}
	})
}

// Views too large to be told in full each time are told as differences: cheap, and read in few steps.
func TestViewChain(t *testing.T) {
	for _, tags := range []int{200, 60_000} { // in the frame; in a content with chunks
		t.Run(fmt.Sprint(tags, " tags"), func(t *testing.T) {
			mem := newMem(t)
			s := open(t, mem)
			if err := appendOne(s, "main"); err != nil {
				t.Fatal(err)
			}
			var views []*View
			v := NewView()
			for i := range tags {
				v.Tags[fmt.Sprintf("refs/tags/v%06d-%s", i, strings.Repeat("x", 30))] = 0
			}
			rng := testRand(3)
			longest, before := 0, s.now.Load().end
			for i := range 120 {
				next := *v
				if i > 0 {
					next.Bookmarks = maps.Clone(v.Bookmarks)
					next.Bookmarks[fmt.Sprint("b", rng.IntN(30))] = 0
					delete(next.Bookmarks, fmt.Sprint("b", rng.IntN(30)))
					if i%40 == 0 {
						next.Tags = maps.Clone(v.Tags)
						delete(next.Tags, slices.Sorted(maps.Keys(v.Tags))[i])
					}
				}
				v = &next
				tx, err := s.Begin(nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Commit(Op{View: v}, nil); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					before = s.now.Load().end
				}
				links, err := s.viewChain(s.now.Load().op, s.NumOps(), true)
				if err != nil {
					t.Fatal(err)
				}
				longest = max(longest, len(links))
				views = append(views, v)
			}
			if longest < 3 || longest > 9 {
				t.Errorf("a view is read in up to %d steps", longest)
			}
			if each := (s.now.Load().end - before) / 120; each > 1000 {
				t.Errorf("%d bytes for an op that moves a bookmark", each)
			}
			s = open(t, mem)
			for i, want := range views {
				if i > 10 && i%7 != 0 {
					continue
				}
				if got, err := s.OpView(uint32(i + 1)); err != nil || !sameView(got, want) {
					t.Fatalf("view of op %d differs: %v", i+1, err)
				}
			}
			if got, err := s.View(); err != nil || !sameView(got, v) {
				t.Fatal("the view differs: ", err)
			}
		})
	}
}

func TestViewsThatCannotBe(t *testing.T) {
	for what, alter := range map[string]func(*View){
		"no such state":   func(v *View) { v.Bookmarks["a"] = 1 },
		"long name":       func(v *View) { v.Tags[strings.Repeat("x", maxName+1)] = 0 },
		"no such base":    func(v *View) { v.Base = 7 },
		"checkpoints":     func(v *View) { v.Checkpoints = []uint32{0, 0} },
		"kept too much":   func(v *View) { v.Kept["k"] = make([]byte, maxKept+1) },
		"long bookmark":   func(v *View) { v.Current = strings.Repeat("x", maxName+1) },
		"no such checked": func(v *View) { v.Checkpoints = []uint32{3} },
	} {
		mem := newMem(t)
		s := open(t, mem)
		if err := appendOne(s, "main"); err != nil {
			t.Fatal(err)
		}
		before := logFiles(t, mem)
		tx, err := s.Begin(nil)
		if err != nil {
			t.Fatal(err)
		}
		v := NewView()
		alter(v)
		if _, err := tx.Commit(Op{View: v}, nil); err == nil {
			t.Errorf("%s was committed", what)
		}
		if after := logFiles(t, mem); after != before {
			t.Errorf("%s: log before %s, after %s", what, before, after)
		}
	}
}

func TestLongCommandIsCut(t *testing.T) {
	s := open(t, newMem(t))
	words := slices.Repeat([]string{"word"}, 5000)
	for i, op := range []Op{{Command: words}, {Command: []string{"a", strings.Repeat("x", 1<<21)}}, {User: strings.Repeat("u", 5000)}} {
		tx, err := s.Begin(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Commit(op, nil); err != nil {
			t.Fatal(err)
		}
		got, err := s.Op(uint32(i))
		if err != nil || len(got.User) > maxUser || len(got.Command) > maxWords {
			t.Fatal(got, err)
		}
	}
	if got, _ := s.Op(1); !slices.Equal(got.Command, []string{"a", "..."}) {
		t.Errorf("%.100q", got.Command)
	}
}
