package state

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// vacate does what Vacate's documentation says, the slow way.
func (m *model) vacate(list []Vacated) {
	for _, v := range list {
		by := append(slices.Clone(m.vacated[v.Path]), v.By)
		slices.Sort(by)
		by = slices.Compact(by)
		m.vacated[v.Path] = by[max(0, len(by)-maxVacatedBy):]
	}
}

// around is what Vacated says of a path, in order and without repeats.
func (m *model) around(path string) (by []uint32) {
	for p, more := range m.vacated {
		if p == path || strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/") {
			by = append(by, more...)
		}
	}
	slices.Sort(by)
	return slices.Compact(by)
}

func (m *model) vacatedPaths() []string { return slices.SortedFunc(maps.Keys(m.vacated), ComparePaths) }

// near is a path that has to do with known ones: one of them, one above, beneath or beside.
func (w *world) near(known []string) string {
	p := w.path()
	if len(known) > 0 && w.r.Intn(4) > 0 {
		p = known[w.r.Intn(len(known))]
	}
	switch w.r.Intn(4) {
	case 0:
		p = p[:1+w.r.Intn(len(p))]
	case 1:
		p += [...]string{"", "/", "."}[w.r.Intn(3)] + w.name()
	case 2:
		if i := strings.LastIndexByte(p, '/'); i > 0 {
			p = p[:i]
		}
	}
	return strings.Trim(p[:min(len(p), MaxPath)], "/") + "a"[:w.r.Intn(2)]
}

// vacate makes up to n vacated paths, some of them twice.
func (w *world) vacate(m *model, n int) (list []Vacated) {
	known := m.vacatedPaths()
	for range n {
		if p := w.near(known); p != "" && len(p) <= MaxPath {
			by := uint32(w.r.Intn(1 << w.r.Intn(33)))
			list = append(list, Vacated{p, by})
			if w.r.Intn(4) == 0 {
				list = append(list, Vacated{p, by + uint32(w.r.Intn(3))})
			}
		}
	}
	slices.SortStableFunc(list, func(x, y Vacated) int { return ComparePaths(x.Path, y.Path) })
	return list
}

func mustVacate(t testing.TB, tree Tree, list []Vacated) Tree {
	t.Helper()
	tree, err := tree.Vacate(list)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func sameVacated(t *testing.T, r *rand.Rand, tree Tree, m *model) {
	t.Helper()
	c, err := newCursor(tree.b, &vacatedLayout, tree.root.Vacated)
	if err != nil {
		t.Fatal(err)
	}
	known := m.vacatedPaths()
	for _, p := range known {
		v, err := c.item()
		if err != nil || v == nil || v.path != p || !slices.Equal(v.by, m.vacated[p]) {
			t.Fatalf("%+v is stored, want %q by %d: %v", v, p, m.vacated[p], err)
		}
		c.next()
	}
	if !c.ended() {
		t.Fatal("more is stored")
	}
	w := world{r: r}
	for range 50 {
		p := w.near(known)
		if p == "" {
			continue
		}
		if got, err := vacatedSet(tree, p); err != nil || !slices.Equal(got, m.around(p)) {
			t.Fatalf("Vacated(%q) = %d, %v; want %d", p, got, err, m.around(p))
		}
	}
}

func vacatedSet(tree Tree, path string) ([]uint32, error) {
	by, err := tree.Vacated(path)
	slices.Sort(by)
	return slices.Compact(by), err
}

func TestVacatedAgainstPlainMaps(t *testing.T) {
	for seed := range int64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := world{r: rand.New(rand.NewSource(seed)), long: seed%3 == 0}
			if seed == 5 {
				w.makeDirs()
			}
			b := newBlocks(t)
			m, tree := newModel(), b.Tree(Root{})
			for round := range 20 {
				before, old := m.clone(), tree
				list := w.vacate(m, [...]int{1, 20, 400}[w.r.Intn(3)])
				tree = mustVacate(t, tree, list)
				m.vacate(list)
				edits := w.batch(m, 5)
				tree = mustEdit(t, tree, edits)
				m.apply(edits)
				if round%7 == 6 {
					sameTree(t, w.r, tree, m)
					sameTree(t, w.r, old, before)
				}
			}
			if level, _, err := vacatedLayout.page(b, tree.root.Vacated); err != nil || level < 1 || seed == 5 && level < 2 {
				t.Fatalf("level %d is too low to prove anything: %v", level, err)
			}
		})
	}
}

// TestVacatedAtTheEdgesOfPages asks around each of so many paths that pages end between any two cases.
func TestVacatedAtTheEdgesOfPages(t *testing.T) {
	m := newModel()
	var list []Vacated
	for i := range 1500 {
		p := fmt.Sprintf("d/%04d", i)
		list = append(list, Vacated{p, uint32(3 * i)}, Vacated{p + "/b/c", uint32(3*i + 1)}, Vacated{p + ".x", uint32(3*i + 2)})
	}
	list = append(list, Vacated{"d", 100_000})
	slices.SortStableFunc(list, func(x, y Vacated) int { return ComparePaths(x.Path, y.Path) })
	tree := mustVacate(t, newBlocks(t).Tree(Root{}), list)
	m.vacate(list)
	for i := range 1500 {
		for _, rest := range [...]string{"", "/a", "/b", "/b/c", "/b/c/d/e", "/z/z", ".x", ".x/y", ".y", "x"} {
			p := fmt.Sprintf("d/%04d%s", i, rest)
			want := []uint32{100_000}
			switch rest {
			case "":
				want = []uint32{uint32(3 * i), uint32(3*i + 1), 100_000}
			case "/b", "/b/c", "/b/c/d/e":
				want = []uint32{uint32(3 * i), uint32(3*i + 1), 100_000}
			case "/a", "/z/z":
				want = []uint32{uint32(3 * i), 100_000}
			case ".x", ".x/y":
				want = []uint32{uint32(3*i + 2), 100_000}
			}
			if got, err := vacatedSet(tree, p); err != nil || !slices.Equal(got, want) {
				t.Fatalf("Vacated(%q) = %d, %v; want %d", p, got, err, want)
			}
		}
	}
	if got, err := vacatedSet(tree, "d"); err != nil || !slices.Equal(got, m.around("d")) {
		t.Fatalf("%d changes took something from beneath d, want %d: %v", len(got), len(m.around("d")), err)
	}
}

