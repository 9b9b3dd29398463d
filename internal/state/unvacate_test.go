package state

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// unvacate does what Unvacate's documentation says, the slow way.
func (m *model) unvacate(list []Vacated) {
	for _, v := range list {
		by := slices.DeleteFunc(slices.Clone(m.vacated[v.Path]), func(n uint32) bool { return n == v.By })
		if m.vacated[v.Path] = by; len(by) == 0 {
			delete(m.vacated, v.Path)
		}
	}
}

// someVacated gives some of what is vacated, shuffled for each path, and some that is not.
func (w *world) someVacated(m *model, share int) (list []Vacated) {
	for _, p := range m.vacatedPaths() {
		for _, n := range m.vacated[p] {
			if w.r.Intn(share) == 0 {
				list = append(list, Vacated{p, n})
			}
		}
	}
	list = append(list, w.vacate(m, w.r.Intn(10))...)
	w.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(x, y Vacated) int { return ComparePaths(x.Path, y.Path) })
	return list
}

func TestUnvacateAgainstPlainMaps(t *testing.T) {
	for seed := range int64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := world{r: rand.New(rand.NewSource(seed)), long: seed == 1}
			if seed == 2 {
				w.makeDirs()
			}
			b := newBlocks(t)
			m, tree := newModel(), b.Tree(Root{})
			for range 12 {
				before, old := m.clone(), tree
				if w.r.Intn(2) == 0 {
					list := w.vacate(m, 200)
					tree = mustVacate(t, tree, list)
					m.vacate(list)
				} else {
					list := w.someVacated(m, 1+w.r.Intn(20))
					tree = mustUnvacate(t, tree, list)
					m.unvacate(list)
				}
				sameVacated(t, w.r, tree, m)
				if err := tree.Check(); err != nil {
					t.Fatal(err)
				}
				sameVacatedDiff(t, old, tree, before, m)
				sameVacatedDiff(t, tree, old, m, before)
				sameVacatedDiff(t, b.Tree(Root{}), tree, newModel(), m)
				apart := mustVacate(t, newBlocks(t).Tree(Root{}), w.allVacated(m))
				sameVacatedDiff(t, old, apart, before, m)
			}
			tree = mustUnvacate(t, tree, w.allVacated(m))
			if tree.root.Vacated != 0 {
				t.Fatal("something is left")
			}
		})
	}
}

func (w *world) allVacated(m *model) (list []Vacated) {
	for _, p := range m.vacatedPaths() {
		for _, n := range m.vacated[p] {
			list = append(list, Vacated{p, n})
		}
	}
	return list
}

func mustUnvacate(t testing.TB, tree Tree, list []Vacated) Tree {
	t.Helper()
	tree, err := tree.Unvacate(list)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func sameVacatedDiff(t *testing.T, a, b Tree, before, after *model) {
	t.Helper()
	want, got := map[string][]uint32{}, map[string][]uint32{}
	for p, by := range after.vacated {
		more := slices.DeleteFunc(slices.Clone(by), func(n uint32) bool { return slices.Contains(before.vacated[p], n) })
		if len(more) > 0 {
			want[p] = more
		}
	}
	last := ""
	err := DiffVacated(a, b, func(path string, by []uint32) error {
		if last != "" && ComparePaths(last, path) >= 0 {
			t.Fatalf("%q after %q", path, last)
		}
		last, got[path] = path, slices.Clone(by)
		return nil
	})
	if err != nil || !maps.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("DiffVacated: %d paths, want %d: %v", len(got), len(want), err)
	}
}

func TestUnvacatePassesOverWhatIsNotThere(t *testing.T) {
	tree := mustVacate(t, newBlocks(t).Tree(Root{}), []Vacated{{"a", 7}, {"a", 3}, {"b", 1}})
	for _, list := range [][]Vacated{nil, {{"a", 4}}, {{"0", 1}, {"a/b", 7}, {"c", 1}}} {
		if same := mustUnvacate(t, tree, list); same.Root() != tree.Root() {
			t.Errorf("%v: another tree", list)
		}
	}
	if _, err := tree.Unvacate([]Vacated{{"b", 1}, {"a", 1}}); err == nil {
		t.Error("out of order: no error")
	}
	// More in the list than a path has room for.
	var list []Vacated
	for n := range uint32(2 * maxVacatedBy) {
		list = append(list, Vacated{"a", n})
	}
	if got, err := mustUnvacate(t, tree, list).Vacated("a"); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDiffVacatedSkipsWhatIsShared counts the paths that are looked at.
func TestDiffVacatedSkipsWhatIsShared(t *testing.T) {
	var list []Vacated
	for i := range 20_000 {
		list = append(list, Vacated{fmt.Sprintf("d/%05d%s", i, strings.Repeat("x", 20)), uint32(i)})
	}
	b := newBlocks(t)
	tree := mustVacate(t, b.Tree(Root{}), list)
	next := mustVacate(t, tree, []Vacated{{"d/10000y", 1}})
	seen := 0
	err := diffTrees(b, b, &vacatedLayout, tree.root.Vacated, next.root.Vacated, func(_, _ *vacancy) error { seen++; return nil })
	if err != nil || seen == 0 || seen > 400 {
		t.Fatalf("%d paths are looked at: %v", seen, err)
	}
}
