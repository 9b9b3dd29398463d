package state

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// TestPowerCut writes some generations of trees with writers that give up in between, cuts the power, and asks all
// that was published. Nothing is ever synced, so much may be lost, but nothing may be wrong.
func TestPowerCut(t *testing.T) {
	whole, lost := 0, 0
	for seed := range uint64(80) {
		w := &world{r: rand.New(rand.NewSource(int64(seed)))}
		fsys := vfs.NewMem()
		var states []*model
		m := newModel()
		hints := []Hint{{Generation: 1}}
		for range 4 {
			if w.r.Intn(2) == 0 { // this one writes and dies
				mine := slices.Clone(states)
				b := open(t, fsys, hints[len(hints)-1])
				writeTrees(t, b, w, m.clone(), &mine, 2)
				flush(t, b)
			}
			b := open(t, fsys, hints[len(hints)-1])
			writeTrees(t, b, w, m, &states, 2)
			hints = append(hints, flush(t, b))
		}
		after := fsys.Crash(randv2.New(randv2.NewPCG(seed, 1)))
		for _, h := range hints[1:] {
			b, err := OpenBlocks(after, "trees", h)
			for state := 0; err == nil && state < len(states); state++ {
				var s StateRoot
				var ok bool
				if s, ok, err = b.Root(uint32(state)); err != nil || !ok {
					continue
				}
				tree := b.Tree(s.Root)
				if err = tree.Check(); err == nil {
					sameTree(t, w.r, tree, states[state])
					whole++
				}
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			} else if err != nil {
				lost++
			}
		}
	}
	if whole == 0 || lost == 0 {
		t.Fatalf("%d trees whole, %d files damaged: this proves nothing", whole, lost)
	}
}

