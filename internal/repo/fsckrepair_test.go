package repo

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// repair makes again what is derived, as a process of its own.
func repair(t testing.TB, mem *vfs.Mem) []Repaired {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	check(t, err)
	done, err := r.Repair(context.Background(), RepairOptions{})
	check(t, err)
	check(t, r.Close())
	if n := mem.Handles(); n != 0 {
		t.Errorf("%d files stay open", n)
	}
	return done
}

func repairedFine(t testing.TB, mem *vfs.Mem) {
	t.Helper()
	for _, d := range repair(t, mem) {
		if d.Err != nil {
			t.Errorf("%s: %v", d.What, d.Err)
		}
	}
	fine(t, mem)
}

// Every derived file is damaged in many places in turn; then all is made again, and what is asked for is answered as before.
func TestRepairMakesAllThatIsDerived(t *testing.T) {
	w := grown(t)
	pack(t, w)
	want := look(t, copyOf(w.mem), w.moments)
	files := map[string]int64{}
	filesIn(t, w.mem, filepath.Join(memRoot, DirName), files)
	for name, size := range files {
		if isTruth(name) || size == 0 {
			continue
		}
		for i, d := range damages(size) {
			if i%3 != 0 && !*thorough {
				continue // and damages gives them in another order each time
			}
			t.Run(filepath.Base(name)+" "+d.what, func(t *testing.T) {
				mem := copyOf(w.mem)
				d.make(t, mem, name)
				repairedFine(t, mem)
				check(t, w.ask(t, mem, want))
			})
		}
	}
	mem := copyOf(w.mem)
	for _, gone := range []string{"head", "index", "trees", "wc/manifest"} {
		check(t, mem.RemoveAll(filepath.Join(memRoot, DirName, gone)))
	}
	repairedFine(t, mem)
}

// Where the log is damaged nothing of it is touched, and what can be made of the rest is.
func TestRepairLeavesTheTruth(t *testing.T) {
	w := grown(t)
	files := map[string]int64{}
	filesIn(t, w.mem, filepath.Join(memRoot, DirName, "log"), files)
	for name, size := range files {
		for i := range int64(12) {
			mem := turned(t, w.mem, name, size*i/12, 0x24)
			before, err := mem.ReadFile(name, 1<<30)
			check(t, err)
			r, err := Open(memRoot, memOptions(mem))
			if err != nil {
				continue
			}
			_, err = r.Repair(context.Background(), RepairOptions{})
			check(t, err)
			check(t, r.Close())
			after, err := mem.ReadFile(name, 1<<30)
			check(t, err)
			if string(before) != string(after) {
				t.Errorf("byte %d: the log was changed", size*i/12)
			}
		}
	}
}

// disputed is a repository with open conflicts of several kinds: a text, a name that two files want, and a file that one side
// removed.
func disputed(t testing.TB) *world {
	t.Helper()
	w := &world{mem: newMem()}
	check(t, w.mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(w.mem))
	check(t, err)
	check(t, r.Close())
	put(t, w.mem, "a", lines(0, 9))
	put(t, w.mem, "b", lines(0, 4))
	put(t, w.mem, "c", lines(0, 3))
	w.commit(t, "first")
	w.with(t, func(r *Repo) error {
		base, err := r.Base()
		check(t, err)
		return r.SetBookmark("other", base, false)
	})
	put(t, w.mem, "a", lines(0, 4)+"ours\n"+lines(5, 9))
	put(t, w.mem, "new", "ours\n")
	drop(t, w.mem, "b")
	drop(t, w.mem, "c")
	w.commit(t, "ours")
	w.with(t, func(r *Repo) error { _, err := r.Checkout(context.Background(), "other"); return err })
	put(t, w.mem, "a", lines(0, 4)+"theirs\n"+lines(5, 9))
	put(t, w.mem, "new", "theirs\n")
	put(t, w.mem, "b", lines(0, 6))
	w.with(t, func(r *Repo) error {
		_, err := r.Commit(context.Background(), CommitOptions{Message: "theirs", Time: at(7)})
		check(t, err)
		_, err = r.Merge(context.Background(), "main", MergeOptions{})
		return err
	})
	return w
}

