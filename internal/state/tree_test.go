package state

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

func TestComparePathsIsTheOrderOfANestedWalk(t *testing.T) {
	w := world{r: rand.New(rand.NewSource(1))}
	for range 20000 {
		a, b := w.path(), w.path()
		if w.r.Intn(2) == 0 {
			b = a[:1+w.r.Intn(len(a))] + w.name()
		}
		want := slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
		if got := ComparePaths(a, b); got != want {
			t.Fatalf("ComparePaths(%q, %q) = %d, want %d", a, b, got, want)
		}
		if a != b {
			lo, hi := a, b
			if want > 0 {
				lo, hi = b, a
			}
			if k := between(lo, hi); ComparePaths(lo, k) >= 0 || ComparePaths(k, hi) > 0 || len(k) > shared(lo, hi)+1 {
				t.Fatalf("between(%q, %q) = %q", lo, hi, k)
			}
		}
	}
}

func TestEditsAgainstPlainMaps(t *testing.T) {
	for seed := range int64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := world{r: rand.New(rand.NewSource(seed)), long: seed%3 == 0, hides: seed%2 == 0}
			b := newBlocks(t)
			m, tree := newModel(), b.Tree(Root{})
			for round := range 40 {
				before, old := m.clone(), tree
				var edits []Edit
				switch {
				case w.r.Intn(12) == 0:
					edits = w.wipe(m)
				case w.r.Intn(4) == 0:
					edits = w.batch(m, 400)
				default:
					edits = w.batch(m, 1+w.r.Intn(8))
				}
				tree = mustEdit(t, tree, edits)
				m.apply(edits)
				if w.hides {
					tree = w.unsettle(t, tree, m)
				}
				sameDiff(t, old, tree, before, m)
				if round%10 == 9 {
					sameTree(t, w.r, tree, m)
					sameTree(t, w.r, old, before)
					apart := mustBuild(t, b, m)
					sameDiff(t, old, apart, before, m)
					sameDiff(t, apart, tree, m, m)
					other := mustBuild(t, newBlocks(t), m)
					sameDiff(t, old, other, before, m)
				}
			}
		})
	}
}

func TestEditsOfTallTrees(t *testing.T) {
	for seed := range int64(2) {
		w := world{r: rand.New(rand.NewSource(seed))}
		w.makeDirs()
		b := newBlocks(t)
		m := newModel()
		m.apply(w.batch(m, 4000))
		tree := mustBuild(t, b, m)
		if level, _, err := pathLayout.page(b, tree.root.Paths); err != nil || level < 3 {
			t.Fatalf("level %d, %v", level, err)
		}
		for round := range 16 {
			before, old := m.clone(), tree
			edits := w.batch(m, []int{5, 50, 500}[w.r.Intn(3)])
			if w.r.Intn(3) == 0 {
				edits = w.wipe(m)
				edits = edits[:min(len(edits), 1000)]
			}
			tree = mustEdit(t, tree, edits)
			m.apply(edits)
			sameDiff(t, old, tree, before, m)
			if err := tree.Check(); err != nil {
				t.Fatal(err)
			}
			if round%8 == 7 {
				sameTree(t, w.r, tree, m)
				sameDiff(t, old, mustBuild(t, b, m), before, m)
			}
		}
	}
}