// TestDamagedBytes changes bytes of a file: whoever asks gets the right answer or ErrDamaged.
func TestDamagedBytes(t *testing.T) {
	w := &world{r: rand.New(rand.NewSource(4))}
	fsys := vfs.NewMem()
	b := open(t, fsys, Hint{Generation: 1})
	var states []*model
	writeTrees(t, b, w, newModel(), &states, 12)
	h := flush(t, b)
	name := treeFile("trees", 1)
	whole, err := fsys.ReadFile(name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for range 120 {
		bad := bytes.Clone(whole)
		for range 1 + w.r.Intn(3) {
			at := w.r.Intn(len(bad))
			switch w.r.Intn(3) {
			case 0:
				bad[at] ^= 1 << w.r.Intn(8)
			case 1:
				clear(bad[at:min(len(bad), at+w.r.Intn(5000))])
			default:
				copy(bad[at:], whole[w.r.Intn(len(whole)):])
			}
		}
		if w.r.Intn(10) == 0 {
			bad = bad[:w.r.Intn(len(bad))]
		}
		if err := vfs.WriteFileAtomic(fsys, name, bad, false); err != nil {
			t.Fatal(err)
		}
		if err := askAll(fsys, h, states); errors.Is(err, ErrDamaged) {
			found++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Fatal("no damage was found")
	}
}

// askAll asks for everything and returns an error that is not ErrDamaged where an answer is wrong.
func askAll(fsys vfs.FS, h Hint, states []*model) error {
	b, err := OpenBlocks(fsys, "trees", h)
	if err != nil {
		return err
	}
	var first error
	keep := func(err error) bool {
		if err != nil && (first == nil || !errors.Is(err, ErrDamaged)) {
			first = err
		}
		return err == nil
	}
	for state, m := range states {
		s, ok, err := b.Root(uint32(state))
		if !keep(err) || !ok {
			continue
		}
		tree := b.Tree(s.Root)
		keep(tree.Walk("", func(e *Entry) error {
			if *e != m.entries[e.Path] {
				return fmt.Errorf("walk: a wrong %q", e.Path)
			}
			return nil
		}))
		for p, want := range m.entries {
			if got, found, err := tree.Get(p); keep(err) && (!found || got != want) {
				return fmt.Errorf("a wrong %q", p)
			}
			if at, _, err := tree.ByFile(want.File); keep(err) && (at.Path != p || !at.Shown()) {
				return fmt.Errorf("a wrong file at %q", p)
			}
		}
		if err := askRest(b, s, m, keep); err != nil {
			return err
		}
		paths := m.vacatedPaths()
		for _, p := range paths[:min(20, len(paths))] {
			if got, err := vacatedSet(tree, p); keep(err) && !slices.Equal(got, m.around(p)) {
				return fmt.Errorf("%q is vacated by %d", p, got)
			}
		}
		to, err := b.Compact([]uint32{uint32(state)}, 2, nil)
		if keep(err) {
			keep(to.Close())
		}
		_, err = tree.Edit([]Edit{{Path: "new", Entry: Entry{Size: 1}}})
		if err != nil && !strings.Contains(err.Error(), "stands at") {
			keep(err)
		}
		_, err = tree.Vacate([]Vacated{{"new", 1}})
		keep(err)
		_, err = tree.Unvacate([]Vacated{{"new", 1}})
		keep(err)
		_, err = tree.WithDisputes(nil)
		keep(err)
		keep(DiffVacated(b.Tree(Root{}), tree, func(path string, by []uint32) error {
			if !slices.Equal(by, m.vacated[path]) {
				return fmt.Errorf("%q is vacated by %d", path, by)
			}
			return nil
		}))
	}
	return first
}

// askRest asks for what is no entry and no vacated path. keep reports whether an error is none.
func askRest(b *Blocks, s StateRoot, m *model, keep func(error) bool) error {
	tree := b.Tree(s.Root)
	keep(tree.Tombstones(func(s Tombstone) error {
		if want := m.files[s.File]; want.status != fileGone || want.tombstone() != s {
			return fmt.Errorf("a wrong tombstone of file %v", s.File)
		}
		return nil
	}))
	if got, err := tree.Disputes(); keep(err) && !cmp.Equal(got, m.disputes) {
		return errors.New("wrong disputes")
	}
	if s.Set != 0 {
		if got, err := b.Set(s.Set); keep(err) && !got.Equal(m.set) {
			return fmt.Errorf("a wrong set %v", got)
		}
	}
	for p, e := range m.entries {
		if got, err := b.Acts(e.Acts); keep(err) && !slices.Equal(got, m.acts[e.Acts]) {
			return fmt.Errorf("wrong acts %v of %q", got, p)
		}
	}
	keep(b.Check(s))
	return nil
}

func TestOpenRefusesForeignFiles(t *testing.T) {
	fsys := vfs.NewMem()
	b := open(t, fsys, Hint{Generation: 1})
	if _, err := b.PutWeave(0, []byte("a weave")); err != nil {
		t.Fatal(err)
	}
	h := flush(t, b)
	for name, bad := range map[string]Hint{
		"another generation": {Generation: 2, Size: h.Size},
		"too long":           {Generation: 1, Size: h.Size + 1},
		"too short":          {Generation: 1, Size: 3},
		"far too long":       {Generation: 1, Size: 1 << 63},
	} {
		if err := fsys.MkdirAll("trees", 0o777); err != nil {
			t.Fatal(err)
		}
		if bad.Generation == 2 {
			data, err := fsys.ReadFile(treeFile("trees", 1), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			f, err := fsys.OpenFile(treeFile("trees", 2), os.O_CREATE|os.O_WRONLY, 0o666)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(data); err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
		}
		if _, err := OpenBlocks(fsys, "trees", bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFlushFindsOutThatTheFileShrank(t *testing.T) {
	fsys := vfs.NewMem()
	b := open(t, fsys, Hint{Generation: 1})
	for range 2 {
		if _, err := b.PutWeave(0, []byte("a weave")); err != nil {
			t.Fatal(err)
		}
		if fsys.Remove(treeFile("trees", 1)) != nil { // not there the first time
			flush(t, b)
		}
	}
	if _, err := b.Flush(); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}

// TestLeftoversDeceiveNobody is a power failure in which the bytes of a writer that was never published come back in
// the place of those of a later one, with a right checksum.
func TestLeftoversDeceiveNobody(t *testing.T) {
	fsys := vfs.NewMem()
	start := flush(t, open(t, fsys, Hint{Generation: 1}))
	write := func(text string) (Ref, Hint, []byte) {
		b := open(t, fsys, start)
		ref, err := b.PutWeave(0, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		h := flush(t, b)
		data, err := fsys.ReadFile(treeFile("trees", 1), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return ref, h, data
	}
	_, _, leftover := write("nobody refers to this")
	ref, h, _ := write("but this is published")
	if err := vfs.WriteFileAtomic(fsys, treeFile("trees", 1), leftover, false); err != nil {
		t.Fatal(err)
	}
	if _, got, err := open(t, fsys, h).GetWeave(ref); !errors.Is(err, ErrDamaged) {
		t.Fatalf("%q, %v", got, err)
	}
}
