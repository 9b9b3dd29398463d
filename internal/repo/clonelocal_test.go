package repo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// elsewhere is where the tests in memory clone to.
const elsewhere = "/c"

func cloneThere(fsys vfs.FS) (*CloneResult, error) {
	r, res, err := Clone(context.Background(), memRoot, elsewhere, memOptions(fsys), SyncOptions{Dir: "/"})
	if err != nil {
		return nil, err
	}
	_ = r.Close() // the clone is done
	return res, nil
}

// cloneAsPeer clones a path as if it were far away.
func cloneAsPeer(t *testing.T, mem *vfs.Mem, dir string) {
	t.Helper()
	opt := memOptions(mem).withDefaults()
	l, err := Personal(opt).dial(context.Background(), memRoot, "/", nil)
	check(t, err)
	r, err := Init(dir, opt)
	check(t, err)
	_, err = r.cloneInto(context.Background(), l, memRoot, SyncOptions{Dir: "/"}, func() (*FetchResult, []sync.Ref, error) {
		return r.fetch(context.Background(), l, false, nil)
	})
	check(t, err)
	check(t, errors.Join(l.Close(), r.Close()))
}

// shown is what a person sees of a clone, without the numbers that the store gives.
func shown(t *testing.T, mem *vfs.Mem, dir string) string {
	t.Helper()
	r, err := Open(dir, memOptions(mem))
	check(t, err)
	defer r.Close()
	var b strings.Builder
	named := func(what string, of func() ([]Named, error)) {
		all, err := of()
		check(t, err)
		for _, n := range all {
			fmt.Fprintf(&b, "%s %s %x %v %v\n", what, n.Name, n.State.ID, n.Current, stored(t, r, n.State))
		}
	}
	named("bookmark", r.AllBookmarks)
	named("tag", r.Tags)
	ops := 0
	check(t, r.Ops(func(o *OpInfo) error { // a peer's clone has one more: it receives
		ops++
		return nil
	}))
	fmt.Fprintf(&b, "few operations: %v\n", ops < 6)
	check(t, r.Log(LogOptions{}, func(c *ChangeInfo) error { fmt.Fprintln(&b, c.ID, c.Message, c.Position); return nil }))
	st, err := r.Status(context.Background(), StatusOptions{})
	check(t, err)
	b.WriteString("status\n" + statusText(st))
	_, err = r.Undo(context.Background())
	fmt.Fprintf(&b, "\nundo: %v\n", err)
	fsckClean(t, r)
	return b.String()
}

func fsckClean(t *testing.T, r *Repo) {
	t.Helper()
	res, err := r.Fsck(context.Background(), FsckOptions{})
	check(t, err)
	for _, p := range res.Problems {
		if !p.Derived { // a cut may leave less of that
			t.Errorf("fsck: %s", p.Text)
		}
	}
}

// A clone that took the other's log is what one that asked for each change is: the other's operations and states, of which some are
// of work that was given up, are not seen. What is done next has the same outcome, and gc drops what is not its own.
func TestCloneByLog(t *testing.T) {
	w := parted(t)
	w.with(t, func(r *Repo) error { return mergeSide(context.Background(), r) })
	w.with(t, func(r *Repo) error { return undo(context.Background(), r) })
	res, err := cloneThere(w.mem)
	check(t, err)
	if res.Way != "copied" || res.Came == 0 || res.Written == 0 {
		t.Fatalf("%+v", res)
	}
	asPeer := copyOf(w.mem)
	check(t, asPeer.RemoveAll(elsewhere))
	cloneAsPeer(t, asPeer, elsewhere)
	if d := cmp.Diff(shown(t, copyOf(asPeer), elsewhere), shown(t, copyOf(w.mem), elsewhere)); d != "" {
		t.Fatalf("(-as a peer +by its log)\n%s", d)
	}
	r, err := Open(elsewhere, memOptions(w.mem))
	check(t, err)
	v, err := r.view()
	check(t, err)
	ops, states := foreign(v)
	if ops == 0 || states == 0 {
		t.Fatal("nothing is of the other")
	}
	for n := range ops {
		if _, err := r.ShowOp(n); err == nil {
			t.Fatalf("operation %d of the other is shown", n)
		}
		if _, err := r.Restore(context.Background(), n); err == nil {
			t.Fatalf("operation %d of the other was restored", n)
		}
	}
	all := r.store.NumStates()
	_, err = r.GC(context.Background(), GCOptions{Prune: true})
	check(t, err)
	if v, err = r.view(); err != nil || len(v.Kept[keptForeign]) > 0 {
		t.Fatalf("%x, %v", v.Kept[keptForeign], err)
	}
	if r.store.NumOps() != 1 || r.store.NumStates() > all-states {
		t.Fatalf("%d operations, %d states: the other's are still there", r.store.NumOps(), r.store.NumStates())
	}
	fsckClean(t, r)
	check(t, r.Close())
	w.with(t, func(r *Repo) error { fsckClean(t, r); return nil })
}

