package vfs

import (
	"os"
	"sync"
	"testing"
)

// BenchmarkTree works on the tree that OXY_BENCH_TREE names, on two goroutines. "walk" opens every directory, reads it
// and describes every entry, what a first status does; "known" spares the reading, for a manifest lists the names;
// "lstat" is the describing alone.
func BenchmarkTree(b *testing.B) {
	root := os.Getenv("OXY_BENCH_TREE")
	if root == "" {
		b.Skip("OXY_BENCH_TREE names no tree")
	}
	tree := listTree(b, root)
	n := 0
	for _, d := range tree {
		n += len(d.entries)
	}
	run := func(name string, visit func(b *testing.B, d *listedDir)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var wait sync.WaitGroup
				for half := range 2 {
					wait.Go(func() {
						for i := half; i < len(tree); i += 2 {
							visit(b, tree[i])
						}
					})
				}
				wait.Wait()
			}
			b.ReportMetric(float64(n), "lstats/op")
		})
	}
	run("walk", func(b *testing.B, d *listedDir) {
		open := reopen(b, d)
		defer open.Close()
		entries, err := open.ReadDir(nil)
		if err != nil {
			b.Error(err)
		}
		describe(b, open, entries)
	})
	run("known", func(b *testing.B, d *listedDir) {
		open := reopen(b, d)
		defer open.Close()
		describe(b, open, d.entries)
	})
	run("lstat", func(b *testing.B, d *listedDir) { describe(b, d.open, d.entries) })
}

type listedDir struct {
	parent  Dir
	name    string
	open    Dir
	entries []DirEntry
}

func listTree(b *testing.B, root string) (tree []*listedDir) {
	d, err := OS().OpenDir(root)
	if err != nil {
		b.Fatal(err)
	}
	tree = []*listedDir{{open: d}}
	for i := 0; i < len(tree); i++ {
		d := tree[i]
		b.Cleanup(func() { d.open.Close() })
		if d.entries, err = d.open.ReadDir(nil); err != nil {
			b.Fatal(err)
		}
		for _, e := range d.entries {
			if e.Kind == KindDir {
				sub := &listedDir{parent: d.open, name: e.Name}
				sub.open = reopen(b, sub)
				tree = append(tree, sub)
			}
		}
	}
	return tree[1:] // the root has no parent to open it from
}

func reopen(b *testing.B, d *listedDir) Dir {
	open, err := d.parent.OpenDir(d.name)
	if err != nil {
		b.Fatal(err)
	}
	return open
}

func describe(b *testing.B, d Dir, entries []DirEntry) {
	var st Stat
	for i := range entries {
		if err := d.Lstat(entries[i].Name, &st); err != nil {
			b.Error(err)
		}
	}
}
