package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/bench/internal/words"
	"github.com/oxy-vcs/oxy/revlog"
)

// inputs makes what is missing of the revlogs to race over, and names them all. They are deterministic and only look like a
// history: what counts is their shape, which is that of a project of 2 000 files with a few lines of development at a time,
// and of Mercurial's way to store it, which the Writer has.
func inputs(dir string, quick bool) ([]string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	all := []struct {
		name  string
		small bool
		opts  revlog.WriterOptions
		make  func(w *revlog.Writer, r *rand.Rand) error
	}{
		{"12k-zstd/00changelog.i", true, changelogOptions(revlog.Zstd), changelog(12_000)},
		{"12k-zlib/00changelog.i", true, changelogOptions(revlog.Zlib), changelog(12_000)},
		{"12k/00manifest.i", true, revlog.WriterOptions{Compresses: 3}, manifest(12_000)},
		{"113k/00changelog.i", false, changelogOptions(revlog.Zstd), changelog(113_000)},
		{"113k/00manifest.i", false, revlog.WriterOptions{Compresses: 3}, manifest(113_000)},
		{"26k/hot.i", false, revlog.WriterOptions{}, hotFile(26_000)},
	}
	var files []string
	for _, in := range all {
		if quick && !in.small {
			continue
		}
		path := filepath.Join(dir, in.name)
		files = append(files, path)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		fmt.Fprintln(os.Stderr, "making", path)
		if err := make1(path, in.opts, in.make); err != nil {
			return nil, fmt.Errorf("make %s: %w", path, err)
		}
	}
	return files, nil
}

func changelogOptions(c revlog.Compression) revlog.WriterOptions {
	return revlog.WriterOptions{Compression: c, NoDeltas: true, Plain: true}
}

// make1 makes one revlog beside its place first, so that half of one is never taken for it.
func make1(path string, opts revlog.WriterOptions, fill func(w *revlog.Writer, r *rand.Rand) error) error {
	dir, base := filepath.Split(path)
	half := filepath.Join(dir, "half")
	if err := errors.Join(os.RemoveAll(half), os.MkdirAll(half, 0o777)); err != nil {
		return err
	}
	w, err := revlog.OpenWriter(filepath.Join(half, base), &opts)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := errors.Join(fill(w, rand.New(rand.NewSource(1))), w.Flush()); err != nil {
		return err
	}
	radix := strings.TrimSuffix(base, ".i")
	return errors.Join(os.Rename(filepath.Join(half, radix+".d"), filepath.Join(dir, radix+".d")),
		os.Rename(filepath.Join(half, base), path), os.RemoveAll(half))
}

func changelog(n int) func(w *revlog.Writer, r *rand.Rand) error {
	return func(w *revlog.Writer, r *rand.Rand) error {
		words := words.New(r)
		lines := newLines(r)
		for rev := range revlog.Rev(n) {
			p1, p2 := lines.next(rev)
			var node revlog.Node
			r.Read(node[:])
			var files []string
			for range 1 + min(int(r.ExpFloat64()*2), 40) {
				files = append(files, words.Word()+"/"+words.Word()+"/"+words.Word()+".c")
			}
			desc := words.Word()
			for range 4 + r.Intn(8) {
				desc += " " + words.Word()
			}
			if r.Intn(5) < 3 {
				for range 1 + r.Intn(8) {
					desc += "\n"
					for range 6 + r.Intn(8) {
						desc += words.Word() + " "
					}
				}
			}
			text, err := revlog.AppendChangeset(nil, revlog.Changeset{
				Manifest: node, User: []byte(words.Word() + " <" + words.Word() + "@example.org>"),
				Date: fmt.Appendf(nil, "%d -7200", 1_100_000_000+int(rev)*2500), RawFiles: []byte(strings.Join(files, "\n")),
				Description: []byte(desc),
			})
			if err != nil {
				return err
			}
			if _, _, err := w.Append(text, p1, p2, rev); err != nil {
				return err
			}
		}
		return nil
	}
}

// lines are up to five lines of development, of which the first goes on most and the others join it at last.
type lines struct {
	r     *rand.Rand
	heads []revlog.Rev
}

func newLines(r *rand.Rand) *lines { return &lines{r, []revlog.Rev{revlog.Null}} }

// next gives the parents of the next revision.
func (l *lines) next(rev revlog.Rev) (p1, p2 revlog.Rev) {
	at := 0
	switch {
	case len(l.heads) > 1 && l.r.Intn(25) == 0: // a merge
		last := len(l.heads) - 1
		p1, p2 = l.heads[0], l.heads[last]
		l.heads = l.heads[:last]
		l.heads[0] = rev
		return p1, p2
	case len(l.heads) < 5 && l.r.Intn(25) == 0:
		l.heads = append(l.heads, l.heads[0])
		at = len(l.heads) - 1
	case l.r.Intn(3) == 0:
		at = l.r.Intn(len(l.heads))
	}
	p1 = l.heads[at]
	l.heads[at] = rev
	return p1, revlog.Null
}

// texts are the texts of the heads, so that no revision must be read to make the next.
type texts map[revlog.Rev][][]byte

// follow appends n revisions, each made from its parent's lines by change.
func follow(w *revlog.Writer, r *rand.Rand, n int, first [][]byte, change func(lines [][]byte) [][]byte) error {
	graph := newLines(r)
	heads := texts{revlog.Null: first}
	for rev := range revlog.Rev(n) {
		p1, p2 := graph.next(rev)
		had := heads[p1]
		now := change(append(make([][]byte, 0, len(had)+8), had...))
		heads[rev] = now
		if _, _, err := w.Append(bytes.Join(now, nil), p1, p2, rev); err != nil {
			return err
		}
		for old := range heads {
			keep := old == rev
			for _, h := range graph.heads {
				keep = keep || h == old
			}
			if !keep {
				delete(heads, old)
			}
		}
		if rev%1000 == 999 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func manifest(n int) func(w *revlog.Writer, r *rand.Rand) error {
	return func(w *revlog.Writer, r *rand.Rand) error {
		words := words.New(r)
		paths := map[string]bool{}
		for len(paths) < 2000 {
			paths[words.Word()+"/"+words.Word()+"/"+words.Word()+"_"+words.Word()+".c"] = true
		}
		line := func(path string) []byte {
			var node revlog.Node
			r.Read(node[:])
			b, _ := revlog.AppendManifest(nil, revlog.ManifestEntry{Path: []byte(path), Node: node})
			return b
		}
		var first [][]byte
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			first = append(first, line(path))
		}
		return follow(w, r, n, first, func(lines [][]byte) [][]byte {
			for range 1 + min(int(r.ExpFloat64()*2), 40) {
				at := int(float64(len(lines)) * r.Float64() * r.Float64())
				path, _, _ := bytes.Cut(lines[at], []byte{0})
				lines[at] = line(string(path))
			}
			return lines
		})
	}
}

func hotFile(n int) func(w *revlog.Writer, r *rand.Rand) error {
	return func(w *revlog.Writer, r *rand.Rand) error {
		words := words.New(r)
		var first [][]byte
		for range 3000 {
			first = append(first, words.Line(nil))
		}
		return follow(w, r, n, first, func(lines [][]byte) [][]byte {
			for range 3 {
				lines = append(lines, nil)
			}
			copy(lines[3:], lines)
			for i := range 3 {
				lines[i] = words.Line(nil)
			}
			if len(lines) > 8000 {
				lines = lines[:6000]
			}
			return lines
		})
	}
}