// sameDiff compares Diff with what the models say.
func sameDiff(t *testing.T, a, b Tree, before, after *model) {
	t.Helper()
	all := before.clone()
	for p := range after.entries {
		all.entries[p] = Entry{}
	}
	var want, got []string
	for _, p := range all.paths() {
		if before.entries[p] != after.entries[p] {
			want = append(want, fmt.Sprintf("%q: %+v to %+v", p, before.entries[p], after.entries[p]))
		}
	}
	err := Diff(a, b, func(old, new *Entry) error {
		var o, n Entry
		if old != nil {
			o = *old
		}
		if new != nil {
			n = *new
		}
		got = append(got, fmt.Sprintf("%q: %+v to %+v", max(o.Path, n.Path), o, n))
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("Diff: %v\n%d differences, want %d", err, len(got), len(want))
	}
}

func TestDiffSkipsWhatIsShared(t *testing.T) {
	w := world{r: rand.New(rand.NewSource(5))}
	b := newBlocks(t)
	m := newModel()
	m.apply(w.batch(m, 6000))
	tree := mustBuild(t, b, m)
	for range 200 {
		edits := w.batch(m, 1)
		if len(edits) != 1 {
			continue
		}
		next := mustEdit(t, tree, edits)
		left, _ := newCursor(b, &pathLayout, tree.root.Paths)
		right, _ := newCursor(b, &pathLayout, next.root.Paths)
		d := differ[Entry]{l: &pathLayout, a: left, b: right, sameBlocks: true, fn: func(_, _ *Entry) error { return nil }}
		steps := 0
		for ; !left.ended() || !right.ended(); steps++ {
			if err := d.step(); err != nil {
				t.Fatal(err)
			}
		}
		if steps > 1200 { // the whole is 6000 entries
			t.Fatalf("a diff of one edit took %d steps", steps)
		}
		m.apply(edits)
		tree = next
	}
}

func TestEmptyingAndGrowingKeepsTheTreeLow(t *testing.T) {
	w := world{r: rand.New(rand.NewSource(6))}
	b := newBlocks(t)
	m := newModel()
	m.apply(w.batch(m, 5000))
	tree := mustBuild(t, b, m)
	for len(m.entries) > 0 {
		var edits []Edit
		for i, p := range m.paths() {
			if w.r.Intn(3) == 0 || len(m.entries) < 5 {
				edits = append(edits, Edit{Path: p, Delete: true, By: change.FileID{Change: 9, Ord: uint32(i)}})
			}
		}
		tree = mustEdit(t, tree, edits)
		m.apply(edits)
		if err := tree.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if tree.root.Paths != 0 || tree.Len() != 0 {
		t.Fatalf("an empty tree has root %+v", tree.root)
	}
	sameTree(t, w.r, tree, m)
}

func TestSparsePagesAreMerged(t *testing.T) {
	w := world{r: rand.New(rand.NewSource(7))}
	b := newBlocks(t)
	m := newModel()
	m.apply(w.batch(m, 4000))
	tree := mustBuild(t, b, m)
	for len(m.entries) > 100 { // one at a time, so that each page is thinned by itself
		p := m.paths()[w.r.Intn(len(m.entries))]
		edits := []Edit{{Path: p, Delete: true, Forget: true}}
		tree = mustEdit(t, tree, edits)
		m.apply(edits)
		if len(m.entries) > 1000 {
			for _, p := range m.paths()[:40] {
				edits := []Edit{{Path: p, Delete: true, Forget: true}}
				tree = mustEdit(t, tree, edits)
				m.apply(edits)
			}
		}
	}
	sameTree(t, w.r, tree, m)
	compact := mustBuild(t, newBlocks(t), m)
	if got, want := pagesOf(t, tree), pagesOf(t, compact); got > 4*want+2 {
		t.Fatalf("%d pages hold what fits in %d", got, want)
	}
}

// pagesOf counts the leaves of a tree by path.
func pagesOf(t *testing.T, tree Tree) (n int) {
	c, err := newCursor(tree.b, &pathLayout, tree.root.Paths)
	if err != nil {
		t.Fatal(err)
	}
	for !c.ended() {
		if _, level, _ := c.unopened(); level == 0 {
			n++
			c.skip()
		} else if err := c.open(); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestEditRefusesWhatMakesNoTree(t *testing.T) {
	b := newBlocks(t)
	f := func(n uint32) Entry {
		id := change.FileID{Change: n}
		return Entry{File: id, Place: id, Mode: id, Body: id}
	}
	tree := mustEdit(t, b.Tree(Root{}), []Edit{{Path: "a", Entry: f(1)}, {Path: "b", Entry: f(2)}})
	for name, edits := range map[string][]Edit{
		"out of order":    {{Path: "d", Entry: f(4)}, {Path: "c", Entry: f(3)}},
		"twice":           {{Path: "c", Entry: f(3)}, {Path: "c", Entry: f(3)}},
		"delete nothing":  {{Path: "c", Delete: true}},
		"two places":      {{Path: "c", Entry: f(1)}},
		"two new places":  {{Path: "c", Entry: f(3)}, {Path: "d", Entry: f(3)}},
		"moved to two":    {{Path: "a", Delete: true}, {Path: "c", Entry: f(1)}, {Path: "d", Entry: f(1)}},
		"no path":         {{Path: "", Entry: f(3)}},
		"too long a path": {{Path: strings.Repeat("x", MaxPath+1), Entry: f(3)}},
		"unknown kind":    {{Path: "c", Entry: Entry{Kind: 4}}},
	} {
		if _, err := tree.Edit(edits); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, edits := range map[string][]FileEdit{
		"a living file":   {{Tombstone: Tombstone{File: change.FileID{Change: 1}, Path: "a"}}},
		"forget unknown":  {{Tombstone: Tombstone{File: change.FileID{Change: 7}}, Forget: true}},
		"forget a living": {{Tombstone: Tombstone{File: change.FileID{Change: 1}}, Forget: true}},
		"no path":         {{Tombstone: Tombstone{File: change.FileID{Change: 7}}}},
		"twice": {{Tombstone: Tombstone{File: change.FileID{Change: 7}, Path: "a"}},
			{Tombstone: Tombstone{File: change.FileID{Change: 7}, Path: "b"}}},
	} {
		if _, err := tree.EditFiles(edits); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	stone := Tombstone{File: change.FileID{Change: 7}, Path: "z", By: change.FileID{Change: 8, Ord: 2}}
	with, err := tree.EditFiles([]FileEdit{{Tombstone: stone}})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok, err := with.Tombstone(stone.File); !ok || err != nil || got != stone {
		t.Fatalf("tombstone %+v, %v, %v", got, ok, err)
	}
	back := mustEdit(t, with, []Edit{{Path: "z", Entry: f(7)}})
	if at, ok, err := back.ByFile(stone.File); at != (Whereabouts{Path: "z", Alive: true}) || !ok || err != nil {
		t.Fatalf("a file that came back: %+v, %v, %v", at, ok, err)
	}
	without, err := with.EditFiles([]FileEdit{{Tombstone: Tombstone{File: stone.File}, Forget: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := without.ByFile(stone.File); ok || err != nil {
		t.Fatalf("a forgotten file is known: %v", err)
	}
}
