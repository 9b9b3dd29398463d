package store

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// model is what a store must hold after each of its operations, kept in the plainest way.
type model struct {
	blobs   map[change.Hash][]byte
	changes []modelChange
	states  []State
	ops     []Op
	at      []modelAt // after each op
}

type modelChange struct {
	rec  Record
	deps []uint32
	time int64
}

// modelAt is how much of a model there was after an op; blobs only by their number.
type modelAt struct{ blobs, changes, states int }

func newModel() *model { return &model{blobs: map[change.Hash][]byte{}} }

func (m *model) clone() *model {
	return &model{maps.Clone(m.blobs), slices.Clone(m.changes), slices.Clone(m.states), slices.Clone(m.ops), slices.Clone(m.at)}
}

// upTo returns the model as it was when it had n ops. Its blobs are not those of that time but may be more.
func (m *model) upTo(n int) *model {
	c := m.clone()
	c.ops, c.at = c.ops[:n], c.at[:n]
	c.changes, c.states = nil, nil
	if n > 0 {
		c.changes, c.states = m.changes[:m.at[n-1].changes], m.states[:m.at[n-1].states]
	}
	return c
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	words := []string{"static ", "int ", "return ", "\n", "\t", "if (x)", "0x1f", "/* why */"}
	random := rng.IntN(4) == 0 // does not compress
	for i := 0; i < n; {
		if random {
			b[i] = byte(rng.Uint32())
			i++
			continue
		}
		i += copy(b[i:], words[rng.IntN(len(words))])
	}
	return b
}

// shape bounds what one transaction of a model puts.
type shape struct {
	blobs, changes, states int
	sizes                  []int // of contents, to choose from
}

var small = shape{3, 3, 3, []int{0, 1, 40, 700}}
var mixed = shape{12, 5, 5, []int{0, 1, 300, 4095, 4096, 20_000, 140_000, 1<<20 + 1}}

// put fills a transaction at random and returns the model after it.
func (m *model) put(tx *Tx, rng *rand.Rand, sh shape) (*model, Op, error) {
	m = m.clone()
	p := tx.Packer()
	for range rng.IntN(sh.blobs + 1) {
		b := randomBytes(rng, sh.sizes[rng.IntN(len(sh.sizes))])
		m.blobs[hashOf(b)] = b
		if err := p.Put(hashOf(b), b); err != nil {
			return nil, Op{}, err
		}
	}
	for range rng.IntN(sh.changes + 1) {
		c := modelChange{time: rng.Int64() - rng.Int64()}
		for d := range m.changes {
			if rng.IntN(len(m.changes)) < 3 {
				c.deps = append(c.deps, uint32(d))
			}
		}
		for _, f := range c.rec.fields() {
			if *f = randomBytes(rng, sh.sizes[rng.IntN(len(sh.sizes))]); rng.IntN(2) == 0 {
				*f = []byte{}
			}
		}
		c.rec.ID = change.ID(hashOf(fmt.Append(nil, rng.Uint64())))
		if n, err := tx.PutChange(c.rec, c.deps, c.time); err != nil || int(n) != len(m.changes) {
			return nil, Op{}, fmt.Errorf("change %d got number %d: %w", len(m.changes), n, err)
		}
		m.changes = append(m.changes, c)
	}
	for range rng.IntN(sh.states + 1) {
		st := State{Parent: int64(rng.IntN(len(m.states)+1)) - 1, ID: hashOf(fmt.Append(nil, rng.Uint64())), Beside: rng.IntN(3) == 0}
		for c := range m.changes {
			if rng.IntN(2) == 0 {
				st.Changes = append(st.Changes, uint32(c))
			}
		}
		if rng.IntN(3) == 0 {
			rng.Shuffle(len(st.Changes), func(i, j int) { st.Changes[i], st.Changes[j] = st.Changes[j], st.Changes[i] })
		}
		if st.Parent >= 0 && rng.IntN(3) == 0 {
			for c := range m.changes {
				if rng.IntN(4) == 0 {
					st.Without = append(st.Without, uint32(c))
				}
			}
		}
		st.Pos = uint64(len(st.Changes)) + rng.Uint64N(1000)
		if n, err := tx.PutState(st); err != nil || int(n) != len(m.states) {
			return nil, Op{}, fmt.Errorf("state %d got number %d: %w", len(m.states), n, err)
		}
		m.states = append(m.states, st)
	}
	view := NewView()
	if len(m.ops) > 0 {
		view = m.ops[len(m.ops)-1].View.Clone()
	}
	alterView(view, rng, len(m.states))
	op := Op{N: uint32(len(m.ops)), Time: rng.Int64N(1 << 40), User: "ann@host", Command: []string{"record", "-m", fmt.Sprint(rng.Uint32())}, View: view}
	m.ops = append(m.ops, op)
	m.at = append(m.at, modelAt{len(m.blobs), len(m.changes), len(m.states)})
	return m, op, nil
}

// alterView changes a view a little.
func alterView(v *View, rng *rand.Rand, states int) {
	if states > 0 {
		names := []map[string]uint32{v.Bookmarks, v.Tags}
		for range rng.IntN(4) {
			names[rng.IntN(2)][fmt.Sprint("name", rng.IntN(50))] = uint32(rng.IntN(states))
		}
		v.Base = int64(rng.IntN(states+1)) - 1
		c := uint32(rng.IntN(states))
		if i, found := slices.BinarySearch(v.Checkpoints, c); !found {
			v.Checkpoints = slices.Insert(v.Checkpoints, i, c)
		} else {
			v.Checkpoints = slices.Delete(v.Checkpoints, i, i+1)
		}
	}
	delete(v.Bookmarks, fmt.Sprint("name", rng.IntN(50)))
	delete(v.Tags, fmt.Sprint("name", rng.IntN(50)))
	v.Current = []string{"", "main", "b2"}[rng.IntN(3)]
	k := fmt.Sprint("k", rng.IntN(3))
	if v.Kept[k] = randomBytes(rng, rng.IntN(30)); rng.IntN(3) == 0 {
		delete(v.Kept, k)
	}
}