// TestVacatedManyTimesOver makes the largest pages there can be.
func TestVacatedManyTimesOver(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	m, tree := newModel(), newBlocks(t).Tree(Root{})
	for range 30 {
		var list []Vacated
		for i := range 7 {
			p := fmt.Sprint(i) + strings.Repeat("x", MaxPath-1)
			for range 100 {
				list = append(list, Vacated{p, r.Uint32()})
			}
		}
		tree = mustVacate(t, tree, list)
		m.vacate(list)
	}
	for p, by := range m.vacated {
		if len(by) != maxVacatedBy {
			t.Fatalf("%d changes are kept for %.5q", len(by), p)
		}
	}
	sameTree(t, r, tree, m)
}

func TestVacateTakesAnyOrderOfChanges(t *testing.T) {
	tree := newBlocks(t).Tree(Root{})
	tree = mustVacate(t, tree, []Vacated{{"a", 7}, {"a", 3}, {"a", 7}, {"a/b", 1<<32 - 1}})
	same := mustVacate(t, mustVacate(t, tree, nil), []Vacated{{"a", 3}})
	for _, tree := range []Tree{tree, same} {
		if got, err := tree.Vacated("a/b"); err != nil || !slices.Equal(got, []uint32{3, 7, 1<<32 - 1}) {
			t.Fatalf("%d, %v", got, err)
		}
	}
}

func TestVacateRefusesWhatIsNoList(t *testing.T) {
	tree := newBlocks(t).Tree(Root{})
	for name, list := range map[string][]Vacated{
		"out of order":    {{"b", 1}, {"a", 2}},
		"as bytes":        {{"a.b", 1}, {"a/b", 2}},
		"comes again":     {{"a", 1}, {"b", 2}, {"a", 3}},
		"no path":         {{"", 1}},
		"too long a path": {{strings.Repeat("x", MaxPath+1), 1}},
	} {
		if _, err := tree.Vacate(list); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestVacancyLeaves has leaves that must be refused beside the one they were made from.
func TestVacancyLeaves(t *testing.T) {
	long := "\x00\x01a" + "\x81\x04" + strings.Repeat("\x01", maxVacatedBy+1) // one number more than there may be
	for name, payload := range map[string]string{
		"right":               "\x00\x01a\x02\x00\x01" + "\x01\x02/b\x01\xff\xff\xff\xff\x0f",
		"as many as may be":   "\x00\x01a" + "\x80\x04" + strings.Repeat("\x01", maxVacatedBy),
		"no path":             "\x00\x00\x01\x01",
		"no changes":          "\x00\x01a\x00",
		"a change twice":      "\x00\x01a\x02\x05\x00",
		"too many changes":    long,
		"far too many":        "\x00\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"changes cut short":   "\x00\x01a\x03\x05\x01",
		"no number of 32 bit": "\x00\x01a\x01\x80\x80\x80\x80\x10",
		"nor their sum":       "\x00\x01a\x02\x01\xff\xff\xff\xff\x0f",
		"nor over 64 bits":    "\x00\x01a\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"longer than needed":  "\x00\x01a\x01\x85\x00",
		"paths out of order":  "\x00\x02a/\x01\x01" + "\x00\x01a\x01\x01",
		"order of bytes":      "\x00\x02a.\x01\x01" + "\x01\x01/\x01\x01",
		"a path twice":        "\x00\x01a\x01\x01" + "\x01\x00\x01\x01",
		"shares too little":   "\x00\x01a\x01\x01" + "\x00\x02ab\x01\x01",
		"shares what is not":  "\x01\x01a\x01\x01",
		"nothing":             "",
	} {
		items, ok := decodeVacancies(fuzzSelf, []byte(payload), nil, &scratch{})
		right := name == "right" || name == "as many as may be"
		if ok != right {
			t.Errorf("%s: taken is %v", name, ok)
		} else if ok && string(vacatedLayout.leafFormat().encode(items)) != payload {
			t.Errorf("%s: written in another way", name)
		}
		if _, err := vacatedIn(t, payload, "a/b"); err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := vacatedIn(t, "\x00\x01a\x02\x00\x01"+"\x01\x02/b\x01\xff\xff\xff\xff\x0f", "a/b/c"); err != nil ||
		!slices.Equal(got, []uint32{0, 1, 1<<32 - 1}) {
		t.Fatalf("%d, %v", got, err)
	}
}

func vacatedIn(t *testing.T, leaf, path string) ([]uint32, error) {
	b := newBlocks(t)
	return b.Tree(Root{Vacated: b.put(kindVacatedLeaf, []byte(leaf))}).Vacated(path)
}