// What a tree keeps beside the files is wrong, with right checksums: it is found, and made again.
func TestFsckFindsWrongDisputes(t *testing.T) {
	for what, alter := range map[string]func(t testing.TB, r *Repo, tree state.Tree) state.Tree{
		"the conflicts of a file": func(t testing.TB, r *Repo, tree state.Tree) state.Tree {
			list, err := tree.Disputes()
			check(t, err)
			if len(list) < 3 {
				t.Fatalf("%d files are disputed", len(list))
			}
			for i := range list {
				list[i].Kinds |= state.DisputedMode
			}
			tree, err = tree.WithDisputes(list)
			check(t, err)
			return tree
		},
		"what was done to it": func(t testing.TB, r *Repo, tree state.Tree) state.Tree {
			e, ok, err := tree.Get("a")
			check(t, err)
			if !ok {
				t.Fatal("there is no a")
			}
			e.Acts, err = r.blocks.PutActs(0, []state.Act{{Change: 0, Ord: 1}})
			check(t, err)
			tree, err = tree.Edit([]state.Edit{{Path: "a", Entry: e}})
			check(t, err)
			return tree
		},
		"is not what its log makes": func(t testing.TB, r *Repo, tree state.Tree) state.Tree { return tree },
	} {
		t.Run(what, func(t *testing.T) {
			w := disputed(t)
			fine(t, w.mem)
			w.with(t, func(r *Repo) error {
				_, err := transact(r, func(tx *tx) (struct{}, error) {
					base := baseOf(tx.view)
					tree, err := r.tree(base)
					check(t, err)
					root := state.StateRoot{State: base, Root: alter(t, r, tree).Root()}
					if strings.HasPrefix(what, "is not") {
						var b state.SetBuilder
						b.Add(1)
						root.Set, err = r.blocks.PutSet(b.Set())
						check(t, err)
					}
					r.blocks.PutRoot(root)
					return struct{}{}, tx.commit("commit")
				})
				return err
			})
			res, err := fsck(t, w.mem, false)
			check(t, err)
			if len(res.Problems) != 1 || !res.Problems[0].Derived || !strings.Contains(res.Problems[0].Text, what) ||
				len(res.Problems[0].Names.Bookmarks) != 1 {
				t.Fatalf("%+v", res.Problems)
			}
			repairedFine(t, w.mem)
		})
	}
}

// A change that names what it does not depend on, and one with a signature that is none.
func TestFsckFindsWhatAChangeDoesNotCover(t *testing.T) {
	for want, make := range map[string]func(r *Repo) (change.Change, []byte){
		"does not depend on it": func(r *Repo) (change.Change, []byte) {
			return change.Change{Others: []change.ID{r.store.ChangeID(2)}, Files: []change.File{{ID: change.FileID{Change: 1}, Writes: change.WritesMode,
				Exec: true, Over: []change.Over{{Reg: change.WritesMode, Change: 1}}}}}, nil
		},
		"its signatures": func(*Repo) (change.Change, []byte) { return change.Change{}, []byte{3, 1} },
		"a signature of it": func(*Repo) (change.Change, []byte) {
			part, err := sign.EncodePart([]sign.Entry{{Kind: sign.SSH, Bytes: []byte("SSHSIG")}})
			if err != nil {
				panic(err)
			}
			return change.Change{}, part
		},
	} {
		t.Run(want, func(t *testing.T) {
			w := settled(t)
			w.with(t, func(r *Repo) error {
				_, err := transact(r, func(tx *tx) (struct{}, error) {
					c, part := make(r)
					meta, body := change.Encode(&c)
					_, err := tx.PutChange(store.Record{ID: change.Sum(meta, body), Meta: meta, Body: body, Unhashed: part}, nil, 0)
					check(t, err)
					return struct{}{}, tx.commit("commit")
				})
				return err
			})
			res, err := fsck(t, w.mem, false)
			check(t, err)
			if len(res.Problems) != 1 || res.Problems[0].Derived || !strings.Contains(res.Problems[0].Text, want) {
				t.Errorf("%+v", res.Problems)
			}
		})
	}
}