// commit runs one random transaction.
func (m *model) commit(s *Store, rng *rand.Rand, sh shape) (*model, error) {
	tx, err := s.Begin(nil)
	if err != nil {
		return nil, err
	}
	next, op, err := m.put(tx, rng, sh)
	if err == nil {
		_, err = tx.Commit(op, func() ([]byte, error) { return fmt.Append(nil, "hint ", op.N), nil })
	}
	_ = tx.Abort()
	return next, err
}

// check returns how the store differs from the model, if it does.
func (m *model) check(s *Store) error {
	if int(s.NumChanges()) != len(m.changes) || int(s.NumStates()) != len(m.states) || int(s.NumOps()) != len(m.ops) {
		return fmt.Errorf("%d changes, %d states, %d ops instead of %d, %d, %d",
			s.NumChanges(), s.NumStates(), s.NumOps(), len(m.changes), len(m.states), len(m.ops))
	}
	for h, want := range m.blobs {
		got, err := s.Blob([]byte("before"), h)
		if err != nil || string(got) != "before"+string(want) {
			return fmt.Errorf("blob %s of %d bytes: %d bytes, %w", h, len(want), len(got), err)
		}
		var w bytes.Buffer
		if err := s.WriteBlob(&w, h); err != nil || !bytes.Equal(w.Bytes(), want) {
			return fmt.Errorf("blob %s written: %w", h, err)
		}
		if n, ok := s.BlobSize(h); !ok || n != int64(len(want)) {
			return fmt.Errorf("blob %s has size %d", h, n)
		}
	}
	for i, want := range m.changes {
		if err := want.check(s, uint32(i)); err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
	}
	for i, want := range m.states {
		got, err := s.State(uint32(i))
		if err != nil || got.Parent != want.Parent || got.Pos != want.Pos || got.ID != want.ID || !slices.Equal(got.Changes, want.Changes) ||
			!slices.Equal(got.Without, want.Without) || got.Beside != want.Beside {
			return fmt.Errorf("state %d is %v, not %v: %w", i, got, want, err)
		}
	}
	for i, want := range m.ops {
		got, err := s.Op(uint32(i))
		if err != nil || got.N != want.N || got.Time != want.Time || got.User != want.User || !slices.Equal(got.Command, want.Command) {
			return fmt.Errorf("op %d is %v, not %v: %w", i, got, want, err)
		}
		if v, err := s.OpView(uint32(i)); err != nil || !sameView(v, want.View) {
			return fmt.Errorf("view of op %d is %v, not %v: %w", i, v, want.View, err)
		}
	}
	v, err := s.View()
	if err == nil && len(m.ops) > 0 && !sameView(v, m.ops[len(m.ops)-1].View) {
		err = fmt.Errorf("the view is %v", v)
	}
	if _, ok := s.FindChange(change.ID{1, 2, 3}); ok {
		return fmt.Errorf("found what is not there")
	}
	return err
}

func (c *modelChange) check(s *Store, n uint32) error {
	if got, ok := s.FindChange(c.rec.ID); !ok || got != n {
		return fmt.Errorf("found as %d", got)
	}
	if got := s.FindPrefix(c.rec.ID.Short(), 5); len(got) != 1 || got[0] != n {
		return fmt.Errorf("prefix found %v", got)
	}
	if s.ChangeID(n) != c.rec.ID || s.ChangeTime(n) != c.time || !slices.Equal(s.Deps(n), c.deps) {
		return fmt.Errorf("it is %s, %d, %v", s.ChangeID(n), s.ChangeTime(n), s.Deps(n))
	}
	got, err := s.Change(n)
	if err != nil || got.ID != c.rec.ID {
		return fmt.Errorf("read as %s: %w", got.ID, err)
	}
	for i, f := range got.fields() {
		if !bytes.Equal(*f, *c.rec.fields()[i]) {
			return fmt.Errorf("field %d differs", i)
		}
	}
	if meta, err := s.Meta(n); err != nil || !bytes.Equal(meta, c.rec.Meta) {
		return fmt.Errorf("meta differs: %w", err)
	}
	return nil
}

func sameView(a, b *View) bool {
	kept := func(m map[string][]byte) map[string]string {
		out := map[string]string{}
		for k, v := range m {
			out[k] = string(v)
		}
		return out
	}
	return reflect.DeepEqual(a.Bookmarks, b.Bookmarks) && reflect.DeepEqual(a.Tags, b.Tags) && a.Current == b.Current &&
		a.Base == b.Base && slices.Equal(a.Checkpoints, b.Checkpoints) && reflect.DeepEqual(kept(a.Kept), kept(b.Kept))
}

const testDir = "/repo/.oxy"

// newMem returns a file system with an empty store.
func newMem(t testing.TB) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem()
	if err := mem.MkdirAll(filepath.Dir(testDir), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := mem.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	if err := Create(mem, testDir); err != nil {
		t.Fatal(err)
	}
	return mem
}

func open(t testing.TB, fsys vfs.FS) *Store {
	t.Helper()
	s, err := Open(fsys, testDir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
