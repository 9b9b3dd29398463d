package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// Stopped at any call, a change of what the working copy has never looks as if somebody had removed files, and the same
// command once more completes it.
func TestSparseCutOffIsNoRemoval(t *testing.T) {
	for i := range commands {
		c := &commands[i]
		if !strings.HasPrefix(c.name, "sparse ") {
			continue
		}
		w := c.from(t)
		if c.prepare != nil {
			c.prepare(t, w)
		}
		wanted := copyOf(w.mem)
		check(t, c.attempt(wanted))
		for n := 1; ; n++ {
			mem := copyOf(w.mem)
			faulty := vfs.Inject(mem, n, errCut, vfs.FaultStays)
			_ = c.attempt(faulty)
			with(t, mem, func(r *Repo) error {
				st, err := r.Status(context.Background(), StatusOptions{})
				if err == nil && len(st.Files) > 0 {
					t.Errorf("%s, cut at call %d: %s", c.name, n, statusText(st))
				}
				return err
			})
			check(t, c.attempt(mem))
			if d := cmp.Diff(memDisk(t, wanted), memDisk(t, mem)); d != "" {
				t.Errorf("%s, cut at call %d and done again: %s", c.name, n, d)
			}
			if !faulty.Fired() {
				break
			}
		}
	}
}

