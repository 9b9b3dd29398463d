package repo

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// fsck looks through what a file system holds, as a process of its own.
func fsck(t testing.TB, mem *vfs.Mem, quick bool) (*FsckResult, error) {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	if err != nil {
		return nil, err
	}
	res, err := r.Fsck(context.Background(), FsckOptions{Quick: quick})
	check(t, err)
	check(t, r.Close())
	if n := mem.Handles(); n != 0 {
		t.Errorf("%d files stay open", n)
	}
	return res, nil
}

func fine(t testing.TB, mem *vfs.Mem) *FsckResult {
	t.Helper()
	for _, quick := range []bool{true, false} {
		res, err := fsck(t, mem, quick)
		check(t, err)
		for _, p := range res.Problems {
			t.Errorf("quick %v: %+v", quick, p)
		}
		if !quick {
			return res
		}
	}
	return nil
}

func pack(t testing.TB, w *world) {
	t.Helper()
	w.with(t, func(r *Repo) error { _, err := r.GC(context.Background(), GCOptions{}); return err })
}

// What every command leaves is whole, also once it is packed, and also without what is derived.
func TestFsckFindsNothing(t *testing.T) {
	for i := range commands {
		c := &commands[i]
		t.Run(c.name, func(t *testing.T) {
			w := c.from(t)
			if c.prepare != nil {
				c.prepare(t, w)
			}
			check(t, c.attempt(w.mem))
			before := fine(t, w.mem)
			pack(t, w)
			after := fine(t, w.mem)
			if before.Changes != after.Changes || before.States != after.States || before.Ops != after.Ops || before.Contents != after.Contents {
				t.Errorf("%+v before packing, %+v after", before, after)
			}
			for _, gone := range []string{"head", "index", "trees"} {
				check(t, w.mem.RemoveAll(filepath.Join(memRoot, DirName, gone)))
				fine(t, w.mem)
			}
		})
	}
}

func TestFsckCounts(t *testing.T) {
	w := grown(t)
	res := fine(t, w.mem)
	if res.Changes != 16 || res.States != 16 || res.Trees != 1 || res.Files != 14 || res.Contents == 0 {
		t.Errorf("%+v", res)
	}
	w.with(t, func(r *Repo) error { return undo(context.Background(), r) })
	pack(t, w)
	put(t, w.mem, "a", "another\n")
	w.with(t, func(r *Repo) error { return commitAll(context.Background(), r) })
	if res := fine(t, w.mem); res.Changes != 17 {
		t.Errorf("%+v", res)
	}
}

// Another process packs the repository between opening and looking.
func TestFsckBesideGC(t *testing.T) {
	for _, quick := range []bool{true, false} {
		w := grown(t)
		r, err := Open(memRoot, memOptions(w.mem))
		check(t, err)
		pack(t, w)
		res, err := r.Fsck(context.Background(), FsckOptions{Quick: quick})
		check(t, err)
		if len(res.Problems) > 0 {
			t.Errorf("%+v", res.Problems)
		}
		check(t, r.Close())
	}
}

// turned is a copy in which bits of one byte of a file are turned.
func turned(t testing.TB, m *vfs.Mem, name string, off int64, bits byte) *vfs.Mem {
	t.Helper()
	mem := copyOf(m)
	alter(t, mem, name, func(f vfs.File) error {
		var b [1]byte
		if _, err := f.ReadAt(b[:], off); err != nil {
			return err
		}
		b[0] ^= bits
		_, err := f.WriteAt(b[:], off)
		return err
	})
	return mem
}

// Wherever a byte of the log is turned, it is found: by opening or by fsck, the quick one too.
func TestFsckFindsEveryTurnedByteOfTheLog(t *testing.T) {
	step := int64(11)
	if *thorough {
		step = 1
	}
	affected := map[string]bool{}
	for _, packed := range []bool{false, true} {
		w := settled(t)
		put(t, w.mem, "large", strings.Repeat("one and two\n", 1000)+lines(0, 900))
		w.commit(t, "large")
		if packed {
			pack(t, w)
			put(t, w.mem, "a", lines(3, 8))
			w.commit(t, "more")
		}
		files := map[string]int64{}
		filesIn(t, w.mem, filepath.Join(memRoot, DirName, "log"), files)
		opened := 0
		for name, size := range files {
			for off := int64(0); off < size; off += step {
				mem := turned(t, w.mem, name, off, 0x24)
				for _, quick := range []bool{true, false} {
					res, err := fsck(t, mem, quick)
					if err != nil {
						if !errors.Is(err, store.ErrDamaged) {
							t.Errorf("%s at %d: %v", name, off, err)
						}
						continue
					}
					opened++
					if len(res.Problems) == 0 || res.Problems[0].Derived || !strings.HasPrefix(res.Problems[0].File, "log/") && quick {
						t.Errorf("%s at %d, quick %v: %+v", name, off, quick, res.Problems)
					}
					for _, p := range res.Problems {
						for _, path := range p.Paths {
							affected[path] = true
						}
						if p.Change != (change.ID{}) && p.Names != nil && slices.Contains(p.Names.Bookmarks, "main") {
							affected["change on main"] = true
						}
						if p.Mend == "" {
							t.Errorf("nothing mends %+v", p)
						}
					}
				}
			}
		}
		if opened < 20 {
			t.Errorf("packed %v: only %d damaged logs could be opened", packed, opened)
		}
	}
	for _, want := range []string{"large", "d/bin", "change on main"} {
		if !affected[want] {
			t.Errorf("nothing is said of %s", want)
		}
	}
}

