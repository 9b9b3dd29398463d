package store

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// benchTree names the tree that the benchmarks of real files read; they are skipped without it.
const benchTree = "OXY_BENCH_TREE"

func treeFiles(b *testing.B) []string {
	b.Helper()
	root := os.Getenv(benchTree)
	if root == "" {
		b.Skip(benchTree + " is not set")
	}
	var names []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return names
}

func newDisk(b *testing.B) *Store {
	b.Helper()
	dir := filepath.Join(b.TempDir(), ".oxy")
	if err := Create(vfs.OS(), dir); err != nil {
		b.Fatal(err)
	}
	s, err := Open(vfs.OS(), dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkTree reads, hashes and commits all files of a tree with two goroutines, then reads all contents back.
func BenchmarkTree(b *testing.B) {
	names := treeFiles(b)
	for b.Loop() {
		s := newDisk(b)
		begun := time.Now()
		tx, err := s.Begin(nil)
		if err != nil {
			b.Fatal(err)
		}
		hashes := make([]change.Hash, len(names))
		var next, total atomic.Int64
		eachCore(func() {
			p := tx.Packer()
			for {
				from := int(next.Add(64)) - 64
				for i := from; i < min(from+64, len(names)); i++ {
					data, err := vfs.OS().ReadFile(names[i], 1<<40)
					if err != nil {
						b.Error(err)
						return
					}
					total.Add(int64(len(data)))
					hashes[i] = hashOf(data)
					if err := p.Put(hashes[i], data); err != nil {
						b.Error(err)
						return
					}
				}
				if from >= len(names) {
					return
				}
			}
		})
		put := time.Since(begun)
		if _, err := tx.Commit(Op{}, nil); err != nil {
			b.Fatal(err)
		}
		commit := time.Since(begun)
		next.Store(0)
		begun = time.Now()
		eachCore(func() {
			var buf []byte
			for {
				from := int(next.Add(64)) - 64
				for i := from; i < min(from+64, len(names)); i++ {
					var err error
					if buf, err = s.Blob(buf[:0], hashes[i]); err != nil {
						b.Error(err)
						return
					}
				}
				if from >= len(names) {
					return
				}
			}
		})
		b.ReportMetric(put.Seconds(), "s/put")
		b.ReportMetric(commit.Seconds(), "s/commit")
		b.ReportMetric(time.Since(begun).Seconds(), "s/read")
		for _, name := range []string{"head", "index"} {
			if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
				b.Fatal(err)
			}
		}
		begun = time.Now()
		again, err := Open(vfs.OS(), s.dir)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begun).Seconds(), "s/rebuild")
		_ = again.Close()
		b.ReportMetric(float64(total.Load())/1e6, "MB")
		b.ReportMetric(float64(s.now.Load().end.off())/1e6, "MB/log")
		b.ReportMetric(float64(s.NumBlobs()), "blobs")
	}
}

func eachCore(f func()) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(f)
	}
	wg.Wait()
}

// BenchmarkLevels compares levels of compression on every eighth file of a tree, large alone and small packed.
func BenchmarkLevels(b *testing.B) {
	names := treeFiles(b)
	var single, packed, alone [][]byte
	var pack []byte
	for i := 0; i < len(names); i += 8 * 64 {
		for _, name := range names[i:min(i+64, len(names))] {
			data, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			if len(data) >= smallBlob {
				single = append(single, data)
				continue
			}
			alone = append(alone, data)
			if pack = append(pack, data...); len(pack) >= packSize {
				packed = append(packed, pack)
				pack = nil
			}
		}
	}
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression} {
		for name, set := range map[string][][]byte{"single": single, "packed": packed, "small alone": alone} {
			b.Run(fmt.Sprint(level, "/", name), func(b *testing.B) {
				e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
					zstd.WithEncoderCRC(false), zstd.WithWindowSize(maxRaw))
				if err != nil {
					b.Fatal(err)
				}
				raw, stored := 0, 0
				var buf []byte
				for b.Loop() {
					for _, data := range set {
						buf = e.EncodeAll(data, buf[:0])
						raw += len(data)
						stored += len(buf)
					}
				}
				b.SetBytes(int64(raw / b.N))
				b.ReportMetric(float64(raw)/float64(stored), "ratio")
			})
		}
	}
}

// BenchmarkCommitOne commits one small change beside 100 000 tags.
func BenchmarkCommitOne(b *testing.B) {
	for _, tags := range []int{0, 100_000} {
		b.Run(fmt.Sprint(tags, " tags"), func(b *testing.B) {
			s := newDisk(b)
			if err := appendOne(s, "main"); err != nil {
				b.Fatal(err)
			}
			v := NewView()
			for i := range tags {
				v.Tags[fmt.Sprint("refs/tags/v", i)] = 0
			}
			tx, err := s.Begin(nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tx.Commit(Op{View: v}, nil); err != nil {
				b.Fatal(err)
			}
			before := s.now.Load().end
			for b.Loop() {
				tx, err := s.Begin(nil)
				if err != nil {
					b.Fatal(err)
				}
				n, err := tx.PutState(State{Parent: 0, Changes: []uint32{0}, Pos: 1})
				if err != nil {
					b.Fatal(err)
				}
				v, err := s.View()
				if err != nil {
					b.Fatal(err)
				}
				next := *v
				next.Bookmarks = maps.Clone(v.Bookmarks)
				next.Bookmarks["main"] = n
				if _, err := tx.Commit(Op{View: &next}, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.now.Load().end-before)/float64(b.N), "B/commit")
		})
	}
}

// BenchmarkOpen opens a store of a hundred thousand changes, and looks one up.
func BenchmarkOpen(b *testing.B) {
	s := newDisk(b)
	for range 10 {
		tx, err := s.Begin(nil)
		if err != nil {
			b.Fatal(err)
		}
		for range 10_000 {
			n := tx.changes
			if _, err := tx.PutChange(Record{ID: change.ID(hashOf(fmt.Append(nil, n)))}, nil, 0); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := tx.Commit(Op{}, nil); err != nil {
			b.Fatal(err)
		}
	}
	id := change.ID(hashOf([]byte("77777")))
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			again, err := Open(vfs.OS(), s.dir)
			if err != nil {
				b.Fatal(err)
			}
			if n, ok := again.FindChange(id); !ok || n != 77777 {
				b.Fatal(n, ok)
			}
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			s.FindChange(id)
		}
	})
	b.Run("id", func(b *testing.B) {
		for b.Loop() {
			s.ChangeID(4711)
		}
	})
	b.Run("deps", func(b *testing.B) {
		for b.Loop() {
			s.Deps(4711)
		}
	})
}

// BenchmarkStream cuts and stores a large content that does not compress.
func BenchmarkStream(b *testing.B) {
	data := make([]byte, 64<<20)
	rng := testRand(1)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s := newDisk(b)
		tx, err := s.Begin(nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := tx.PutStream(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
		if err := tx.Abort(); err != nil {
			b.Fatal(err)
		}
	}
}
