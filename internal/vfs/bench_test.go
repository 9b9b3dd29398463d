package vfs

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkWalk opens every directory of the tree that OXY_BENCH_TREE names, reads it and describes every entry, on two
// goroutines.
func BenchmarkWalk(b *testing.B) {
	root := os.Getenv("OXY_BENCH_TREE")
	if root == "" {
		b.Skip("OXY_BENCH_TREE names no tree")
	}
	var lstats atomic.Int64
	b.ReportAllocs()
	for b.Loop() {
		lstats.Store(0)
		d, err := OS().OpenDir(root)
		if err != nil {
			b.Fatal(err)
		}
		w := walker{slots: make(chan struct{}, 1)}
		w.walk(b, d)
		w.wait.Wait()
		lstats.Add(w.lstats.Load())
	}
	b.ReportMetric(float64(lstats.Load()), "lstats/op")
}

type walker struct {
	slots  chan struct{}
	wait   sync.WaitGroup
	lstats atomic.Int64
}

func (w *walker) walk(b *testing.B, d Dir) {
	defer d.Close()
	entries, err := d.ReadDir(nil)
	if err != nil {
		b.Error(err)
		return
	}
	w.lstats.Add(int64(len(entries)))
	var st Stat
	for _, e := range entries {
		if err := d.Lstat(e.Name, &st); err != nil {
			b.Error(err)
		}
		if e.Kind != KindDir {
			continue
		}
		sub, err := d.OpenDir(e.Name)
		if err != nil {
			b.Error(err)
			continue
		}
		select {
		case w.slots <- struct{}{}:
			w.wait.Go(func() { w.walk(b, sub); <-w.slots })
		default:
			w.walk(b, sub)
		}
	}
}
