package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Views of all sizes, told in full, as differences and in contents of their own, stay what they were when ops before them
// and states between them go.
func TestDropOpsWithLongViews(t *testing.T) {
	for _, names := range []int{3, 300, 6000} {
		mem := vfs.NewMem()
		must(t, mem.MkdirAll("/r", 0o777))
		must(t, Create(mem, "/r"))
		s, err := Open(mem, "/r")
		must(t, err)
		rnd := rand.New(rand.NewPCG(uint64(names), 1))
		view := NewView()
		for i := range 40 {
			tx, err := s.Begin(nil)
			must(t, err)
			var made []uint32
			for k := range 3 {
				id := change.ID(hashOf(fmt.Append(nil, i, k)))
				text := fmt.Append(nil, "content ", i, k)
				must(t, tx.Packer().Put(hashOf(text), text))
				n, err := tx.PutChange(Record{ID: id, Meta: []byte("meta")}, nil, int64(i))
				must(t, err)
				st, err := tx.PutState(State{Parent: -1, Changes: []uint32{n}, Pos: 1, ID: id})
				must(t, err)
				made = append(made, st)
			}
			view = view.Clone()
			if i == 0 {
				for n := range names {
					view.Tags[fmt.Sprint("tag ", n)] = made[0]
				}
			}
			for range 5 {
				view.Tags[fmt.Sprint("tag ", rnd.IntN(names))] = made[rnd.IntN(2)]
			}
			view.Base = int64(made[0])
			_, err = tx.Commit(Op{Time: int64(i), View: view}, nil)
			must(t, err)
		}
		must(t, s.Close())
		for range 3 {
			s, err = Open(mem, "/r")
			must(t, err)
			first := s.NumOps() / 3
			type told struct {
				tags map[string][32]byte
				base [32]byte
				time int64
			}
			look := func(s *Store, n uint32) told {
				v, err := s.OpView(n)
				must(t, err)
				op, err := s.Op(n)
				must(t, err)
				out := told{tags: map[string][32]byte{}, time: op.Time}
				for name, n := range v.Tags {
					st, err := s.State(n)
					must(t, err)
					if st.ID != [32]byte(s.ChangeID(st.Changes[0])) {
						t.Fatalf("state %d has another change", n)
					}
					out.tags[name] = st.ID
				}
				st, err := s.State(uint32(v.Base))
				must(t, err)
				out.base = st.ID
				return out
			}
			k := &Keep{FirstOp: first, States: make([]bool, s.NumStates()), Changes: make([]bool, s.NumChanges()), Blobs: make([]bool, s.NumBlobs()),
				View: func(uint32, *View, func(uint32) (uint32, error)) error { return nil }}
			var want []told
			for n := first; n < s.NumOps(); n++ {
				v, err := s.OpView(n)
				must(t, err)
				for _, st := range v.Tags {
					k.States[st] = true
				}
				k.States[v.Base] = true
				want = append(want, look(s, n))
			}
			for n, kept := range k.States {
				st, err := s.State(uint32(n))
				must(t, err)
				k.Changes[st.Changes[0]] = kept
			}
			stats, err := s.Repack(context.Background(), RepackOptions{Keep: func() (*Keep, error) { return k, nil }})
			must(t, err)
			if !stats.Dropped || s.NumOps() != uint32(len(want)) {
				t.Fatalf("%+v, %d ops", stats, s.NumOps())
			}
			fresh, err := Open(mem, "/r")
			must(t, err)
			must(t, mem.RemoveAll(filepath.Join("/r", "index")))
			bare, err := Open(mem, "/r")
			must(t, err)
			for _, s := range []*Store{s, fresh, bare} {
				for n, w := range want {
					if got := look(s, uint32(n)); !maps.Equal(got.tags, w.tags) || got.base != w.base || got.time != w.time {
						t.Fatalf("%d names: operation %d is another one", names, n)
					}
				}
				must(t, s.Close())
			}
			s, err = Open(mem, "/r")
			must(t, err)
			must(t, s.Rederive(nil, func() ([]byte, error) { return nil, nil }))
			_, err = s.Audit(context.Background(), AuditOptions{Progress: func(int64) {}, BadBlob: func(h change.Hash) { t.Errorf("bad %s", h) },
				Fault: func(f Fault) { t.Errorf("%+v", f) }})
			must(t, err)
			must(t, s.Close())
		}
	}
}

// What stays and needs what goes is refused, and nothing happens.
func TestDropRefuses(t *testing.T) {
	mem := vfs.NewMem()
	must(t, mem.MkdirAll("/r", 0o777))
	must(t, Create(mem, "/r"))
	s, err := Open(mem, "/r")
	must(t, err)
	tx, err := s.Begin(nil)
	must(t, err)
	a, err := tx.PutChange(Record{ID: change.ID{1}}, nil, 0)
	must(t, err)
	b, err := tx.PutChange(Record{ID: change.ID{2}}, []uint32{a}, 0)
	must(t, err)
	first, err := tx.PutState(State{Parent: -1, Changes: []uint32{a}, Pos: 1})
	must(t, err)
	_, err = tx.PutState(State{Parent: int64(first), Changes: []uint32{b}, Pos: 2})
	must(t, err)
	v := NewView()
	v.Base = 1
	_, err = tx.Commit(Op{View: v}, nil)
	must(t, err)
	files, err := mem.ReadDir("/r/log")
	must(t, err)
	for i := range 5 {
		k := &Keep{States: []bool{true, true}, Changes: []bool{true, true}, View: func(uint32, *View, func(uint32) (uint32, error)) error { return nil }}
		switch i {
		case 0:
			k.Changes[0] = false
		case 1:
			k.Changes[1] = false
		case 2:
			k.States[0] = false
		case 3:
			k.States[1] = false
		case 4:
			k.FirstOp = 1
		}
		if stats, err := s.Repack(context.Background(), RepackOptions{Keep: func() (*Keep, error) { return k, nil }}); err == nil || stats.Packed {
			t.Errorf("%d: %+v, %v", i, stats, err)
		}
	}
	if now, err := mem.ReadDir("/r/log"); err != nil || !slices.Equal(now, files) {
		t.Errorf("%v, %v", now, err)
	}
	if s.NumChanges() != 2 || s.NumOps() != 1 {
		t.Error("something is gone")
	}
	must(t, s.Close())
}
