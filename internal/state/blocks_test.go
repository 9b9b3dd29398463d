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
	"sync"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

func open(t testing.TB, fsys vfs.FS, h Hint) *Blocks {
	t.Helper()
	b, err := OpenBlocks(fsys, "trees", h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func flush(t testing.TB, b *Blocks) Hint {
	t.Helper()
	h, err := b.Flush()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestBlocksAcrossProcesses(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	fsys := vfs.NewMem()
	h := Hint{Generation: 7}
	want := map[Ref][]byte{}
	for round := range 20 {
		b := open(t, fsys, h)
		for range 10 {
			payload := make([]byte, r.Intn(5000))
			r.Read(payload)
			ref, err := b.PutWeave(0, payload)
			if err != nil {
				t.Fatal(err)
			}
			want[ref] = payload
			if r.Intn(4) == 0 {
				h = flush(t, b)
			}
		}
		h = flush(t, b)
		if again := flush(t, b); again != h || h.Size != b.Size() {
			t.Fatalf("a second flush says %+v, the first %+v", again, h)
		}
		for ref, payload := range want {
			if _, got, err := b.GetWeave(ref); err != nil || !bytes.Equal(got, payload) {
				t.Fatalf("round %d, block %d: %v", round, ref.offset(), err)
			}
		}
		if round%3 == 0 { // a writer that is never published, a reader that puts and never flushes
			lost := open(t, fsys, h)
			if _, err := lost.PutWeave(0, make([]byte, 3000)); err != nil {
				t.Fatal(err)
			}
			if round%2 == 0 {
				flush(t, lost)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if fsys.Handles() != 0 {
		t.Fatalf("%d files are left open", fsys.Handles())
	}
	if got, err := Generations(fsys, "trees"); err != nil || !slices.Equal(got, []uint64{7}) {
		t.Fatalf("generations %v, %v", got, err)
	}
	if err := RemoveGeneration(fsys, "trees", 7); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBlocks(fsys, "trees", h); !errors.Is(err, ErrDamaged) {
		t.Fatalf("a missing file: %v", err)
	}
}

func TestBlocksAreMappedAnewWhenMuchWasFlushed(t *testing.T) {
	b := newBlocks(t)
	var refs []Ref
	for i := range 40 {
		payload := bytes.Repeat([]byte{byte(i)}, 1<<20)
		ref, err := b.PutWeave(0, payload)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
		flush(t, b)
	}
	if len(b.maps) < 2 || len(b.tail) > 2*remapMin {
		t.Fatalf("%d mappings, %d bytes in memory", len(b.maps), len(b.tail))
	}
	for i, ref := range refs {
		if _, got, err := b.GetWeave(ref); err != nil || len(got) != 1<<20 || got[1000] != byte(i) {
			t.Fatalf("weave %d: %v", i, err)
		}
	}
}

func TestWeavesHaveABound(t *testing.T) {
	b := newBlocks(t)
	if _, err := b.PutWeave(0, make([]byte, maxBlock)); err == nil {
		t.Fatal("a weave over the bound is stored")
	}
}

func TestRoots(t *testing.T) {
	fsys := vfs.NewMem()
	r := rand.New(rand.NewSource(2))
	h := Hint{Generation: 1}
	var order []uint32
	want := map[uint32]StateRoot{}
	for range 30 {
		b := open(t, fsys, h)
		for range 1 + r.Intn(3) {
			s := StateRoot{State: uint32(r.Intn(20)), Manual: r.Intn(2) == 0, Root: Root{Count: r.Uint64(), Bytes: r.Uint64()}}
			b.PutRoot(s)
			order = slices.DeleteFunc(order, func(have uint32) bool { return have == s.State })
			order, want[s.State] = append(order, s.State), s
		}
		latest := order[len(order)-1]
		if got, ok, err := b.Root(latest); !ok || err != nil || got != want[latest] || len(b.chain.order) != 1 {
			t.Fatalf("the latest: %+v, %v, %v after reading %d", got, ok, err, len(b.chain.order))
		}
		for state := range uint32(20) {
			got, ok, err := b.Root(state)
			if s, stored := want[state]; ok != stored || err != nil || got != s {
				t.Fatalf("state %d: %+v, %v, %v; want %+v", state, got, ok, err, s)
			}
		}
		all, err := b.Roots()
		if err != nil || len(all) != len(order) {
			t.Fatalf("%d roots, want %d: %v", len(all), len(order), err)
		}
		for i, s := range all {
			if s.State != order[len(order)-1-i] {
				t.Fatalf("root %d is of state %d, want %d", i, s.State, order[len(order)-1-i])
			}
		}
		h = flush(t, b)
	}
}

// writeTrees makes a small history of trees and flushes it; models has what each state must be.
func writeTrees(t *testing.T, b *Blocks, w *world, m *model, states *[]*model, n int) {
	t.Helper()
	tree := b.Tree(Root{})
	if k := len(*states); k > 0 {
		if s, ok, err := b.Root(uint32(k - 1)); !ok || err != nil {
			t.Fatal(ok, err)
		} else {
			tree = b.Tree(s.Root)
		}
	}
	for range n {
		edits := w.batch(m, 30)
		for i := range edits {
			if e := &edits[i]; !e.Delete && w.r.Intn(3) == 0 {
				old := m.entries[e.Path].Weave
				ref, err := b.PutWeave(old, []byte(e.Path))
				if err != nil {
					t.Fatal(err)
				}
				e.Entry.Weave = ref
			}
		}
		tree = mustEdit(t, tree, edits)
		m.apply(edits)
		b.PutRoot(StateRoot{State: uint32(len(*states)), Root: tree.Root()})
		*states = append(*states, m.clone())
	}
}

func TestCompactKeepsAllThatIsNamed(t *testing.T) {
	for seed := range int64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &world{r: rand.New(rand.NewSource(seed)), long: seed == 0}
			fsys := vfs.NewMem()
			b := open(t, fsys, Hint{Generation: 1})
			var states []*model
			writeTrees(t, b, w, newModel(), &states, 20)
			flush(t, b)
			if seed == 0 && !b.ShouldCompact() {
				t.Errorf("%d bytes with none known to be in use need no compaction", b.Size())
			}
			keep := []uint32{19, 3, 11, 3, 400}
			to, err := b.Compact(keep, 2)
			if err != nil {
				t.Fatal(err)
			}
			h := flush(t, to)
			if to.ShouldCompact() || to.Size() >= b.Size() || h.Live != h.Size {
				t.Errorf("%d bytes became %d, of which %d are live", b.Size(), to.Size(), h.Live)
			}
			again := open(t, fsys, h)
			all, err := again.Roots()
			if err != nil || len(all) != 3 || all[0].State != 19 || all[1].State != 11 || all[2].State != 3 {
				t.Fatalf("roots %+v, %v", all, err)
			}
			for _, s := range all {
				sameButRefs(t, w.r, b, again.Tree(s.Root), states[s.State])
			}
			// A second one finds nothing to leave out.
			third, err := again.Compact([]uint32{3, 11, 19}, 3)
			if err != nil || third.Size() != again.Size() {
				t.Fatalf("%d bytes became %d: %v", again.Size(), third.Size(), err)
			}
			if _, err := again.Compact(nil, 2); err == nil {
				t.Error("a generation is compacted into itself")
			}
		})
	}
}

// sameButRefs compares a compacted tree with a model whose refs are those of the blocks it came from.
func sameButRefs(t *testing.T, r *rand.Rand, from *Blocks, tree Tree, m *model) {
	t.Helper()
	m = m.clone()
	err := tree.Walk("", func(e *Entry) error {
		want := m.entries[e.Path]
		if got, was := weaveOf(t, tree.b, e.Weave), weaveOf(t, from, want.Weave); !slices.Equal(got, was) {
			return fmt.Errorf("the weave of %q is %q, was %q", e.Path, got, was)
		}
		want.Weave = e.Weave
		m.entries[e.Path] = want
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sameTree(t, r, tree, m)
}

func weaveOf(t *testing.T, b *Blocks, ref Ref) (chain []string) {
	for ref != 0 {
		prev, payload, err := b.GetWeave(ref)
		if err != nil {
			t.Fatal(err)
		}
		chain, ref = append(chain, string(payload)), prev
	}
	return chain
}

// TestPowerCut writes some generations of trees with writers that give up in between, cuts the power, and asks all
// that was published. Nothing is ever synced, so much may be lost, but nothing may be wrong.
func TestPowerCut(t *testing.T) {
	whole, lost := 0, 0
	for seed := range uint64(150) {
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

func TestFlushThatFailsCanBeTriedAgain(t *testing.T) {
	for n := 1; ; n++ {
		mem := vfs.NewMem()
		fsys := vfs.Inject(mem, n, errors.New("no room"), vfs.FaultShort)
		b := open(t, fsys, Hint{Generation: 1})
		w := &world{r: rand.New(rand.NewSource(1))}
		var states []*model
		writeTrees(t, b, w, newModel(), &states, 3)
		_, err := b.Flush()
		if (err != nil) != fsys.Fired() {
			t.Fatalf("call %d: %v", n, err)
		}
		h := flush(t, b)
		again := open(t, mem, h)
		if s, ok, err := again.Root(2); !ok || err != nil {
			t.Fatal(ok, err)
		} else {
			sameTree(t, w.r, again.Tree(s.Root), states[2])
		}
		if !fsys.Fired() {
			break
		}
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
	for range 300 {
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
			if path, alive, _, err := tree.ByFile(want.File); keep(err) && (path != p || !alive) {
				return fmt.Errorf("a wrong file at %q", p)
			}
		}
		to, err := b.Compact([]uint32{uint32(state)}, 2)
		if keep(err) {
			keep(to.Close())
		}
		_, err = tree.Edit([]Edit{{Path: "new", Entry: Entry{Size: 1}}})
		if err != nil && !strings.Contains(err.Error(), "stands at") {
			keep(err)
		}
	}
	return first
}

func TestHint(t *testing.T) {
	h := Hint{Generation: 3, Size: 1 << 40, Roots: 1<<63 | 77, Live: 9}
	data := h.Encode()
	if got, err := DecodeHint(data); err != nil || got != h {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 4
		if _, err := DecodeHint(bad); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, err := DecodeHint(data[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
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

func TestGetsBesidePuts(t *testing.T) {
	b := newBlocks(t)
	first, err := b.PutWeave(0, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 200 {
				ref, err := b.PutWeave(first, bytes.Repeat([]byte{byte(i)}, 100))
				if err != nil {
					t.Error(err)
				}
				for _, ref := range []Ref{first, ref} {
					if _, payload, err := b.GetWeave(ref); err != nil || ref != first && payload[99] != byte(i) {
						t.Errorf("%q, %v", payload, err)
					}
				}
			}
		})
	}
	wg.Wait()
}
