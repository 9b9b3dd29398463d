package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/zeebo/blake3"
)

// leaf is a file or link of a test's tree.
type leaf struct {
	data string
	kind Kind
	exec bool
}

func (l leaf) hash() change.Hash { return blake3.Sum256([]byte(l.data)) }

// tree is a state: what a path holds.
type tree map[string]leaf

func text(s string) leaf { return leaf{data: s} }

func (t tree) paths() []string { return slices.Sorted(maps.Keys(t)) }

// Content and Stream make a tree the source of a checkout's contents.
func (t tree) Content(dst []byte, a *Action) ([]byte, error) {
	l, ok := t[a.Path]
	if !ok {
		return nil, errors.New("no such content")
	}
	return append(dst, l.data...), nil
}

func (t tree) Stream(w io.Writer, a *Action) error {
	for rest := t[a.Path].data; rest != ""; {
		n := min(len(rest), 3)
		if _, err := io.WriteString(w, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// box is a working copy under test.
type box struct {
	t    testing.TB
	fs   vfs.FS
	path string
	root vfs.Dir
	m    *Manifest
	now  int64 // the clock of a Mem
}

const memStart = int64(1_700_000_000_000_000_000)

// newMem is a working copy in memory whose clock stands still until pass is called.
func newMem(t testing.TB) *box {
	mem := vfs.NewMem()
	b := &box{t: t, fs: mem, path: "/w", now: memStart}
	mem.SetClock(func() int64 { return b.now })
	b.open()
	return b
}

// newDisk is one in a directory of the disk.
func newDisk(t testing.TB) *box {
	b := &box{t: t, fs: vfs.OS(), path: t.TempDir()}
	b.open()
	return b
}

func (b *box) open() {
	b.t.Helper()
	b.must(b.fs.MkdirAll(b.path+"/.oxy/wc", 0o777))
	root, err := b.fs.OpenDir(b.path)
	b.must(err)
	b.root = root
	b.t.Cleanup(func() { root.Close() })
}

func (b *box) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) meta() string { return filepath.Join(b.path, ".oxy", "wc") }

// pass lets time pass on a Mem, long enough for all to be settled.
func (b *box) pass() { b.now += 1_000_000_007 }

func (b *box) name(path string) string { return b.path + "/" + path }

// put writes a file in place, as an editor does, or makes a link.
func (b *box) put(path string, l leaf) {
	b.t.Helper()
	b.must(b.fs.MkdirAll(filepath.Dir(b.name(path)), 0o777))
	dir, name := split(path)
	d, err := openChain(b.root, dir)
	b.must(err)
	defer closeChain(d, b.root)
	if l.kind == Link {
		b.must(b.fs.RemoveAll(b.name(path)))
		b.must(d.Symlink(l.data, name))
		return
	}
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	b.must(err)
	_, err = f.Write([]byte(l.data))
	b.must(err)
	perm := fs.FileMode(0o644)
	if l.exec {
		perm = 0o755
	}
	b.must(f.Chmod(perm))
	b.must(f.Close())
}

func (b *box) remove(path string) {
	b.t.Helper()
	b.must(b.fs.RemoveAll(b.name(path)))
}

func (b *box) fill(t tree) {
	b.t.Helper()
	for _, p := range t.paths() {
		b.put(p, t[p])
	}
}

// base makes the manifest of a state, nothing in it known to be on disk.
func (b *box) base(t tree) {
	b.t.Helper()
	m, err := Build(b.fs, b.meta(), 1, [32]byte{1}, func(yield func(string, Entry) bool) {
		for path, l := range t {
			if !yield(path, Entry{Hash: l.hash(), Size: int64(len(l.data)), Kind: l.kind, Exec: l.exec}) {
				return
			}
		}
	})
	b.must(err)
	b.m = m
}

// recorded writes a tree, makes it the base state and lets the manifest learn it all.
func (b *box) recorded(t tree) {
	b.t.Helper()
	b.fill(t)
	b.base(t)
	b.pass()
	b.scan(Options{})
	b.reload()
}

func (b *box) reload() {
	b.t.Helper()
	b.must(b.m.Save())
	b.must(b.m.Close())
	m, err := Load(b.fs, b.meta())
	b.must(err)
	b.m = m
}

func (b *box) scan(opts Options) *Result {
	b.t.Helper()
	res, err := Scan(context.Background(), b.root, b.m, opts)
	b.must(err)
	return res
}

// status is a scan's result in one line each.
func (b *box) status(opts Options) []string {
	b.t.Helper()
	return lines(b.scan(opts))
}

func lines(res *Result) (out []string) {
	for _, c := range res.Changed {
		out = append(out, fmt.Sprintf("%s %s", c.Status, c.Path))
	}
	for kind, list := range map[string][]string{
		"untracked": res.Untracked, "ignored": res.Ignored, "nested": res.Nested, "special": res.Special,
	} {
		for _, p := range list {
			out = append(out, kind+" "+p)
		}
	}
	for _, err := range res.Errors {
		out = append(out, "error "+err.Error())
	}
	slices.Sort(out)
	return out
}

func (b *box) want(opts Options, want ...string) {
	b.t.Helper()
	got := b.status(opts)
	want = slices.Clone(want)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.t.Fatalf("got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// disk reads the whole working copy, naively. Directories are in it as "dir/".
func (b *box) disk() tree {
	b.t.Helper()
	out := tree{}
	b.read(b.root, "", out)
	return out
}

func (b *box) read(d vfs.Dir, path string, out tree) {
	b.t.Helper()
	names, err := d.ReadDir(nil)
	b.must(err)
	for _, n := range names {
		p := join(path, n.Name)
		if p == ".oxy" {
			continue
		}
		var st vfs.Stat
		b.must(d.Lstat(n.Name, &st))
		switch st.Kind {
		case vfs.KindDir:
			out[p+"/"] = leaf{}
			sub, err := d.OpenDir(n.Name)
			b.must(err)
			b.read(sub, p, out)
			sub.Close()
		case vfs.KindLink:
			target, err := d.Readlink(n.Name)
			b.must(err)
			out[p] = leaf{data: target, kind: Link}
		default:
			data, err := b.fs.ReadFile(b.name(p), 1<<30)
			b.must(err)
			out[p] = leaf{data: string(data), exec: st.Exec}
		}
	}
}

// plan is the steps from one state to another.
func plan(from, to tree) (out []Action) {
	for _, p := range from.paths() {
		if _, ok := to[p]; !ok {
			out = append(out, Action{Path: p, Op: Remove})
		}
	}
	for _, p := range to.paths() {
		was, ok := from[p]
		now := to[p]
		a := Action{Path: p, Kind: now.kind, Exec: now.exec, Size: int64(len(now.data)), Hash: now.hash()}
		switch {
		case ok && was == now:
			continue
		case ok && was.kind == now.kind && was.data == now.data:
			a.Op = Chmod
		}
		out = append(out, a)
	}
	return out
}
