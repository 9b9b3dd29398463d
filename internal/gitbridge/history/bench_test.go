package history

import (
	"context"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/refs"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
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
		_, to, kind, err := Peel(r, db.Format, ref.ID)
		if err != nil {
			b.Fatal(err)
		}
		if kind == object.CommitKind {
			tips = append(tips, to)
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

// BenchmarkRebuild proves every commit: its tree's id from the rows alone, upon the tree of its first parent, and its own
// id from the fields.
func BenchmarkRebuild(b *testing.B) {
	db, tips := openReal(b)
	o, err := Walk(db.NewReader(), db.Format, tips, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	children := map[object.ID]int{}
	for i := range o.Len() {
		c := &o.commits[o.order[i]]
		for _, p := range o.parents[c.first : c.first+c.count] {
			children[o.numbers.id(p)]++
		}
	}
	hasher := object.NewHasher(db.Format, nil)
	var made, odd, fields, fieldBytes int
	for b.Loop() {
		made, odd, fields, fieldBytes = 0, 0, 0, 0
		left := maps.Clone(children)
		builder := tree.NewBuilder(db.Format, nil)
		trees := map[object.ID]tree.Tree{}
		var list []tree.Edit
		p := Read(context.Background(), db, o, 0, ReadOptions{NoBlobs: true})
		for s := p.Next(); s != nil; s = p.Next() {
			base := builder.Empty()
			if len(s.Parents) > 0 {
				base = trees[s.Parents[0]]
			}
			for _, r := range s.Rows {
				if len(s.Parents) == 0 || r.Sides[0] != r.Sides[1] {
					list = append(list, tree.Edit{Path: string(r.Path), Side: r.Sides[0]})
				}
			}
			if s.More {
				continue
			}
			at, err := builder.Apply(base, list, func(object.ID, []byte) error { made++; return nil })
			if err != nil || at.ID() != s.Commit.Tree {
				p.Close()
				b.Fatal(s.ID, err)
			}
			list = list[:0]
			for _, parent := range s.Parents {
				if left[parent]--; left[parent] == 0 {
					delete(trees, parent)
				}
			}
			trees[s.ID] = at
			native, extra := s.Commit.Split()
			if len(extra) > 0 {
				odd++
			}
			for _, f := range extra {
				fields++
				fieldBytes += len(f.Key) + len(f.Value)
			}
			raw, err := object.JoinCommit(db.Format, at.ID(), s.Commit.Parents, native, extra)
			if err != nil {
				b.Fatal(err)
			}
			if id, _ := hasher.Sum(object.CommitKind, raw); id != s.ID {
				b.Fatal(s.ID, id)
			}
		}
		p.Close()
	}
	b.ReportMetric(float64(o.Len()*b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(made)/float64(o.Len()), "trees/commit")
	b.ReportMetric(float64(odd)/float64(o.Len()), "with-fields")
	b.ReportMetric(float64(fieldBytes)/float64(o.Len()), "field-bytes/commit")
}
