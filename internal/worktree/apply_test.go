package worktree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

func (b *box) apply(from, to tree, opts ApplyOptions) error {
	return Apply(context.Background(), b.root, b.m, plan(from, to), to, opts)
}

// files is the disk without its directories.
func (b *box) files() tree {
	t := b.disk()
	maps.DeleteFunc(t, func(p string, _ leaf) bool { return strings.HasSuffix(p, "/") })
	return t
}

func (b *box) wantFiles(want tree) {
	b.t.Helper()
	if got := b.files(); !maps.Equal(got, want) {
		b.t.Fatalf("the disk holds\n  %v\ninstead of\n  %v", got, want)
	}
}

// wantLost expects a refusal that names these paths and touched nothing.
func (b *box) wantLost(from, to tree, lost ...string) {
	b.t.Helper()
	before := b.disk()
	err := b.apply(from, to, ApplyOptions{})
	var lose *LoseError
	if !errors.As(err, &lose) || !errors.Is(err, ErrWouldLose) || !slices.Equal(lose.Paths, lost) {
		b.t.Fatalf("got %v, want a refusal for %q", err, lost)
	}
	if after := b.disk(); !maps.Equal(before, after) {
		b.t.Fatalf("a refused checkout made of\n  %v\nthis:\n  %v", before, after)
	}
}

func TestApplyAndBack(t *testing.T) {
	for _, newBox := range []func(testing.TB) *box{newMem, newDisk} {
		b := newBox(t)
		one := sample()
		two := tree{"README": {data: "hello\n", exec: true}, "src/main.c": {data: "README", kind: Link}, "run.sh": text("new"),
			"link/is/a/dir": text(""), "src/deep": text("a directory before"), "empty": {data: "x", kind: Link}}
		b.recorded(one)
		for range 3 {
			b.must(b.apply(one, two, ApplyOptions{InMemory: 4}))
			b.wantFiles(two)
			b.m.SetBase(2, [32]byte{2})
			b.reload()
			b.want(Options{})
			b.must(b.apply(two, one, ApplyOptions{Workers: 1}))
			b.wantFiles(one)
			b.m.SetBase(1, [32]byte{1})
			b.want(Options{})
			if _, ok := b.disk()["link/"]; ok {
				t.Error("an emptied directory stayed")
			}
		}
	}
}

func TestApplyRefusesToLose(t *testing.T) {
	one := tree{"f": text("one"), "d/x": text("x"), "d/y": text("y"), "gone": text("gone"), "m": text("m"), "same": text("1")}
	two := tree{"f": text("two"), "d": text("file"), "m": {data: "m", exec: true}, "new/n": text("n"), "same": text("2")}
	b := newMem(t)
	b.recorded(one)
	b.put("f", text("edited"))
	b.wantLost(one, two, "f")
	b.put("f", text("One")) // same size
	b.wantLost(one, two, "f")
	b.put("f", leaf{data: "one", exec: true}) // a mode is an edit, too
	b.wantLost(one, two, "f")
	b.put("f", leaf{data: "one", kind: Link})
	b.wantLost(one, two, "f")
	b.remove("f")
	b.put("f/inside", text("untracked"))
	b.wantLost(one, two, "f/inside")
	b.remove("f")
	b.put("f", text("one"))

	b.put("gone", text("edit"))
	b.wantLost(one, two, "gone")
	b.put("gone", text("gone"))

	b.put("d/untracked", text(""))
	b.wantLost(one, two, "d/untracked")
	b.put("d/sub/.git/x", text(""))
	b.wantLost(one, two, "d/sub/", "d/untracked")
	b.remove("d/untracked")
	b.remove("d/sub")

	b.put("new", text("in the way of a directory"))
	b.wantLost(one, two, "new")
	b.remove("new")
	b.put("elsewhere/n", text("N"))
	b.put("new", leaf{data: "elsewhere", kind: Link}) // planted: must not be followed
	b.wantLost(one, two, "new")
	b.remove("new")
	b.put("new/n", text("other"))
	b.wantLost(one, two, "new/n")
	b.put("new/n", text("n")) // already as wanted
	b.put("same", text("2"))
	b.put("m", text("edited")) // its mode changes, its content stays
	b.must(b.apply(one, two, ApplyOptions{}))
	want := maps.Clone(two)
	want["m"], want["elsewhere/n"] = leaf{data: "edited", exec: true}, text("N")
	b.wantFiles(want)
	b.want(Options{}, "modified m", "untracked elsewhere/n")
}

