package state

import (
	"bytes"
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

const fuzzSelf Ref = 1 << 40 // where a fuzzed page is said to be: far behind all that it may refer to

// seedPages gives one payload of each kind of page.
func seedPages(f *testing.F) (leaf, files, inner, roots, vacated, disputes []byte) {
	w := &world{r: rand.New(rand.NewSource(1)), hides: true}
	m := newModel()
	m.apply(w.batch(m, 20))
	m.apply(w.batch(m, 20))
	vacancies, err := vacancies(w.vacate(m, 40))
	if err != nil {
		f.Fatal(err)
	}
	for i := range vacancies {
		vacancies[i].tidy()
	}
	var entries []Entry
	var items []fileItem
	for e := range m.all() {
		if len(entries)%3 == 0 {
			e.Weave = 5<<refOffsetBits | 99
		}
		if len(entries)%5 == 0 {
			e.Acts = 77
		}
		entries = append(entries, *e)
		items = append(items, m.files[e.File])
	}
	for _, item := range m.files {
		if item.status == fileGone && len(items)%2 == 0 {
			item.weave, item.acts = 99, 5<<refOffsetBits|77
		}
		if item.status != fileShown {
			items = append(items, item)
		}
	}
	list := w.makeDisputes(m)
	for i := range list {
		if e := list[i].Hidden; e != nil {
			e.Weave, e.Acts = 99, 5<<refOffsetBits|77
		}
	}
	disputes, _ = appendDisputes(nil, list, math.MaxInt)
	if err := sortFiles(items); err != nil {
		f.Fatal(err)
	}
	cells := []cell{{"", 99, 3, 4}, {"a", 7<<refOffsetBits | 300, 5, 1 << 40}, {"a/b", 4000, 1, 0}}
	return bytes.Clone(pathLayout.leafFormat().encode(entries)),
		bytes.Clone(fileLayout.leafFormat().encode(items)),
		bytes.Clone(pathLayout.innerFormat(2).encode(cells)),
		appendRoots(nil, StateRoot{State: 3, Root: Root{Paths: 99, Files: 1<<50 | 77, Vacated: 1<<60 | 300, Disputes: 66, Count: 5, Bytes: 600}, Set: 55, Manual: true}, 0),
		bytes.Clone(vacatedLayout.leafFormat().encode(vacancies)),
		disputes
}

// FuzzLeaf: what is taken for a leaf by path is written the same way, and its entries are found in it.
func FuzzLeaf(f *testing.F) {
	leaf, _, _, _, _, _ := seedPages(f)
	f.Add(leaf)
	f.Fuzz(func(t *testing.T, payload []byte) {
		entries, ok := decodeEntries(fuzzSelf, payload, nil, &scratch{})
		for i := range entries {
			if got, found, fine := findEntry(fuzzSelf, payload, entries[i].Path); !found || !fine || got != entries[i] {
				t.Fatalf("%q is not found as it is: %+v, want %+v", entries[i].Path, got, entries[i])
			}
			if i > 0 && ComparePaths(entries[i-1].Path, entries[i].Path) >= 0 {
				t.Fatal("out of order")
			}
		}
		if ok && len(payload) > 0 && !bytes.Equal(pathLayout.leafFormat().encode(entries), payload) {
			t.Fatal("there is another way to write this")
		}
		if !ok {
			findEntry(fuzzSelf, payload, "a/b") // must not panic
		}
		exercise(t, kindPathLeaf, payload)
	})
}

// FuzzFiles is the same for leaves by identity.
func FuzzFiles(f *testing.F) {
	_, files, _, _, _, _ := seedPages(f)
	f.Add(files)
	f.Fuzz(func(t *testing.T, payload []byte) {
		items, ok := decodeFiles(fuzzSelf, payload, nil, &scratch{})
		for i := range items {
			got, found, fine := findFile(fuzzSelf, payload, items[i].file)
			if got.key = items[i].key; !found || !fine || got != items[i] {
				t.Fatalf("%v is not found as it is: %+v, want %+v", items[i].file, got, items[i])
			}
			if i > 0 && items[i-1].key >= items[i].key {
				t.Fatal("out of order")
			}
		}
		if ok && len(payload) > 0 && !bytes.Equal(fileLayout.leafFormat().encode(items), payload) {
			t.Fatal("there is another way to write this")
		}
		if !ok {
			findFile(fuzzSelf, payload, change.FileID{Change: 3}) // must not panic
		}
		exercise(t, kindFileLeaf, payload)
	})
}

// FuzzVacated is the same for leaves of vacated paths, in which those above are found too.
func FuzzVacated(f *testing.F) {
	_, _, _, _, vacated, _ := seedPages(f)
	f.Add(vacated)
	f.Fuzz(func(t *testing.T, payload []byte) {
		items, ok := decodeVacancies(fuzzSelf, payload, nil, &scratch{})
		for i := range items {
			path := items[i].path
			var want []uint32
			for j := range items[:i+1] {
				if p := items[j].path; p == path || beneath(path, p) {
					want = append(want, items[j].by...)
				}
			}
			more := i+1 < len(items) && beneath(items[i+1].path, path)
			got := vacancyFinder{finder: finder{order: byPath, want: path}}
			if !got.leaf(payload) || !slices.Equal(got.by, want) || i+1 < len(items) && got.more != more {
				t.Fatalf("%q is vacated by %d, %v; want %d, %v", path, got.by, got.more, want, more)
			}
			if i > 0 && ComparePaths(items[i-1].path, path) >= 0 {
				t.Fatal("out of order")
			}
		}
		if ok && !bytes.Equal(vacatedLayout.leafFormat().encode(items), payload) {
			t.Fatal("there is another way to write this")
		}
		exercise(t, kindVacatedLeaf, payload)
	})
}

// FuzzInner is the same for inner pages.
func FuzzInner(f *testing.F) {
	_, _, inner, _, _, _ := seedPages(f)
	f.Add(inner)
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, o := range []order{byPath, byBytes} {
			cells, ok := decodeCells(fuzzSelf, o, payload, nil, &scratch{})
			for i := range cells {
				if got, _, fine := findCell(fuzzSelf, o, payload, cells[i].sep, false); !fine || got != cells[i].ref {
					t.Fatalf("%q leads to %d, want %d", cells[i].sep, got, cells[i].ref)
				}
			}
			if ok && !bytes.Equal(pathLayout.innerFormat(int(payload[0])).encode(cells), payload) {
				t.Fatal("there is another way to write this")
			}
			if !ok {
				findCell(fuzzSelf, o, payload, "a/b", true) // must not panic
			}
		}
		exercise(t, kindPathInner, payload)
		exercise(t, kindFileInner, payload)
		exercise(t, kindVacatedInner, payload)
	})
}

