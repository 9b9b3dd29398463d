package worktree

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// benchTree is a large source tree, named by OXY_BENCH_TREE; it is only read.
func benchTree(b *testing.B) (vfs.FS, vfs.Dir, *Manifest) {
	tree := os.Getenv("OXY_BENCH_TREE")
	if tree == "" {
		b.Skip("OXY_BENCH_TREE names no tree")
	}
	fsys := vfs.OS()
	root, err := fsys.OpenDir(tree)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	m, err := New(fsys, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	// Not by a scan: Debian's own .gitignore ignores everything.
	var paths []string
	filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path[len(tree)+1:])
		}
		return err
	})
	files, errs, err := Read(ctx, root, m, paths, ReadOptions{}, func(int, *ReadItem) error { return nil })
	if err != nil || len(errs) > 0 {
		b.Fatal(err, errs)
	}
	m, err = Build(fsys, m.dir, 1, [32]byte{1}, func(yield func(string, Entry) bool) {
		for _, f := range files {
			if !yield(f.Path, f.Entry) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d files", m.Len())
	return fsys, root, m
}

func BenchmarkScanClean(b *testing.B) {
	fsys, root, m := benchTree(b)
	ctx := context.Background()
	if _, err := Scan(ctx, root, m, Options{}); err != nil {
		b.Fatal(err)
	}
	if err := m.Save(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m, err := Load(fsys, m.dir)
		if err != nil {
			b.Fatal(err)
		}
		res, err := Scan(ctx, root, m, Options{})
		if err != nil || !res.Clean() || res.Read > 0 || m.count > 0 {
			b.Fatal(err, res, m.count)
		}
		m.Close()
	}
}

// BenchmarkApplyOneFile is a switch to a state one file away, loading and saving included.
func BenchmarkApplyOneFile(b *testing.B) {
	fsys, _, m := benchTree(b)
	b.StopTimer()
	dir := b.TempDir()
	root, err := fsys.OpenDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	states := []tree{{"kernel/sched/core.c": text("one\n")}, {"kernel/sched/core.c": text("three\n")}}
	old := tree{}
	if err := Apply(context.Background(), root, m, plan(old, states[0]), states[0], ApplyOptions{}); err != nil {
		b.Fatal(err)
	}
	if err := m.Save(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.StartTimer()
	for i := 0; b.Loop(); i++ {
		m, err := Load(fsys, m.dir)
		if err != nil {
			b.Fatal(err)
		}
		from, to := states[i%2], states[1-i%2]
		if err := Apply(context.Background(), root, m, plan(from, to), to, ApplyOptions{}); err != nil {
			b.Fatal(err)
		}
		m.SetBase(uint32(i), [32]byte{byte(i)})
		if err := m.Save(); err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}

// BenchmarkFold is the writing of a whole new manifest, once in some thousand changes.
func BenchmarkFold(b *testing.B) {
	_, _, m := benchTree(b)
	for b.Loop() {
		m.SetBase(m.state+1, m.id)
		if err := m.fold(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadAndHash reads the whole tree as a first commit does.
func BenchmarkReadAndHash(b *testing.B) {
	_, root, m := benchTree(b)
	var paths []string
	var size int64
	if err := m.All(func(path string, e *Entry) bool {
		paths = append(paths, path)
		size += e.Size
		return true
	}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		_, errs, err := Read(context.Background(), root, m, paths, ReadOptions{}, func(int, *ReadItem) error { return nil })
		if err != nil || len(errs) > 0 {
			b.Fatal(err, errs)
		}
	}
}

// filler gives contents of the right size without reading any.
type filler []byte

func (f filler) Content(dst []byte, a *Action) ([]byte, error) {
	return append(dst, f[:a.Size]...), nil
}
func (f filler) Stream(io.Writer, *Action) error { return io.ErrUnexpectedEOF }

// BenchmarkCheckOutAll writes a file of at most 4 KiB for each in the tree, and saves the manifest.
func BenchmarkCheckOutAll(b *testing.B) {
	fsys, _, m := benchTree(b)
	var todo []Action
	if err := m.All(func(path string, e *Entry) bool {
		if e.Kind == File {
			todo = append(todo, Action{Path: path, Size: min(e.Size, 4096), Exec: e.Exec, Hash: e.Hash})
		}
		return true
	}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		root, err := fsys.OpenDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		m, err := New(fsys, dir+"/.oxy/wc")
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := Apply(context.Background(), root, m, todo, make(filler, 4096), ApplyOptions{}); err != nil {
			b.Fatal(err)
		}
		if err := m.Save(); err != nil {
			b.Fatal(err)
		}
		root.Close()
	}
}
