package state

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

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
			to, err := b.Compact(keep, 2, nil)
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
				sameSet(t, again, s, states[s.State])
			}
			// A second one finds nothing to leave out.
			third, err := again.Compact([]uint32{3, 11, 19}, 3, nil)
			if err != nil || third.Size() != again.Size() {
				t.Fatalf("%d bytes became %d: %v", again.Size(), third.Size(), err)
			}
			if _, err := again.Compact(nil, 2, nil); err == nil {
				t.Error("a generation is compacted into itself")
			}
		})
	}
}

// sameButRefs compares a compacted tree with a model whose refs are those of the blocks it came from.
func sameButRefs(t *testing.T, r *rand.Rand, from *Blocks, tree Tree, m *model) {
	t.Helper()
	m = m.clone()
	same := func(path string, weave, acts Ref, was, did *Ref) {
		if got, want := weaveOf(t, tree.b, weave), weaveOf(t, from, *was); !slices.Equal(got, want) {
			t.Fatalf("the weave of %q is %q, was %q", path, got, want)
		}
		if got, want := actsOf(t, tree.b, acts), actsOf(t, from, *did); !slices.Equal(got, want) {
			t.Fatalf("the acts of %q are %v, were %v", path, got, want)
		}
		*was, *did = weave, acts
	}
	err := tree.Walk("", func(e *Entry) error {
		want := m.entries[e.Path]
		same(e.Path, e.Weave, e.Acts, &want.Weave, &want.Acts)
		m.entries[e.Path] = want
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = tree.Tombstones(func(s Tombstone) error {
		want := m.files[s.File]
		same(s.Path, s.Weave, s.Acts, &want.weave, &want.acts)
		m.files[s.File] = want
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	disputes, err := tree.Disputes()
	if err != nil || len(disputes) != len(m.disputes) {
		t.Fatalf("%d disputes were %d: %v", len(disputes), len(m.disputes), err)
	}
	for i, d := range disputes {
		if d.Hidden != nil {
			want := *m.disputes[i].Hidden
			same(d.Place, d.Hidden.Weave, d.Hidden.Acts, &want.Weave, &want.Acts)
			m.disputes[i].Hidden = &want
		}
	}
	sameTree(t, r, tree, m)
}

func actsOf(t *testing.T, b *Blocks, ref Ref) []Act {
	acts, err := b.Acts(ref)
	if err != nil {
		t.Fatal(err)
	}
	return acts
}

// sameSet checks the set beside a state, if it is kept.
func sameSet(t *testing.T, b *Blocks, r StateRoot, m *model) {
	t.Helper()
	if r.Set == 0 {
		return
	}
	if got, err := b.Set(r.Set); err != nil || !got.Equal(m.set) {
		t.Fatalf("the set of state %d is %v, want %v: %v", r.State, got, m.set, err)
	}
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