// Damage to what is derived is told as such; that of the indexes wherever it is.
func TestFsckTellsDerivedDamage(t *testing.T) {
	w := grown(t)
	pack(t, w)
	put(t, w.mem, "a", lines(3, 8))
	w.commit(t, "more")
	files := map[string]int64{}
	for _, dir := range []string{"index", "trees"} {
		filesIn(t, w.mem, filepath.Join(memRoot, DirName, dir), files)
	}
	files[filepath.Join(memRoot, DirName, "head")] = 100
	found := map[bool]int{}
	parts := int64(16)
	if *thorough {
		parts = 200
	}
	for name, size := range files {
		trees := strings.HasSuffix(name, ".tree")
		parts := parts
		if trees {
			parts *= 8
		}
		for i := range parts {
			off := size * i / parts
			res, err := fsck(t, turned(t, w.mem, name, off, 0x24), !trees)
			if err != nil {
				t.Errorf("%s at %d: %v", name, off, err)
				continue
			}
			found[trees] += len(res.Problems)
			if len(res.Problems) == 0 && !trees {
				t.Errorf("%s at %d: nothing is found", name, off)
			}
			for _, p := range res.Problems {
				if !p.Derived || p.Mend == mendTruth {
					t.Errorf("%s at %d: %+v", name, off, p)
				}
			}
		}
	}
	if found[true] < 4 {
		t.Errorf("damage to the trees is found %d times", found[true])
	}
}

// A stored tree with right checksums and wrong files, or with files known by their names where others stand.
func TestFsckFindsAWrongTree(t *testing.T) {
	for _, tc := range []struct {
		other int // the moment whose tree is taken
		root  func(tip, other state.Root) state.Root
		paths []string
	}{
		{1, func(_, other state.Root) state.Root { return other }, []string{"a", "d/b", "run.sh"}},
		{0, func(tip, other state.Root) state.Root { tip.Files = other.Files; return tip }, nil},
	} {
		w := settled(t)
		w.with(t, func(r *Repo) error {
			_, err := transact(r, func(tx *tx) (struct{}, error) {
				tip, err := r.tree(w.moments[2].state.Num)
				check(t, err)
				other, err := r.tree(w.moments[tc.other].state.Num)
				check(t, err)
				r.blocks.PutRoot(state.StateRoot{State: w.moments[2].state.Num, Root: tc.root(tip.Root(), other.Root())})
				return struct{}{}, tx.commit("commit")
			})
			return err
		})
		res, err := fsck(t, w.mem, false)
		check(t, err)
		if len(res.Problems) != 1 || !res.Problems[0].Derived || !slices.Equal(res.Problems[0].Paths, tc.paths) ||
			!slices.Equal(res.Problems[0].Names.Bookmarks, []string{"main"}) {
			t.Errorf("%+v", res.Problems)
		}
	}
}

// A stored tree that says of a text what its lines do not make.
func TestFsckPutsTextsTogether(t *testing.T) {
	w := settled(t)
	w.with(t, func(r *Repo) error {
		_, err := transact(r, func(tx *tx) (struct{}, error) {
			tree, err := r.tree(w.moments[2].state.Num)
			check(t, err)
			e, _, err := tree.Get("a")
			check(t, err)
			e.Hash[0]++
			tree, err = tree.Edit([]state.Edit{{Path: "a", Entry: e}})
			check(t, err)
			r.blocks.PutRoot(state.StateRoot{State: w.moments[2].state.Num, Root: tree.Root()})
			return struct{}{}, tx.commit("commit")
		})
		return err
	})
	res, err := fsck(t, w.mem, false)
	check(t, err)
	if len(res.Problems) != 2 || !strings.Contains(res.Problems[0].Text+res.Problems[1].Text, "make another text") {
		t.Errorf("%+v", res.Problems)
	}
}

