package state

import (
	"bytes"
	"errors"
	"math/rand"
	"slices"
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
	if len(b.maps) < 2 || b.tail.size > 2*remapMin {
		t.Fatalf("%d mappings, %d bytes in memory", len(b.maps), b.tail.size)
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
		for pass := range 2 { // what was put once all was read counts too
			for range 1 + r.Intn(3) {
				s := StateRoot{State: uint32(r.Intn(20)), Manual: r.Intn(2) == 0, Root: Root{Count: r.Uint64(), Bytes: r.Uint64()}}
				s.Set, s.Root.Disputes = Ref(r.Intn(24)), Ref(r.Intn(24)) // before all blocks
				b.PutRoot(s)
				order = slices.DeleteFunc(order, func(have uint32) bool { return have == s.State })
				order, want[s.State] = append(order, s.State), s
			}
			latest := order[len(order)-1]
			if got, ok, err := b.Root(latest); !ok || err != nil || got != want[latest] || pass == 0 && len(b.chain.read) != 0 {
				t.Fatalf("the latest: %+v, %v, %v after reading %d", got, ok, err, len(b.chain.read))
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
		}
		h = flush(t, b)
	}
}

// writeTrees makes a small history of trees and flushes it; models has what each state must be.
func writeTrees(t *testing.T, b *Blocks, w *world, m *model, states *[]*model, n int) {
	t.Helper()
	w.hides, w.refs = true, func(path string, weave, acts Ref) (Ref, Ref) {
		var errs [2]error
		if w.r.Intn(3) == 0 {
			weave, errs[0] = b.PutWeave(weave, []byte(path))
		}
		if w.r.Intn(4) == 0 {
			more := []Act{{w.change, 3}, {w.r.Uint32(), 1<<32 - 1}}[:1+w.r.Intn(2)]
			before := m.acts[acts]
			acts, errs[1] = b.PutActs(acts, more)
			m.acts[acts] = slices.Concat(before, more)
		}
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		return weave, acts
	}
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
			e := &edits[i]
			old := m.entries[e.Path]
			if !e.Delete {
				e.Entry.Weave, e.Entry.Acts = w.refs(e.Path, old.Weave, old.Acts)
			} else if !e.Forget && e.Hide == "" {
				e.TombWeave, e.TombActs = w.refs(e.Path, old.Weave, old.Acts)
			}
		}
		tree = mustEdit(t, tree, edits)
		m.apply(edits)
		tree = w.unsettle(t, tree, m)
		list := w.vacate(m, 20)
		tree = mustVacate(t, tree, list)
		m.vacate(list)
		root := StateRoot{State: uint32(len(*states)), Root: tree.Root()}
		if m.set = NewSet(w.r.Uint32(), w.r.Uint32(), w.change); w.r.Intn(3) > 0 {
			ref, err := b.PutSet(m.set)
			if err != nil {
				t.Fatal(err)
			}
			root.Set = ref
		}
		b.PutRoot(root)
		*states = append(*states, m.clone())
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