// Many workers make the same directories at the same moment.
func TestWorkersShareNewDirectories(t *testing.T) {
	to := tree{}
	for i := range 60 {
		to[fmt.Sprintf("a/b/c/d%d/e/f", i)] = text("x")
	}
	for range 3 {
		b := newDisk(t)
		b.recorded(tree{})
		b.must(b.apply(tree{}, to, ApplyOptions{Workers: 8}))
		b.wantFiles(to)
	}
}

// A path may be longer than the system takes in one call, since it is walked element by element.
func TestDeepPath(t *testing.T) {
	deep := strings.Repeat("d123456789012345678/", 199) + "f"
	b := newDisk(t)
	b.recorded(tree{})
	to := tree{deep: text("deep")}
	b.must(b.apply(tree{}, to, ApplyOptions{}))
	b.want(Options{})
	if data, _, err := ReadPath(b.root, b.m, deep, nil, 10); err != nil || string(data) != "deep" {
		t.Fatalf("%q, %v", data, err)
	}
	b.must(b.m.Update([]Edit{{Path: deep, Delete: true}}))
	b.want(Options{}, "untracked "+deep)
	b.want(Options{Collapse: true}, "untracked d123456789012345678/")
	b.base(to)
	b.must(b.apply(to, tree{}, ApplyOptions{}))
	b.wantFiles(tree{})
	if len(b.disk()) > 0 {
		t.Error("directories stayed")
	}
}

// Discarding takes what was kept aside. What stands in the way and was never recorded stays, and is named: a directory
// where a file was, a link where a directory was, a repository.
func TestDiscardRefusesWhatNobodyKept(t *testing.T) {
	one := tree{"f": text("one"), "d/x": text("x"), "r": text("r"), "e": text("e")}
	b := newMem(t)
	b.recorded(one)
	b.put("e", text("edited"))
	var st vfs.Stat
	b.must(b.root.Lstat("e", &st))
	kept := ApplyOptions{Kept: map[string]vfs.Stat{"e": st}}
	b.remove("f")
	b.put("f/a/b", text("in the way"))
	b.remove("d")
	b.put("d", leaf{data: ".", kind: Link})
	b.remove("r")
	b.put("r/.oxy/x", text("a repository"))
	restore := plan(tree{}, one)
	err := Apply(context.Background(), b.root, b.m, restore, one, kept)
	var lose *LoseError
	if !errors.As(err, &lose) || !slices.Equal(lose.Paths, []string{"d", "f/a/b", "r/"}) {
		t.Fatalf("got %v", err)
	}
	for _, p := range []string{"f", "d", "r"} {
		b.remove(p)
	}
	b.must(Apply(context.Background(), b.root, b.m, restore, one, kept))
	b.wantFiles(one)
	b.want(Options{})
}

func TestIgnoredLeftoversKeepTheirDirectory(t *testing.T) {
	one := tree{"d/e/x": text("x"), "f": text("f")}
	b := newMem(t)
	b.recorded(one)
	b.put("d/e/x.o", text("object"))
	b.must(b.apply(one, tree{"f": text("f")}, ApplyOptions{}))
	b.wantFiles(tree{"d/e/x.o": text("object"), "f": text("f")})
}