// Changes and states that the store takes and no command makes.
func TestFsckFindsWhatDoesNotFit(t *testing.T) {
	file := func(path string) []change.File {
		return []change.File{{Writes: change.WritesPlace | change.WritesMode | change.WritesBody, Path: path}}
	}
	type craft struct {
		c     change.Change
		deps  []uint32
		rec   func(*store.Record)
		st    func(*store.State)
		alone bool // in a state of its own
	}
	for _, tc := range []struct {
		want string
		make func(first change.ID) craft
	}{
		{".git/hooks", func(change.ID) craft { return craft{c: change.Change{Files: file(".git/hooks")}} }},
		{"../out", func(change.ID) craft { return craft{c: change.Change{Files: file("../out")}} }},
		{"..", func(change.ID) craft {
			return craft{c: change.Change{DirMoves: []change.DirMove{{From: "a", To: ".."}}}}
		}},
		{"another hash than its name", func(change.ID) craft { return craft{rec: func(r *store.Record) { r.ID[3]++ }} }},
		{"malformed", func(change.ID) craft {
			return craft{rec: func(r *store.Record) { r.Body = append(r.Body, 0); r.ID = change.Sum(r.Meta, r.Body) }}
		}},
		{"extra field", func(change.ID) craft {
			return craft{c: change.Change{Extra: []change.Field{{Key: "b"}, {Key: "a"}}}}
		}},
		{"more text", func(change.ID) craft { return craft{rec: func(r *store.Record) { r.Texts = []byte("text") }} }},
		{"is missing", func(change.ID) craft {
			c := change.Change{Files: file("new")}
			c.Files[0].Size, c.Files[0].Content = 4, hashOf([]byte("new\n"))
			return craft{c: c}
		}},
		{"text that came with it has another hash", func(change.ID) craft {
			c := change.Change{Files: file("new")}
			c.Files[0].Size, c.Files[0].Content = 4, hashOf([]byte("new\n"))
			return craft{c: c, rec: func(r *store.Record) { r.Texts = []byte("old\n") }}
		}},
		{"bytes, not", func(change.ID) craft {
			c := change.Change{Files: file("new")}
			c.Files[0].Kind, c.Files[0].Size, c.Files[0].Content = change.Binary, 5005, hashOf([]byte(binary5000))
			return craft{c: c}
		}},
		{"other dependencies", func(first change.ID) craft { return craft{c: change.Change{Deps: []change.ID{first}}} }},
		{"other dependencies", func(change.ID) craft { return craft{deps: []uint32{0}} }},
		{"which it names, is missing", func(change.ID) craft { return craft{c: change.Change{Deps: []change.ID{{7}}}} }},
		{"another time", func(change.ID) craft { return craft{c: change.Change{Time: change.Time{Sec: 8}}} }},
		{"id is not that of its changes", func(change.ID) craft { return craft{st: func(s *store.State) { s.ID[0] ^= 2 }} }},
		{"position", func(change.ID) craft { return craft{st: func(s *store.State) { s.Pos++ }} }},
		{"on which it depends", func(first change.ID) craft {
			return craft{c: change.Change{Deps: []change.ID{first}}, deps: []uint32{0}, alone: true}
		}},
	} {
		t.Run(tc.want, func(t *testing.T) {
			w := settled(t)
			var id change.ID
			w.with(t, func(r *Repo) error {
				cr := tc.make(r.store.ChangeID(0))
				meta, body := change.Encode(&cr.c)
				rec := store.Record{ID: change.Sum(meta, body), Meta: meta, Body: body}
				if cr.rec != nil {
					cr.rec(&rec)
				}
				id = rec.ID
				_, err := transact(r, func(tx *tx) (struct{}, error) {
					n, err := tx.PutChange(rec, cr.deps, 0)
					check(t, err)
					base := w.moments[2].state
					set, err := state.ParseSetHash(base.ID)
					check(t, err)
					st := store.State{Parent: int64(base.Num), Changes: []uint32{n}, Pos: base.Len + 1}
					set.Add(rec.ID)
					st.ID = set.Bytes()
					if cr.alone {
						st.Parent, st.Pos, set = -1, 1, state.SetHash{}
						set.Add(rec.ID)
						st.ID = set.Bytes()
					}
					if cr.st != nil {
						cr.st(&st)
					}
					s, err := tx.PutState(st)
					check(t, err)
					tx.view.Bookmarks["crafted"] = s
					meta, body := change.Encode(&change.Change{Message: "on top"})
					top := store.Record{ID: change.Sum(meta, body), Meta: meta, Body: body}
					n, err = tx.PutChange(top, nil, 0)
					check(t, err)
					set.Add(top.ID)
					s, err = tx.PutState(store.State{Parent: int64(s), Changes: []uint32{n}, Pos: st.Pos + 1, ID: set.Bytes()})
					check(t, err)
					tx.view.Bookmarks["top"] = s
					return struct{}{}, tx.commit("commit")
				})
				return err
			})
			res, err := fsck(t, w.mem, false)
			check(t, err)
			for _, p := range res.Problems {
				if strings.Contains(p.Text, tc.want) {
					if p.Derived || p.Names == nil || !slices.Equal(p.Names.Bookmarks, []string{"crafted", "top"}) {
						t.Errorf("%+v", p)
					}
					if strings.HasPrefix(p.Text, "change") && p.Change != id {
						t.Errorf("it is about %s", p.Change)
					}
					return
				}
			}
			t.Errorf("not found among %+v", res.Problems)
		})
	}
}
