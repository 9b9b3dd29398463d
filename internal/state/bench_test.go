package state

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// benchPaths are the lines of the file that OXY_BENCH_PATHS names, such as the paths of the Linux tree, or as many
// made-up paths as Linux 6.1 has.
func benchPaths(b *testing.B) []string {
	var paths []string
	if name := os.Getenv("OXY_BENCH_PATHS"); name != "" {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			paths = append(paths, s.Text())
		}
	} else {
		for i := range 78579 {
			paths = append(paths, fmt.Sprintf("drivers%d/net%d/vendor%d/some_device_%d.c", i%7, i/7%40, i/280%12, i))
		}
	}
	slices.SortFunc(paths, ComparePaths)
	return paths
}

func benchEntries(b *testing.B) []Entry {
	r := rand.New(rand.NewSource(1))
	paths := benchPaths(b)
	entries := make([]Entry, len(paths))
	for i, p := range paths {
		id := change.FileID{Ord: uint32(i)}
		entries[i] = Entry{Path: p, File: id, Size: uint64(r.Intn(32000)), Place: id, Mode: id, Body: id}
		r.Read(entries[i].Hash[:])
	}
	return entries
}

func benchBuild(b *testing.B, bl *Blocks, entries []Entry) Tree {
	t, err := Build(bl, func(yield func(*Entry) bool) {
		for i := range entries {
			if !yield(&entries[i]) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// edited is what a commit of one more line makes of an entry.
func edited(e Entry, n uint32) Edit {
	e.Size++
	e.Hash[0]++
	e.Body = change.FileID{Change: n}
	return Edit{Path: e.Path, Entry: e}
}

func BenchmarkBuild(b *testing.B) {
	entries := benchEntries(b)
	b.ReportAllocs()
	for b.Loop() {
		bl := newBlocks(b)
		benchBuild(b, bl, entries)
		b.ReportMetric(float64(bl.Size()), "file-bytes")
	}
}

func BenchmarkWalk(b *testing.B) {
	t := benchBuild(b, newBlocks(b), benchEntries(b))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if err := t.Walk("", func(e *Entry) error { n += len(e.Path); return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	entries := benchEntries(b)
	t := benchBuild(b, newBlocks(b), entries)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, ok, err := t.Get(entries[i*7919%len(entries)].Path); !ok || err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkByFile(b *testing.B) {
	entries := benchEntries(b)
	t := benchBuild(b, newBlocks(b), entries)
	for i := 0; b.Loop(); i++ {
		if _, ok, err := t.ByFile(entries[i*7919%len(entries)].File); !ok || err != nil {
			b.Fatal(err)
		}
	}
}

func benchEdit(b *testing.B, size int, edit func(e Entry, n uint32) Edit) {
	entries := benchEntries(b)
	bl := newBlocks(b)
	t := benchBuild(b, bl, entries)
	r := rand.New(rand.NewSource(2))
	start := bl.Size()
	b.ReportAllocs()
	n := uint32(0)
	for b.Loop() {
		b.StopTimer()
		n++
		var edits []Edit
		for _, i := range r.Perm(len(entries))[:size] {
			edits = append(edits, edit(entries[i], n))
		}
		slices.SortFunc(edits, func(x, y Edit) int { return ComparePaths(x.Path, y.Path) })
		b.StartTimer()
		if _, err := t.Edit(edits); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bl.Size()-start)/float64(n), "file-bytes/op")
}

func BenchmarkEditOne(b *testing.B) { benchEdit(b, 1, edited) }

func BenchmarkAddOne(b *testing.B) {
	benchEdit(b, 1, func(e Entry, n uint32) Edit {
		id := change.FileID{Change: n}
		e.File, e.Place, e.Mode, e.Body = id, id, id, id
		return Edit{Path: e.Path + "x", Entry: e}
	})
}

func BenchmarkEditThousand(b *testing.B) { benchEdit(b, 1000, edited) }

func BenchmarkEditAll(b *testing.B) { benchEdit(b, 78579, edited) }

func BenchmarkDiffOne(b *testing.B) {
	entries := benchEntries(b)
	t := benchBuild(b, newBlocks(b), entries)
	next := mustEdit(b, t, []Edit{edited(entries[50000], 1)})
	for b.Loop() {
		n := 0
		if err := Diff(t, next, func(_, _ *Entry) error { n++; return nil }); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkDiffApart(b *testing.B) {
	entries := benchEntries(b)
	t, next := benchBuild(b, newBlocks(b), entries), benchBuild(b, newBlocks(b), entries)
	for b.Loop() {
		if err := Diff(t, next, func(_, _ *Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	entries := benchEntries(b)
	bl := newBlocks(b)
	t := benchBuild(b, bl, entries)
	bl.PutRoot(StateRoot{State: 0, Root: t.Root()})
	for b.Loop() {
		to, err := bl.Compact([]uint32{0}, 2, nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = to.Close()
	}
}

func BenchmarkFlushAndOpen(b *testing.B) {
	bl := newBlocks(b)
	t := benchBuild(b, bl, benchEntries(b))
	bl.PutRoot(StateRoot{State: 0, Root: t.Root()})
	h, err := bl.Flush()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		again, err := OpenBlocks(bl.fsys, bl.dir, h)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok, err := again.Root(0); !ok || err != nil {
			b.Fatal(err)
		}
		_ = again.Close()
	}
}

func benchVacated(b *testing.B, stride int, prefix string) {
	paths := benchPaths(b)
	var list []Vacated
	for i := 0; i < len(paths) && len(list) < 10000; i += stride {
		list = append(list, Vacated{Path: prefix + paths[i], By: uint32(i % 50)})
	}
	t, err := newBlocks(b).Tree(Root{}).Vacate(list)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := t.Vacated(paths[(i*7919+1)%len(paths)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVacated looks paths up among 10 000 vacated ones, which stand among them or elsewhere.
func BenchmarkVacated(b *testing.B) {
	b.Run("among", func(b *testing.B) { benchVacated(b, 7, "") })
	b.Run("elsewhere", func(b *testing.B) { benchVacated(b, 7, "e/") })
}
