package repo

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// thorough runs every fault, cut and damage; otherwise the tests take a part of them that fits a busy machine.
var thorough = flag.Bool("thorough", false, "try every fault, and many more power cuts")

// memRoot is the working copy's root in the tests that run in memory.
const memRoot = "/w"

func memOptions(fsys vfs.FS) Options { return Options{FS: fsys, Env: person} }

// newMem is an empty file system on which seconds pass between any two writes: stats are to be trusted.
func newMem() *vfs.Mem {
	m := vfs.NewMem()
	var now atomic.Int64
	now.Store(1_700_000_000_000_000_000)
	m.SetClock(func() int64 { return now.Add(3_000_000_000) })
	return m
}

// lucky draws, of all outcomes of a crash, the one in which nothing is lost.
type lucky struct{}

func (lucky) Uint64() uint64 { return 0x80000000_00000001 }

// copyOf is m as it stands, with everything durable.
func copyOf(m *vfs.Mem) *vfs.Mem { return m.Crash(rand.New(lucky{})) }

func put(t testing.TB, fsys vfs.FS, path, content string) { putAs(t, fsys, path, content, 0o666) }

func putAs(t testing.TB, fsys vfs.FS, path, content string, perm fs.FileMode) {
	t.Helper()
	name := filepath.Join(memRoot, path)
	check(t, fsys.MkdirAll(filepath.Dir(name), 0o777))
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	check(t, err)
	_, err = f.Write([]byte(content))
	check(t, err)
	check(t, f.Chmod(perm&^0o022))
	check(t, f.Close())
}

