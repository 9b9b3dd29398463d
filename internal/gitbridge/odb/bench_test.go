package odb

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// BenchmarkObjects reads every packed object of the repository that OXY_GIT_REPO names, in the order of the pack, as
// git cat-file --batch --batch-all-objects --unordered does, and in the order of ids, as it does without that.
func BenchmarkObjects(b *testing.B) {
	path := os.Getenv("OXY_GIT_REPO")
	if path == "" {
		b.Skip("OXY_GIT_REPO names no repository")
	}
	db, err := Open(vfs.OS(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	type place struct {
		id  object.ID
		off uint64
	}
	for _, order := range []string{"pack", "id"} {
		b.Run(order, func(b *testing.B) {
			r := db.NewReader()
			var objects, bytes int
			for b.Loop() {
				for _, p := range db.packs {
					var all []place
					for i := range p.idx.count {
						off, _ := p.idx.offset(i)
						all = append(all, place{db.Format.ID(p.idx.name(i)), off})
					}
					if order == "pack" {
						slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.off, b.off) })
					}
					for i := range all {
						_, content, err := r.View(all[i].id)
						if err != nil {
							b.Fatal(err)
						}
						objects++
						bytes += len(content)
					}
				}
			}
			b.ReportMetric(float64(objects)/b.Elapsed().Seconds(), "objects/s")
			b.ReportMetric(float64(bytes)/b.Elapsed().Seconds()/1e6, "MB/s")
		})
	}
}