// Whatever call of a clone fails: the source is as it was, and there is a whole clone or none. A cut may leave one whose working files
// are not there yet.
func TestFaultsOfClone(t *testing.T) {
	w := settled(t)
	source := look(t, copyOf(w.mem), w.moments)
	done := copyOf(w.mem)
	_, err := cloneThere(done)
	check(t, err)
	want := shown(t, done, elsewhere)
	for _, f := range append(faults, fault{"the power is cut", errCut, vfs.FaultStays}) {
		step := 1
		if !*thorough {
			step = 3
			if f.mode&vfs.FaultReads != 0 {
				step = 11
			}
		}
		for n := 1; ; n += step {
			mem := copyOf(w.mem)
			faulty := vfs.Inject(mem, n, f.err, f.mode)
			_, err := cloneThere(faulty)
			found := []*vfs.Mem{mem}
			if f.err == errCut {
				found = append(cuts(mem, crashSeeds()), mem)
			}
			for i, mem := range found {
				what := fmt.Sprintf("%s, call %d, %d: it said %v", f.name, n, i, err)
				if d := cmp.Diff(source, look(t, copyOf(mem), w.moments)); d != "" {
					t.Fatalf("%s: the source (-was +is)\n%s", what, d)
				}
				judgeClone(t, mem, what, want, err, f, i == len(found)-1)
			}
			if !faulty.Fired() {
				break
			}
		}
	}
}

func judgeClone(t *testing.T, mem *vfs.Mem, what, want string, err error, f fault, asLeft bool) {
	t.Helper()
	if err == nil {
		got := shown(t, copyOf(mem), elsewhere)
		if !asLeft { // after a cut working files may be missing, as after any checkout
			got, _, _ = strings.Cut(got, "status\n")
		}
		if !strings.HasPrefix(want, got) {
			t.Fatalf("%s, but\n%s", what, cmp.Diff(want, got))
		}
		return
	}
	if names, read := mem.ReadDir(elsewhere); asLeft && f.mode&vfs.FaultStays == 0 && read == nil {
		t.Fatalf("%s, and left %q", what, names)
	}
	r, opened := Open(elsewhere, memOptions(mem))
	if opened == nil {
		fsckClean(t, r)
		check(t, r.Close())
	} else if !errors.Is(opened, store.ErrNotRepository) {
		t.Fatalf("%s; it does not open: %v", what, opened)
	}
	check(t, mem.RemoveAll(elsewhere))
	if _, err := cloneThere(mem); err != nil {
		t.Fatalf("%s, and again: %v", what, err)
	}
}

// Whatever is damaged in the source's log, or forged, a clone is sound or is none.
func TestCloneOfDamage(t *testing.T) {
	w := settled(t)
	name := filepath.Join(memRoot, DirName, "log", "00000001.seg")
	whole, err := w.mem.ReadFile(name, 1<<30)
	check(t, err)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 40 {
		mem := copyOf(w.mem)
		f, err := mem.OpenFile(name, os.O_RDWR, 0)
		check(t, err)
		at := rng.IntN(len(whole))
		_, err = f.WriteAt([]byte{whole[at] ^ 1<<rng.IntN(8)}, int64(at))
		check(t, errors.Join(err, f.Close()))
		if _, err := cloneThere(mem); err != nil {
			if _, read := mem.ReadDir(elsewhere); read == nil {
				t.Fatalf("byte %d: %v, and something is left", at, err)
			}
			continue
		}
		r, err := Open(elsewhere, memOptions(mem))
		check(t, err)
		fsckClean(t, r)
		check(t, r.Close())
	}
}

// A source whose store leads elsewhere by links, one whose segments change while they are read, and one with a hook and settings.
func TestCloneOfHostileStore(t *testing.T) {
	opt := syncEnv(t)
	for _, what := range []string{"log", "log/00000001.seg"} {
		a := newSite(t, "a", opt)
		a.put("code", "1\n")
		a.record("Begin")
		at := filepath.Join(a.root, DirName, what)
		other := filepath.Join(t.TempDir(), "other")
		check(t, errors.Join(os.Rename(at, other), os.Symlink(other, at)))
		to := filepath.Join(t.TempDir(), "c")
		_, _, err := Clone(context.Background(), a.root, to, opt, SyncOptions{})
		if said := (*Error)(nil); !errors.As(err, &said) || said.Next == "" {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
	a := newSite(t, "a", opt)
	a.put("code", "1\n")
	a.record("Begin")
	check(t, errors.Join(
		os.MkdirAll(filepath.Join(a.root, DirName, "hooks"), 0o777),
		os.WriteFile(filepath.Join(a.root, DirName, "hooks", "post-checkout"), []byte("#!/bin/sh\n"), 0o777),
		os.WriteFile(filepath.Join(a.root, DirName, "config.toml"), []byte("[ui]\npager = 'touch here'\n"), 0o666)))
	b := a.clone(opt)
	names, err := os.ReadDir(filepath.Join(b.root, DirName))
	check(t, err)
	for _, n := range names {
		if n.Name() == "hooks" {
			t.Error("a hook came along")
		}
	}
	if got, err := os.ReadFile(filepath.Join(b.root, DirName, "config.toml")); err != nil || strings.Contains(string(got), "pager") {
		t.Errorf("%s, %v", got, err)
	}
}