// FuzzRoots is the same for roots blocks.
func FuzzRoots(f *testing.F) {
	_, _, _, roots, _, _ := seedPages(f)
	f.Add(roots)
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, prev, ok := decodeRoots(payload, fuzzSelf)
		if ok && !bytes.Equal(appendRoots(nil, r, prev), payload) {
			t.Fatal("there is another way to write this")
		}
	})
}

// FuzzDisputes is the same for disputes.
func FuzzDisputes(f *testing.F) {
	_, _, _, _, _, disputes := seedPages(f)
	f.Add(disputes)
	f.Fuzz(func(t *testing.T, payload []byte) {
		list, ok := decodeDisputes(fuzzSelf, payload, nil)
		for i := range list {
			if err := list[i].check(); err != nil || i > 0 && compareFiles(list[i-1].File, list[i].File) >= 0 {
				t.Fatalf("%+v is read: %v", list[i], err)
			}
		}
		if ok {
			if again, n := appendDisputes(nil, list, math.MaxInt); n != len(list) || !bytes.Equal(again, payload) {
				t.Fatal("there is another way to write this")
			}
		}
		exercise(t, kindDisputes, append([]byte{0}, payload...))
	})
}

// FuzzActs is the same for acts.
func FuzzActs(f *testing.F) {
	f.Add(appendActs(nil, []Act{{1, 2}, {1<<32 - 1, 0}}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		acts, ok := decodeActs(payload, nil)
		if ok && !bytes.Equal(appendActs(nil, acts), payload) {
			t.Fatal("there is another way to write this")
		}
		b := open(t, vfs.NewMem(), Hint{Generation: 1})
		got, err := b.Acts(b.put(kindActs, append([]byte{0}, payload...)))
		if (err == nil) != ok || ok && !slices.Equal(got, acts) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

// FuzzSet is the same for sets.
func FuzzSet(f *testing.F) {
	f.Add(appendSet(nil, NewSet(0, 3, 4, 5, 300, 1<<32-1)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, ok := decodeSet(payload)
		if ok && !bytes.Equal(appendSet(nil, s), payload) {
			t.Fatal("there is another way to write this")
		}
		if again := (Set{}).Union(s); !again.Equal(s) || !s.Minus(s).Empty() || !s.Intersect(s).Equal(s) {
			t.Fatalf("%v is no set", s)
		}
	})
}

// FuzzHint is the same for hints.
func FuzzHint(f *testing.F) {
	f.Add(Hint{Generation: 1, Size: 2, Roots: 3, Live: 4}.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := DecodeHint(data); err == nil && !bytes.Equal(h.Encode(), data) {
			t.Fatal("there is another way to write this")
		}
	})
}

// exercise puts a page on top of a tree whose checksums are all right, so that nothing but the decoders stands between
// it and the caller, and does everything with that tree.
func exercise(t *testing.T, kind byte, payload []byte) {
	b, err := OpenBlocks(vfs.NewMem(), "trees", Hint{Generation: 1})
	if err != nil {
		t.Fatal(err)
	}
	known := b.Tree(Root{})
	id := change.FileID{Change: 1}
	known, err = known.Edit([]Edit{{Path: "a", Entry: Entry{File: id, Place: id, Mode: id, Body: id}}})
	if err != nil {
		t.Fatal(err)
	}
	root := known.Root()
	switch ref := b.put(kind, payload); kind {
	case kindPathLeaf, kindPathInner:
		root.Paths = ref
	case kindFileLeaf, kindFileInner:
		root.Files = ref
	case kindDisputes:
		root.Disputes = ref
	default:
		root.Vacated = ref
	}
	b.PutRoot(StateRoot{Root: root})
	tree := b.Tree(root)
	_, _, getErr := tree.Get("a/b")
	_, underErr := tree.Under("a")
	_, _, byFileErr := tree.ByFile(id)
	_, vacatedErr := tree.Vacated("a/b")
	_, vacateErr := tree.Vacate([]Vacated{{"a", 3}, {"a/b", 4}})
	_, unvacateErr := tree.Unvacate([]Vacated{{"a", 3}, {"a/b", 4}})
	_, disputesErr := tree.Disputes()
	_, disputeErr := tree.WithDisputes([]Dispute{{File: id, Place: "a", Shown: "a", Kinds: Several}})
	_, compactErr := b.Compact([]uint32{0}, 2, nil)
	none := func(_, _ *Entry) error { return nil }
	for _, err := range []error{
		getErr, underErr, byFileErr, vacatedErr, vacateErr, unvacateErr, disputesErr, disputeErr, compactErr, tree.Check(),
		tree.Walk("a", func(*Entry) error { return nil }),
		tree.Tombstones(func(Tombstone) error { return nil }),
		Diff(known, tree, none), Diff(tree, known, none),
		DiffVacated(known, tree, func(string, []uint32) error { return nil }),
	} {
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	}
	// An edit may also be refused because the two halves of the tree do not agree.
	_, _ = tree.Edit([]Edit{{Path: "a", Delete: true}, {Path: "a/b", Entry: Entry{Size: 3}}})
}