// A name is made in place, so a kill may leave a beginning of it, which is no reason to refuse the next run.
func TestBeginningOfAFileIsResumed(t *testing.T) {
	for _, inMemory := range []int64{1 << 20, 4} {
		b := newMem(t)
		b.recorded(tree{})
		to := tree{"f": text("complete contents"), "g": text("other contents")}
		b.put("f", text("complete c"))
		b.put("g", text("other, c"))
		before := b.files()
		if err := b.apply(tree{}, to, ApplyOptions{InMemory: inMemory}); !errors.Is(err, ErrWouldLose) {
			t.Fatal(err)
		}
		b.wantFiles(before)
		b.put("g", text(""))
		b.must(b.apply(tree{}, to, ApplyOptions{InMemory: inMemory}))
		b.wantFiles(to)
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	one := tree{"ro/f": text("one")}
	b := newDisk(t)
	b.recorded(one)
	b.must(os.Chmod(filepath.Join(b.path, "ro"), 0o555))
	defer os.Chmod(filepath.Join(b.path, "ro"), 0o755)
	err := b.apply(one, tree{"ro/f": text("two")}, ApplyOptions{})
	if err == nil || !strings.Contains(err.Error(), `"ro/f"`) {
		t.Fatal(err)
	}
	b.wantFiles(one)
}

func TestInterruptedCheckoutIsCompletedBySecondRun(t *testing.T) {
	one, two := tree{}, tree{}
	for i := range 200 {
		p := fmt.Sprintf("d%d/f%d", i%7, i)
		one[p], two[p] = text("one"), text("two")
		if i%5 == 0 {
			delete(two, p)
		}
		if i%11 == 0 {
			delete(one, p)
		}
	}
	b := newMem(t)
	b.recorded(one)
	for stop := 1; ; stop += 37 {
		ctx, cancel := context.WithCancel(context.Background())
		left := stop
		err := Apply(ctx, b.root, b.m, plan(one, two), two, ApplyOptions{Workers: 1, Progress: func(files int, _ int64) {
			if left -= files; left == 0 {
				cancel()
			}
		}})
		cancel()
		for p, l := range b.files() {
			if l != one[p] && l != two[p] {
				t.Fatalf("%q holds %q", p, l.data)
			}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		b.reload()
	}
	b.wantFiles(two)
	b.want(Options{})
}

// unrecorded is what on disk is neither in one state nor in the other.
func unrecorded(disk, one, two tree) tree {
	out := tree{}
	for p, l := range disk {
		if l != one[p] && l != two[p] && l.data != "" {
			out[p] = l
		}
	}
	return out
}

// TestApplyLosesNothing checks out random states over random edits: either all paths of the plan are then as wanted, or
// nothing at all was touched, and no byte that is recorded nowhere is lost.
func TestApplyLosesNothing(t *testing.T) {
	refused := 0
	for seed := range uint64(600) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			e := &editor{newMem(t), rand.New(rand.NewPCG(seed, 2))}
			one := e.someTree()
			e.recorded(one)
			for range e.rng.IntN(3) {
				e.edit()
			}
			two := e.someTree()
			for p, l := range one { // much stays
				if _, ok := two[p]; !ok && e.rng.IntN(2) == 0 && !overlaps(two, p) {
					two[p] = l
				}
			}
			before := e.disk()
			err := e.apply(one, two, ApplyOptions{Workers: 1 + e.rng.IntN(2), InMemory: int64(1 + e.rng.IntN(3))})
			after := e.disk()
			switch {
			case errors.Is(err, ErrWouldLose):
				refused++
				if !maps.Equal(before, after) {
					t.Fatalf("%v, but\n  %v became\n  %v", err, before, after)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			for p, l := range unrecorded(before, one, two) {
				if now := after[p]; !strings.HasPrefix(now.data, l.data) { // a beginning may be completed
					t.Errorf("%q held %q and now %q", p, l.data, now.data)
				}
			}
			for _, a := range plan(one, two) {
				now, ok := after[a.Path]
				if a.Op == Remove && ok || a.Op == Write && now != two[a.Path] {
					t.Errorf("%v of %q left %v", a.Op, a.Path, now)
				}
			}
			e.reload()
			e.want(Options{}, e.naive(two, false)...)
		})
	}
	if refused < 50 || refused > 500 {
		t.Errorf("%d of 600 were refused: the test has lost its balance", refused)
	}
}

func overlaps(t tree, p string) bool {
	for q := range t {
		if beneath(p, q) || beneath(q, p) {
			return true
		}
	}
	return false
}

// plainDir is of a file system that cannot exchange names.
type plainDir struct{ vfs.Dir }

func (d plainDir) OpenDir(name string) (vfs.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	return plainDir{sub}, err
}
func (d plainDir) Rename(from string, to vfs.Dir, name string) error {
	return d.Dir.Rename(from, to.(plainDir).Dir, name)
}
func (plainDir) Exchange(string, string) error { return errors.ErrUnsupported }

func TestReplacingWhereNamesCannotBeExchanged(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{})
	b.root = plainDir{b.root}
	one, two := tree{"a": text("1"), "d/b": text("1")}, tree{"a": text("2"), "d/b": text("2")}
	b.must(b.apply(tree{}, one, ApplyOptions{}))
	b.must(b.apply(one, two, ApplyOptions{}))
	b.wantFiles(two)
}
