package history

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/refs"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// openReal opens the repository that OXY_GIT_REPO names. Benchmarks alone use it.
func openReal(b *testing.B) (*odb.DB, []object.ID) {
	b.Helper()
	path := os.Getenv("OXY_GIT_REPO")
	if path == "" {
		b.Skip("OXY_GIT_REPO names no repository")
	}
	db, err := odb.Open(vfs.OS(), path, odb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	list, err := refs.Read(vfs.OS(), refs.Place{GitDir: db.GitDir, CommonDir: db.CommonDir, Format: db.Format})
	if err != nil {
		b.Fatal(err)
	}
	r := db.NewReader()
	var tips []object.ID
	for _, ref := range list.Refs {
		if !strings.HasPrefix(ref.Name, "refs/heads/") && !strings.HasPrefix(ref.Name, "refs/tags/") {
			continue
		}
		kind, raw, err := r.View(ref.ID)
		for err == nil && kind == object.TagKind {
			var t object.Tag
			if t, err = object.ParseTag(db.Format, raw); err == nil {
				ref.ID = t.Object
				kind, raw, err = r.View(t.Object)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
		if kind == object.CommitKind {
			tips = append(tips, ref.ID)
		}
	}
	return db, tips
}

func BenchmarkWalk(b *testing.B) {
	db, tips := openReal(b)
	for b.Loop() {
		o, err := Walk(db.NewReader(), db.Format, tips, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(o.Len()), "commits")
	}
	o, _ := Walk(db.NewReader(), db.Format, tips, nil, nil)
	b.ReportMetric(float64(o.Len()*b.N)/b.Elapsed().Seconds(), "commits/s")
}

func benchmarkRead(b *testing.B, opt ReadOptions) {
	db, tips := openReal(b)
	o, err := Walk(db.NewReader(), db.Format, tips, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	var rows, blobs, bytes, bad int
	b.ResetTimer()
	for b.Loop() {
		rows, blobs, bytes, bad = 0, 0, 0, 0
		p := Read(context.Background(), db, o, 0, opt)
		for s := p.Next(); s != nil; s = p.Next() {
			if s.Err != nil {
				if bad == 0 {
					b.Log(s.ID, s.Err)
				}
				bad++
			}
			rows += len(s.Rows)
			for i := range s.Rows {
				if s.Rows[i].HasBlob {
					blobs++
					bytes += len(s.Rows[i].Blob)
				}
			}
		}
		p.Close()
	}
	b.ReportMetric(float64(o.Len()*b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(blobs*b.N)/b.Elapsed().Seconds(), "blobs/s")
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(float64(blobs), "blobs")
	b.ReportMetric(float64(bytes)/1e6, "MB")
	b.ReportMetric(float64(bad), "bad")
}

func BenchmarkReadNoBlobs(b *testing.B) { benchmarkRead(b, ReadOptions{NoBlobs: true}) }
func BenchmarkRead1(b *testing.B)       { benchmarkRead(b, ReadOptions{}) }
func BenchmarkRead2(b *testing.B)       { benchmarkRead(b, ReadOptions{Workers: 2}) }