func drop(t testing.TB, fsys vfs.FS, path string) {
	t.Helper()
	check(t, fsys.Remove(filepath.Join(memRoot, path)))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// memDisk is disk for any file system. What a checkout that failed left under names of its own is no part of it.
func memDisk(t testing.TB, fsys vfs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	d, err := fsys.OpenDir(memRoot)
	check(t, err)
	memDiskIn(t, d, "", out)
	return out
}

func memDiskIn(t testing.TB, d vfs.Dir, at string, out map[string]string) {
	t.Helper()
	defer d.Close()
	entries, err := d.ReadDir(nil)
	check(t, err)
	for _, e := range entries {
		path := at + e.Name
		switch {
		case path == DirName, strings.HasPrefix(e.Name, ".oxy~"):
		case e.Kind == vfs.KindDir:
			sub, err := d.OpenDir(e.Name)
			check(t, err)
			if sub.Lstat(DirName, new(vfs.Stat)) == nil { // a repository of its own
				check(t, sub.Close())
				continue
			}
			memDiskIn(t, sub, path+"/", out)
		case e.Kind == vfs.KindLink:
			target, err := d.Readlink(e.Name)
			check(t, err)
			out[path] = "link " + target
		default:
			f, err := d.OpenFile(e.Name, os.O_RDONLY, 0)
			check(t, err)
			var st vfs.Stat
			check(t, f.Stat(&st))
			b := make([]byte, st.Size)
			if st.Size > 0 {
				_, err = f.ReadAt(b, 0)
				check(t, err)
			}
			check(t, f.Close())
			mode := "file "
			if st.Exec {
				mode = "exec "
			}
			out[path] = mode + string(b)
		}
	}
}

// moment is a state that was acknowledged and what it holds.
type moment struct {
	state StateRef
	files map[string]string
}

// seen is all that a person sees of a repository.
type seen struct {
	View   string // bookmarks, tags and so on
	Ops    uint32
	Status string
	Config string
	Disk   map[string]string
}

// world is a repository in memory with what was acknowledged in it.
type world struct {
	mem     *vfs.Mem
	moments []moment
}

// look opens what is left and sees it all: each moment reads back, and no file stays open.
func look(t testing.TB, mem *vfs.Mem, moments []moment) seen {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	if err != nil {
		t.Fatalf("it does not open: %v", err)
	}
	s := lookAt(t, r, moments)
	s.Disk = memDisk(t, mem)
	check(t, r.Close())
	if n := mem.Handles(); n != 0 {
		t.Fatalf("%d files stay open", n)
	}
	return s
}

func lookAt(t testing.TB, r *Repo, moments []moment) seen {
	t.Helper()
	var s seen
	for _, m := range moments {
		got, err := r.stateRef(m.state.Num)
		check(t, err)
		if got != m.state {
			t.Fatalf("state %d is another one", m.state.Num)
		}
		if now := stored(t, r, m.state); !maps.Equal(now, m.files) {
			t.Fatalf("state %d (-wanted +stored)\n%s", m.state.Num, cmp.Diff(m.files, now))
		}
	}
	v, err := r.view()
	check(t, err)
	s.View = fmt.Sprintf("on %q, base %d, bookmarks %v, tags %v, checkpoints %v", v.Current, v.Base, v.Bookmarks, v.Tags, v.Checkpoints)
	s.Ops = r.store.NumOps()
	st, err := r.Status(context.Background(), StatusOptions{})
	check(t, err)
	if len(st.Problems) > 0 {
		t.Fatal(st.Problems)
	}
	s.Status = statusText(st)
	values, err := r.ConfigList()
	check(t, err)
	s.Config = fmt.Sprint(values)
	n := 0
	check(t, r.Log(LogOptions{}, func(*ChangeInfo) error { n++; return nil }))
	if uint64(n) != st.Base.Len {
		t.Fatalf("the log has %d changes, the base %d", n, st.Base.Len)
	}
	return s
}

func statusText(st *Status) string {
	var b strings.Builder
	for _, f := range st.Files {
		fmt.Fprintf(&b, "%s %s", f.What, f.Path())
		if f.Old != nil {
			fmt.Fprintf(&b, " from %s", f.Old.Path)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "untracked %q nested %q special %q", st.Untracked, st.Nested, st.Special)
	return b.String()
}

// kept is what the last operation took away and the store keeps.
func kept(t testing.TB, r *Repo) (out []string) {
	t.Helper()
	v, err := r.view()
	check(t, err)
	list, err := r.asideOf(v.Kept[keptDiscarded])
	check(t, err)
	for _, a := range list {
		var b []byte
		if a.Size > 0 {
			b, err = r.store.Blob(nil, a.Hash)
			check(t, err)
		}
		out = append(out, string(b))
	}
	return out
}

// at is a fixed time: the same commands give the same changes.
func at(sec int64) *change.Time { return &change.Time{Sec: sec} }

func (w *world) commit(t testing.TB, message string) {
	t.Helper()
	r, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	res, err := r.Commit(context.Background(), CommitOptions{Message: message, Time: at(int64(1000 + len(w.moments)))})
	check(t, err)
	w.moments = append(w.moments, moment{res.State, memDisk(t, w.mem)})
	if now := stored(t, r, res.State); !maps.Equal(now, w.moments[len(w.moments)-1].files) {
		t.Fatalf("recorded %q", now)
	}
	check(t, r.Close())
}

func (w *world) with(t testing.TB, fn func(r *Repo) error) {
	t.Helper()
	with(t, w.mem, fn)
}

func with(t testing.TB, fsys vfs.FS, fn func(r *Repo) error) {
	t.Helper()
	r, err := Open(memRoot, memOptions(fsys))
	check(t, err)
	check(t, fn(r))
	check(t, r.Close())
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

var binary5000 = "bin\x00" + strings.Repeat("z", 5000)

// born is a repository without a change, and files to record.
func born(t testing.TB) *world {
	t.Helper()
	w := &world{mem: newMem()}
	check(t, w.mem.MkdirAll(memRoot, 0o777))
	put(t, w.mem, "a", lines(0, 30))
	put(t, w.mem, "d/b", lines(0, 5))
	put(t, w.mem, "d/bin", binary5000)
	put(t, w.mem, "empty", "")
	putAs(t, w.mem, "run.sh", "#!/bin/sh\n", 0o777)
	d, err := w.mem.OpenDir(memRoot)
	check(t, err)
	check(t, d.Symlink("d/b", "ln"))
	check(t, d.Close())
	r, err := Init(memRoot, memOptions(w.mem))
	check(t, err)
	check(t, r.Close())
	return w
}

// settled is a repository with a few changes, a tag and a bookmark, and a clean working copy.
func settled(t testing.TB) *world {
	t.Helper()
	w := born(t)
	w.commit(t, "first")
	put(t, w.mem, "a", lines(0, 12)+"other\n"+lines(14, 33))
	put(t, w.mem, "d/sub/c", lines(3, 9))
	drop(t, w.mem, "ln")
	w.commit(t, "second")
	w.with(t, func(r *Repo) error { return r.SetTag("v1", w.moments[0].state, false) })
	w.with(t, func(r *Repo) error { return r.SetBookmark("side", w.moments[1].state, false) })
	put(t, w.mem, "a", "top\n"+lines(0, 12)+"another\n"+lines(16, 33))
	put(t, w.mem, "d/b", lines(1, 5))
	putAs(t, w.mem, "run.sh", "#!/bin/sh\n", 0o666)
	w.commit(t, "third")
	return w
}

// scribble makes unrecorded edits of all kinds.
func scribble(t testing.TB, fsys vfs.FS) {
	t.Helper()
	put(t, fsys, "a", lines(4, 12)+"mine\n"+lines(16, 34))
	put(t, fsys, "d/bin", binary5000+"more")
	put(t, fsys, "new", "unrecorded\n")
	put(t, fsys, "more/new", lines(40, 44))
	drop(t, fsys, "d/sub/c")
	putAs(t, fsys, "run.sh", "#!/bin/sh\n", 0o777)
}

// unrecorded lists contents of the working copy that its base has not.
func unrecorded(t testing.TB, mem *vfs.Mem) []string {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	check(t, err)
	base, err := r.Base()
	check(t, err)
	have := slices.Collect(maps.Values(stored(t, r, base)))
	check(t, r.Close())
	var out []string
	for _, content := range memDisk(t, mem) {
		if !slices.Contains(have, content) {
			out = append(out, content)
		}
	}
	return out
}

// checkNothingLost looks for contents that were on disk: they must be there still, or recorded, or kept aside.
func checkNothingLost(t testing.TB, mem *vfs.Mem, contents []string) {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	check(t, err)
	base, err := r.Base()
	check(t, err)
	have := slices.Collect(maps.Values(memDisk(t, mem)))
	have = append(have, slices.Collect(maps.Values(stored(t, r, base)))...)
	for i := range have {
		have[i] = have[i][5:]
	}
	have = append(have, kept(t, r)...)
	check(t, r.Close())
	for _, c := range contents {
		if !slices.ContainsFunc(have, func(h string) bool { return bytes.Equal([]byte(h), []byte(c[5:])) }) {
			t.Fatalf("lost: %.40q", c)
		}
	}
}

// syncFiles makes the working copy durable. Without it a cut may leave a working file of its size and time with other
// bytes, which no stat tells from what was recorded.
func syncFiles(t testing.TB, mem *vfs.Mem) {
	t.Helper()
	dirs := map[string]bool{memRoot: true}
	for path, content := range memDisk(t, mem) {
		name := filepath.Join(memRoot, path)
		for d := filepath.Dir(name); d != memRoot; d = filepath.Dir(d) {
			dirs[d] = true
		}
		if content[:4] == "link" {
			continue
		}
		f, err := mem.OpenFile(name, os.O_RDWR, 0)
		check(t, err)
		check(t, f.Sync())
		check(t, f.Close())
	}
	for d := range dirs {
		check(t, mem.SyncDir(d))
	}
}
