package state

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxy-vcs/oxy/internal/change"
)

// away lists the files that do not stand anywhere.
func (m *model) away() (ids []change.FileID) {
	for id, f := range m.files {
		if f.status != fileShown {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareFiles)
	return ids
}

// pick takes a random element out of a slice.
func pick[T any](w *world, from *[]T) (x T, ok bool) {
	if len(*from) == 0 {
		return x, false
	}
	i := w.r.Intn(len(*from))
	x = (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	return x, true
}

// fileEdits makes up to n edits of files that stand nowhere, some of which nobody knew.
func (w *world) fileEdits(m *model, n int) (edits []FileEdit) {
	w.change++
	away := m.away()
	for i := range n {
		id, known := pick(w, &away)
		if !known || w.r.Intn(4) == 0 {
			id, known = change.FileID{Change: w.change, Ord: uint32(i)}, false
		}
		e := FileEdit{Tombstone: Tombstone{File: id, Path: w.path()}}
		switch what := w.r.Intn(4); {
		case what == 0 && known:
			e.Forget = true
		case what == 1:
			e.Hide = true
		default:
			e.By = w.id()
		}
		edits = append(edits, e)
	}
	return edits
}

// makeDisputes gives one for each hidden file and for some others.
func (w *world) makeDisputes(m *model) (list []Dispute) {
	paths := m.paths()
	var alive []change.FileID
	for _, id := range slices.SortedFunc(maps.Keys(m.files), compareFiles) {
		if m.files[id].status != fileGone {
			alive = append(alive, id)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(m.files), compareFiles) {
		f := m.files[id]
		d := Dispute{File: id, Place: f.path, Kinds: Disputed(w.r.Intn(int(disputedUnknown)))}
		if f.status != fileHidden {
			if w.r.Intn(20) > 0 {
				continue
			}
			if f.status == fileShown {
				d.Shown = f.path
			}
			if w.r.Intn(2) == 0 {
				d.Place = w.path()
			}
		} else {
			e := m.hidden[id]
			d.Hidden, d.Shown = &e, paths[w.r.Intn(len(paths))]
		}
		if d.Kinds&DisputedName != 0 {
			d.Dir = w.r.Intn(2) == 0
			for range w.r.Intn(4) {
				d.Meets = append(d.Meets, alive[w.r.Intn(max(1, len(alive)))])
			}
			d.Meets = slices.DeleteFunc(d.Meets, func(o change.FileID) bool { return o == id })
			slices.SortFunc(d.Meets, compareFiles)
			if d.Meets = slices.Compact(d.Meets); len(d.Meets) == 0 {
				d.Meets = nil
			}
		}
		list = append(list, d)
	}
	return list
}

// unsettle edits files that stand nowhere and puts a tree's disputes right: what is hidden is in them.
func (w *world) unsettle(t *testing.T, tree Tree, m *model) Tree {
	t.Helper()
	edits := w.fileEdits(m, w.r.Intn(4))
	if w.refs != nil {
		for i := range edits {
			if e := &edits[i]; !e.Hide && !e.Forget {
				e.Weave, e.Acts = w.refs(e.Path, 0, 0)
			}
		}
	}
	tree = mustEditFiles(t, tree, edits)
	m.applyFiles(edits)
	if len(m.entries) == 0 { // nothing is shown in a hidden one's stead
		edits = nil
		for id := range m.hidden {
			edits = append(edits, FileEdit{Tombstone: Tombstone{File: id}, Forget: true})
		}
		tree = mustEditFiles(t, tree, edits)
		m.applyFiles(edits)
	}
	m.disputes = w.makeDisputes(m)
	return mustDispute(t, tree, m.disputes)
}

func mustEditFiles(t testing.TB, tree Tree, edits []FileEdit) Tree {
	t.Helper()
	tree, err := tree.EditFiles(edits)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func mustDispute(t testing.TB, tree Tree, list []Dispute) Tree {
	t.Helper()
	tree, err := tree.WithDisputes(list)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func sameDisputes(t *testing.T, tree Tree, m *model) {
	t.Helper()
	got, err := tree.Disputes()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m.disputes, got); d != "" {
		t.Fatalf("disputes (-wanted +got): %s", d)
	}
	if len(m.disputes) == 0 && tree.root.Disputes != 0 {
		t.Fatal("no disputes cost a block")
	}
	size := tree.b.Size()
	same, err := tree.WithDisputes(got)
	if err != nil || same.Root() != tree.Root() || tree.b.Size() != size {
		t.Fatalf("the same disputes are written anew: %v", err)
	}
}

// TestEveryTransition brings a file from each of what may become of it to each other.
func TestEveryTransition(t *testing.T) {
	b := newBlocks(t)
	entry := func(n uint32) Entry {
		id := change.FileID{Change: n}
		return Entry{File: id, Place: id, Mode: id, Body: id}
	}
	file := change.FileID{Change: 1}
	keep := Edit{Path: "keep", Entry: entry(2)}
	edit := func(t *testing.T, tree Tree, e Edit) Tree { return mustEdit(t, tree, []Edit{e}) }
	files := func(t *testing.T, tree Tree, e FileEdit) Tree { return mustEditFiles(t, tree, []FileEdit{e}) }
	stone := Tombstone{File: file, Path: "p", By: change.FileID{Change: 3, Ord: 4}}
	weave, err := b.PutWeave(0, []byte("w"))
	if err != nil {
		t.Fatal(err)
	}
	acts, err := b.PutActs(0, []Act{{5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	stone.Weave, stone.Acts = weave, acts
	left := Edit{Path: "p", Delete: true, By: stone.By, TombWeave: weave, TombActs: acts}
	hide := Edit{Path: "p", Delete: true, Hide: "h"}
	show := Edit{Path: "p", Entry: entry(1)}
	is := map[string]Whereabouts{
		"shown": {Path: "p", Alive: true}, "hidden": {Path: "h", Alive: true, Hidden: true}, "gone": {Path: "p"}, "unknown": {},
	}
	start := mustEdit(t, b.Tree(Root{}), []Edit{keep})
	from := map[string]Tree{
		"unknown": start, "shown": edit(t, start, show),
		"hidden": files(t, start, FileEdit{Tombstone: Tombstone{File: file, Path: "h"}, Hide: true}),
		"gone":   files(t, start, FileEdit{Tombstone: stone}),
	}
	for was, tree := range from {
		for becomes, want := range is {
			t.Run(was+" "+becomes, func(t *testing.T) {
				next := tree
				switch {
				case becomes == "shown":
					next = edit(t, tree, show)
				case was == "shown" && becomes == "hidden":
					next = edit(t, tree, hide)
				case was == "shown" && becomes == "gone":
					next = edit(t, tree, left)
				case was == "shown":
					next = edit(t, tree, Edit{Path: "p", Delete: true, Forget: true})
				case becomes == "hidden":
					next = files(t, tree, FileEdit{Tombstone: Tombstone{File: file, Path: "h"}, Hide: true})
				case becomes == "gone":
					next = files(t, tree, FileEdit{Tombstone: stone})
				case was != "unknown":
					next = files(t, tree, FileEdit{Tombstone: Tombstone{File: file}, Forget: true})
				}
				if becomes == "hidden" {
					if err := next.Check(); err == nil {
						t.Error("a hidden file of which the disputes know nothing")
					}
					e := entry(1)
					e.Path = "h"
					next = mustDispute(t, next, []Dispute{{File: file, Place: "h", Shown: "keep", Hidden: &e}})
				}
				if err := next.Check(); err != nil {
					t.Fatal(err)
				}
				got, ok, err := next.ByFile(file)
				if err != nil || got != want || ok != (becomes != "unknown") {
					t.Fatalf("%+v, %v, %v; want %+v", got, ok, err, want)
				}
				got2, gone, err := next.Tombstone(file)
				if err != nil || gone != (becomes == "gone") || gone && got2 != stone {
					t.Fatalf("tombstone %+v, %v, %v", got2, gone, err)
				}
			})
		}
	}
}