// What is not recorded is never left out of sight: an edit, a removal, a noted move.
func TestSparseRefusesEdits(t *testing.T) {
	ctx := context.Background()
	edits := map[string]func(t *testing.T, w *world){
		"edit":    func(t *testing.T, w *world) { put(t, w.mem, "e/new", "mine\n") },
		"mode":    func(t *testing.T, w *world) { putAs(t, w.mem, "e/new", "unrecorded\n", 0o777) },
		"removal": func(t *testing.T, w *world) { drop(t, w.mem, "e/new") },
		"move in": func(t *testing.T, w *world) {
			w.with(t, func(r *Repo) error { return r.Move(ctx, "e/new", "moved") })
		},
		"move out": func(t *testing.T, w *world) {
			w.with(t, func(r *Repo) error { return r.Move(ctx, "a", "e/a") })
		},
		"untrack": func(t *testing.T, w *world) {
			put(t, w.mem, ".oxyignore", "new\n")
			w.with(t, func(r *Repo) error {
				_, err := r.Untrack(ctx, []string{"e/new"})
				return err
			})
		},
	}
	for name, edit := range edits {
		w := settled(t)
		withNew(t, w)
		edit(t, w)
		before := memDisk(t, w.mem)
		r, err := Open(memRoot, memOptions(w.mem))
		check(t, err)
		_, err = r.SetSparse(ctx, []string{"d"})
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Text, "not recorded") {
			t.Errorf("%s: %v", name, err)
		}
		if s, err := r.Sparse(); s != nil || err != nil {
			t.Errorf("%s: %v %v", name, s, err)
		}
		check(t, r.Close())
		if d := cmp.Diff(before, memDisk(t, w.mem)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// New and ignored files outside stay; the status names the directory, and a record takes nothing of it.
func TestSparseLeavesNewFiles(t *testing.T) {
	ctx := context.Background()
	w := settled(t)
	put(t, w.mem, ".oxyignore", "*.o\n")
	withNew(t, w)
	put(t, w.mem, "g/x.o", "ignored")
	put(t, w.mem, "e/f/x.o", "ignored")
	w.with(t, func(r *Repo) error {
		res, err := r.SetSparse(ctx, []string{"d"})
		check(t, err)
		if want := []string{"e/"}; !cmp.Equal(res.Left, want) || res.Removed != 2 || res.Written != 0 {
			t.Errorf("%+v", res)
		}
		return nil
	})
	put(t, w.mem, "h/i/j", "beside\n")
	put(t, w.mem, "d/more", "inside\n")
	w.with(t, func(r *Repo) error {
		for _, paths := range [][]string{nil, {"h/i", "d", "e/mine"}} {
			st, err := r.Status(ctx, StatusOptions{Ignored: true, Paths: paths})
			check(t, err)
			if want := []string{"e/", "h/"}; !cmp.Equal(st.Outside, want) || !cmp.Equal(st.Untracked, []string{"d/more"}) || len(st.Files) > 0 {
				t.Errorf("%v: outside %q, untracked %q, %s", paths, st.Outside, st.Untracked, statusText(st))
			}
		}
		_, err := r.Commit(ctx, CommitOptions{Message: "all", Time: at(2000)})
		check(t, err)
		base, err := r.Base()
		check(t, err)
		now := stored(t, r, base)
		if _, there := now["d/more"]; !there || now["h/i/j"] != "" || now["e/mine"] != "" || now["e/new"] == "" || now["e/f/x"] == "" {
			t.Errorf("recorded %q", now)
		}
		return nil
	})
}

// What a person names outside is refused, with the directory to take in.
func TestSparseRefusesPathsOutside(t *testing.T) {
	ctx := context.Background()
	w := settled(t)
	withNew(t, w)
	put(t, w.mem, "d/sub2/y", "y\n")
	w.commit(t, "more")
	w.with(t, func(r *Repo) error {
		_, err := r.Discard(ctx, []string{"d"}, nil)
		if e := (*Error)(nil); !errors.As(err, &e) || !e.No {
			t.Error(err)
		}
		return nil
	})
	put(t, w.mem, "e/f/x", "edited\n")
	w.with(t, func(r *Repo) error {
		_, err := r.Discard(ctx, []string{"e/f/x"}, nil)
		return err
	})
	w.with(t, func(r *Repo) error { return sparse((*Repo).SetSparse, "d/sub")(ctx, r) })
	asks := map[string]func(r *Repo) error{
		"commit": func(r *Repo) error {
			_, err := r.Commit(ctx, CommitOptions{Message: "m", Paths: []string{"e/new"}})
			return err
		},
		"commit of": func(r *Repo) error {
			_, err := r.Commit(ctx, CommitOptions{Message: "m", Paths: []string{"e"}})
			return err
		},
		"discard": func(r *Repo) error { _, err := r.Discard(ctx, []string{"e"}, nil); return err },
		"rm":      func(r *Repo) error { _, err := r.Remove(ctx, []string{"e/f"}, false); return err },
		"rm half": func(r *Repo) error { _, err := r.Remove(ctx, []string{"d"}, false); return err },
		"rm root": func(r *Repo) error { _, err := r.Remove(ctx, []string{""}, false); return err },
		"mv out":  func(r *Repo) error { return r.Move(ctx, "a", "e/a") },
		"mv dir":  func(r *Repo) error { return r.Move(ctx, "d/sub", "sub") },
		"mv half": func(r *Repo) error { return r.Move(ctx, "d", "d2") },
		"untrack": func(r *Repo) error { _, err := r.Untrack(ctx, []string{"e/new"}); return err },
		"checkout": func(r *Repo) error {
			s, err := r.Base()
			check(t, err)
			_, err = r.CheckoutFiles(ctx, s, []string{"e/f"})
			return err
		},
		"amend":           func(r *Repo) error { _, err := r.Commit(ctx, CommitOptions{Message: "m", Amend: true}); return err },
		"undo of discard": func(r *Repo) error { _, err := r.Undo(ctx); return err },
		"subrepo":         func(r *Repo) error { _, _, err := r.AddSubrepo(ctx, "../lib", "lib", SubrepoOptions{}); return err },
	}
	before := memDisk(t, w.mem)
	for name, ask := range asks {
		w.with(t, func(r *Repo) error {
			err := ask(r)
			if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Text, "outside of the sparse working copy") || !strings.Contains(e.Next, "oxy sparse") {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
		if d := cmp.Diff(before, memDisk(t, w.mem)); d != "" {
			t.Fatalf("%s: %s", name, d)
		}
	}
	w.with(t, func(r *Repo) error { return r.Move(ctx, "a", "d/sub/a") })
}

// A sparse working copy and a whole one do the same in step: they record the same changes, and the sparse one has on disk
// exactly what the whole one has, as far as it is in the cone.
func TestSparseKeepsInStep(t *testing.T) {
	rounds := 6
	if *thorough {
		rounds = 60
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { sparseInStep(t, rand.New(rand.NewPCG(uint64(seed), 11))) })
	}
}

func sparseInStep(t *testing.T, rng *rand.Rand) {
	ctx := context.Background()
	whole := parted(t)
	part := &world{mem: copyOf(whole.mem)}
	dirs := []string{"d", "d/sub", "e", "e/f", "g/h/i", "nowhere"}
	files := []string{"a", "d/b", "d/fresh", "d/sub/c", "d/sub/n", "e/b", "e/f/x", "e/f/y", "g/h/i/k", "g/h/j", "g/x", "top"}
	choose := func() {
		part.with(t, func(r *Repo) error {
			var some []string
			for _, d := range dirs {
				if rng.IntN(3) == 0 {
					some = append(some, d)
				}
			}
			err := error(nil)
			if rng.IntN(8) == 0 {
				_, err = r.EndSparse(ctx)
			} else {
				_, err = r.SetSparse(ctx, some)
			}
			return err
		})
	}
	choose()
	for step := range 24 {
		if rng.IntN(4) == 0 {
			choose()
		}
		var cone *worktree.Cone
		part.with(t, func(r *Repo) (err error) { cone, err = r.workingCone(); return err })
		for range rng.IntN(3) {
			p := files[rng.IntN(len(files))]
			if !cone.Holds(p, worktree.File) {
				continue
			}
			text := lines(rng.IntN(9), 9+rng.IntN(30))
			put(t, whole.mem, p, text)
			put(t, part.mem, p, text)
		}
		said := [2]string{}
		k, message := rng.IntN(10), fmt.Sprint("step ", step)
		for i, w := range []*world{whole, part} {
			r, err := Open(memRoot, memOptions(w.mem))
			check(t, err)
			switch _, err = r.Commit(ctx, CommitOptions{Message: message, Time: at(int64(5000 + step))}); {
			case k < 4:
			case k < 5:
				_, err = r.Merge(ctx, []string{"side", "moved"}[step%2], MergeOptions{Time: at(int64(6000 + step))})
			case k < 6:
				_, err = r.Checkout(ctx, []string{"main~1", "main~2", "v1"}[step%3])
			case k < 8:
				_, err = r.Checkout(ctx, "main")
			case k < 9:
				_, err = r.Rollback(ctx, "@", RollbackOptions{Time: at(int64(7000 + step))})
			default:
				_, err = r.Unrecord(ctx, []string{"@"}, UnrecordOptions{WithDependents: true})
			}
			if err != nil {
				said[i] = err.Error()
			}
			check(t, r.Close())
		}
		if said[0] != said[1] {
			t.Fatalf("step %d: the whole one says %q, the sparse one %q", step, said[0], said[1])
		}
		var at [2]StateRef
		var st [2]*Status
		for i, w := range []*world{whole, part} {
			w.with(t, func(r *Repo) (err error) {
				if at[i], err = r.Base(); err != nil {
					return err
				}
				st[i], err = r.Status(ctx, StatusOptions{All: true})
				return err
			})
		}
		if at[0].ID != at[1].ID {
			t.Fatalf("step %d (%d): other states", step, k)
		}
		want, now := memDisk(t, whole.mem), memDisk(t, part.mem)
		maps.DeleteFunc(want, func(p, _ string) bool { return !cone.Holds(p, worktree.File) })
		if d := cmp.Diff(want, now); d != "" {
			t.Fatalf("step %d (%d), %q (-whole +sparse)\n%s", step, k, cone.Dirs(), d)
		}
		if a, b := statusText(st[0]), statusText(st[1]); a != b {
			t.Fatalf("step %d: %s\n%s", step, a, b)
		}
		if rng.IntN(3) == 0 { // the manifest is derived
			check(t, part.mem.Remove(memRoot+"/.oxy/wc/manifest"))
		}
	}
}

// A list that is damaged is told, nothing goes on without it, and it can be said again: what is on disk stays or comes.
func TestDamagedSparseList(t *testing.T) {
	ctx := context.Background()
	w := settled(t)
	withSparse(t, w)
	put(t, w.mem, "d/sub/c", "mine\n")
	name := ".oxy/" + sparseFile
	b, err := w.mem.ReadFile(memRoot+"/"+name, 1<<20)
	check(t, err)
	for i := range b {
		bad := []byte(string(b))
		bad[i] ^= 4
		if _, err := worktree.DecodeCone(bad); !errors.Is(err, worktree.ErrBadCone) {
			t.Fatalf("byte %d turned: %v", i, err)
		}
		if _, err := worktree.DecodeCone(b[:i]); !errors.Is(err, worktree.ErrBadCone) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	put(t, w.mem, name, string(b[:len(b)-3]))
	r, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	defer r.Close()
	for _, ask := range []func() error{
		func() error { _, err := r.Status(ctx, StatusOptions{}); return err },
		func() error { return commitAll(ctx, r) },
		func() error { return checkout("v1")(ctx, r) },
		func() error { return sparse((*Repo).AddSparse, "e")(ctx, r) },
	} {
		if e := (*Error)(nil); !errors.As(ask(), &e) || !strings.Contains(e.Next, "oxy sparse set") {
			t.Errorf("%v", e)
		}
	}
	res, err := r.Fsck(ctx, FsckOptions{})
	check(t, err)
	if len(res.Problems) != 1 || res.Problems[0].File != sparseFile || !strings.Contains(res.Problems[0].Mend, "oxy sparse set") {
		t.Errorf("%+v", res.Problems)
	}
	check(t, sparse((*Repo).SetSparse, "e", "d/sub")(ctx, r))
	st, err := r.Status(ctx, StatusOptions{})
	check(t, err)
	if got := statusText(st); !strings.HasPrefix(got, "modified d/sub/c from d/sub/c\nuntracked []") {
		t.Error(got)
	}
	if res, err = r.Fsck(ctx, FsckOptions{}); err != nil || len(res.Problems) > 0 {
		t.Errorf("%v %+v", err, res)
	}
}

// A file that was altered between the look and the removal stays, and is told of.
func TestSparseKeepsWhatChangesMeanwhile(t *testing.T) {
	w := settled(t)
	withNew(t, w)
	r, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	defer r.Close()
	base, err := r.Base()
	check(t, err)
	next, err := worktree.NewCone([]string{"d"})
	check(t, err)
	c := &coneChange{r: r, ctx: context.Background(), next: next, base: base, outer: map[string]bool{}, res: &SparseResult{State: base}}
	check(t, c.plan())
	m, err := worktree.Build(w.mem, r.manifestDir(), base.Num, next.BaseID(base.ID), c.entries())
	check(t, err)
	check(t, r.putCone(next))
	put(t, w.mem, "e/new", "written this moment\n")
	check(t, c.takeAway(m))
	now := memDisk(t, w.mem)
	if now["e/new"] != "file written this moment\n" || now["e/f/x"] != "" || c.res.Removed != 1 {
		t.Errorf("%q, %d removed", now, c.res.Removed)
	}
	check(t, m.All(func(path string, e *worktree.Entry) bool {
		if !next.Holds(path, e.Kind) {
			t.Errorf("the manifest has %s", path)
		}
		return true
	}))
	check(t, m.Close())
}

// The page's bytes are what the code writes and reads.
func TestSparseVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/sparse.md")
	check(t, err)
	_, rest, ok := strings.Cut(string(page), "```vector\n")
	text, _, closed := strings.Cut(rest, "```")
	cone, err := worktree.NewCone([]string{"src/parser", "docs", "a\\b\nc", "docs/spec"})
	check(t, err)
	if !ok || !closed || text != string(cone.Encode()) {
		t.Fatalf("the page should have\n%s", cone.Encode())
	}
	back, err := worktree.DecodeCone([]byte(text))
	check(t, err)
	if !back.Equal(cone) {
		t.Fatalf("%q", back.Dirs())
	}
}

// One that looked before another process made the working copy sparse takes nothing for removed when it records.
func TestSparseSetByAnother(t *testing.T) {
	ctx := context.Background()
	w := settled(t)
	withNew(t, w)
	r, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	defer r.Close()
	_, err = r.Status(ctx, StatusOptions{})
	check(t, err)
	w.with(t, func(r *Repo) error { return sparse((*Repo).SetSparse, "d")(ctx, r) })
	put(t, w.mem, "a", "mine\n")
	res, err := r.Commit(ctx, CommitOptions{Message: "one file", Time: at(2000)})
	check(t, err)
	if len(res.Files) != 1 || res.Files[0].Path() != "a" {
		t.Errorf("it recorded %+v", res.Files)
	}
}
