package state

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// specVectors reads the named hex strings of the specification's vector block.
func specVectors(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/spec/state.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no vector block")
	}
	vectors, name := map[string]string{}, ""
	for line := range strings.Lines(block) {
		if before, after, ok := strings.Cut(line, ":"); ok {
			name, line = before, after
		}
		vectors[name] += strings.Join(strings.Fields(line), "")
	}
	return vectors
}

func TestSpecVectors(t *testing.T) {
	vectors := specVectors(t)
	want := func(name string, got []byte) {
		t.Helper()
		if hex.EncodeToString(got) != vectors[name] {
			t.Errorf("%s is\n%x, the page says\n%s", name, got, vectors[name])
		}
	}
	fsys := vfs.NewMem()
	b := open(t, fsys, Hint{Generation: 1})
	weave, err := b.PutWeave(0, []byte("weave"))
	if err != nil {
		t.Fatal(err)
	}
	acts, err := b.PutActs(0, []Act{{7, 2}, {300, 0}})
	if err != nil {
		t.Fatal(err)
	}
	id := func(ord uint32) change.FileID { return change.FileID{Change: 0, Ord: ord} }
	file := func(ord uint32, size uint64) Entry {
		return Entry{File: id(ord), Size: size, Place: id(ord), Mode: id(ord), Body: id(ord)}
	}
	run, src, gone := file(0, 0), file(1, 300), file(2, 0)
	run.Exec = true
	src.Hash = change.Hash{1, 2, 3, 31: 32}
	src.Weave, src.Acts, src.Body = weave, acts, change.FileID{Change: 5}
	tree := mustEdit(t, b.Tree(Root{}), []Edit{{Path: "run", Entry: run}, {Path: "src/a.c", Entry: src}, {Path: "src/b.c", Entry: gone}})
	tree = mustEdit(t, tree, []Edit{{Path: "src/b.c", Delete: true, By: change.FileID{Change: 6, Ord: 1}, TombWeave: weave, TombActs: acts}})
	twin := Entry{Path: "run", File: change.FileID{Change: 8}, Kind: change.Link, Size: 9}
	twin.Place, twin.Mode, twin.Body = twin.File, twin.File, twin.File
	tree = mustEditFiles(t, tree, []FileEdit{{Tombstone: Tombstone{File: twin.File, Path: "run"}, Hide: true}})
	tree = mustDispute(t, tree, []Dispute{
		{File: id(0), Place: "run", Shown: "run", Kinds: DisputedName, Meets: []change.FileID{twin.File}},
		{File: id(1), Place: "src", Shown: "src/a.c", Kinds: DisputedPlace | DisputedText | DisputedName, Dir: true},
		{File: twin.File, Place: "run", Shown: "run", Kinds: DisputedName, Meets: []change.FileID{id(0)}, Hidden: &twin},
	})
	tree = mustVacate(t, tree, []Vacated{{"src", 3}, {"src/b.c", 6}, {"src/b.c", 300}})
	if err := tree.Check(); err != nil {
		t.Fatal(err)
	}
	set, err := b.PutSet(NewSet(0, 3, 4, 5, 300))
	if err != nil {
		t.Fatal(err)
	}
	b.PutRoot(StateRoot{State: 4, Root: tree.Root(), Set: set, Manual: true})
	h := flush(t, b)
	data, err := fsys.ReadFile(treeFile("trees", 1), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	want("file", data)
	want("hint", h.Encode())

	cells := []cell{{"", 99, 3, 4}, {"src/b", 7<<refOffsetBits | 300, 5, 1 << 40}}
	want("inner", pathLayout.innerFormat(1).encode(cells))

	var sum SetHash
	sum.Add(change.ID{1})
	one := sum.Bytes()
	want("set of 01 and 31 zeros", one[:])
	sum.Add(change.ID{2})
	two := sum.Bytes()
	want("and 02 and 31 zeros", two[:])
}
