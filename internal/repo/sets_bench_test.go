package repo

import (
	"encoding/binary"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
)

// longHistory is a repository with a history in a line, each change upon the last. Its states have no true ids.
func longHistory(b *testing.B, changes uint32) *Repo {
	b.Helper()
	r, err := Init(b.TempDir(), testOptions())
	check(b, err)
	b.Cleanup(func() { _ = r.Close() })
	_, err = transact(r, func(t *tx) (struct{}, error) {
		for n := range changes {
			c := &change.Change{Author: change.Person{Name: "Ada", Email: "ada@example.org"}, Message: "more", Time: change.Time{Sec: int64(n)}}
			var deps []uint32
			if n > 0 {
				deps = []uint32{n - 1}
			}
			meta, body := change.Encode(c)
			if _, err := t.PutChange(store.Record{ID: change.Sum(meta, body), Meta: meta, Body: body}, deps, int64(n)); err != nil {
				return struct{}{}, err
			}
			st := store.State{Parent: int64(n) - 1, Changes: []uint32{n}, Pos: uint64(n) + 1}
			binary.LittleEndian.PutUint32(st.ID[:], n)
			if _, err := t.PutState(st); err != nil {
				return struct{}{}, err
			}
		}
		t.view.Base, t.view.Bookmarks["main"] = int64(changes)-1, changes-1
		return struct{}{}, t.commit("commit")
	})
	check(b, err)
	return r
}

// BenchmarkLongHistory asks the questions about a million changes.
func BenchmarkLongHistory(b *testing.B) {
	const changes = 1_000_000
	r := longHistory(b, changes)
	last, err := r.Base()
	check(b, err)
	near, err := r.stateRef(changes - 100)
	check(b, err)
	for _, bench := range []struct {
		name string
		run  func() error
	}{
		{"set", func() error { _, err := r.setOf(last.Num); return err }},
		{"where", func() error { _, err := r.Where(changes / 2); return err }},
		{"compare", func() error { _, err := r.Compare(last, near); return err }},
		{"dependents", func() error { _, err := r.Dependents(changes/2, last, false); return err }},
		{"all deps", func() error { _, err := r.Deps(changes-1, true); return err }},
		{"op show", func() error { _, err := r.ShowOp(1); return err }},
		{"goneWith, recent", func() error { _, err := r.goneWith(last, []uint32{changes - 5}); return err }},
		{"goneWith, old", func() error { _, err := r.goneWith(last, []uint32{5}); return err }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				check(b, bench.run())
			}
		})
	}
}
