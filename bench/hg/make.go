package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/bench/internal/words"
	"github.com/oxy-vcs/oxy/revlog"
)

// line is one line of development: what its head has.
type line struct {
	rev      revlog.Rev // the changeset
	manifest revlog.Rev
	branch   string
	files    map[string]held
}

// held is a file of a head.
type held struct {
	rev   revlog.Rev
	node  revlog.Node
	lines [][]byte
}

func (l *line) fork() *line {
	f := *l
	f.files = maps.Clone(l.files)
	return &f
}

// maker writes a repository. Its history is that of a project with a main line and up to four beside it, which join it at last;
// some of these are named branches. Files get a few lines more and less; a tenth as many come in the course of it, some are renamed
// or removed, and one is touched again and again.
type maker struct {
	r         *rand.Rand
	words     *words.Words
	store     string
	changelog *revlog.Writer
	manifests *revlog.Writer
	logs      map[string]*revlog.Writer
	dirs      []string
	date      int
	branches  int
	main      *line
	sides     []*line
	paths     []string // of main, now and then brought up to date
}

// commit is what a changeset does.
type commit struct {
	changed map[string][][]byte
	second  map[string]revlog.Rev // the second parents of file revisions
	copied  map[string]string     // where new files come from
	removed []string
	with    *line // what is merged
}

func newCommit() *commit {
	return &commit{changed: map[string][][]byte{}, second: map[string]revlog.Rev{}, copied: map[string]string{}}
}

// hot is the file that is touched again and again.
const hot = "changes"

// makeRepository makes a repository beside its place first, so that half of one is never taken for it.
func makeRepository(to string, changesets, files int) error {
	half := to + ".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	m := &maker{r: rand.New(rand.NewSource(1)), store: filepath.Join(half, ".hg", "store"), logs: map[string]*revlog.Writer{}, date: 1_100_000_000}
	m.words = words.New(m.r)
	if err := os.MkdirAll(m.store, 0o777); err != nil {
		return err
	}
	requires := []byte("generaldelta\nrevlog-compression-zstd\nrevlogv1\nsparserevlog\nstore\n")
	if err := os.WriteFile(filepath.Join(half, ".hg", "requires"), requires, 0o666); err != nil {
		return err
	}
	var err error
	if m.changelog, err = m.writer("00changelog.i", revlog.WriterOptions{NoDeltas: true, Plain: true}); err != nil {
		return err
	}
	if m.manifests, err = m.writer("00manifest.i", revlog.WriterOptions{Compresses: 3}); err != nil {
		return err
	}
	for range max(8, files/14) {
		m.dirs = append(m.dirs, m.words.Word()+"/"+m.words.Word())
	}
	for n := 0; n < changesets; {
		l, c := m.next(n, changesets, files)
		if c == nil {
			continue
		}
		if err := m.commit(l, c); err != nil {
			return err
		}
		n++
	}
	for _, w := range m.logs {
		if err := errors.Join(w.Flush(), w.Close()); err != nil {
			return err
		}
	}
	if err := errors.Join(m.manifests.Flush(), m.manifests.Close(), m.changelog.Flush(), m.changelog.Close()); err != nil {
		return err
	}
	return os.Rename(half, to)
}

func (m *maker) writer(name string, opts revlog.WriterOptions) (*revlog.Writer, error) {
	path := filepath.Join(m.store, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return revlog.OpenWriter(path, &opts)
}

// next says what changeset n does, and on which line; nothing if a line forks meanwhile.
func (m *maker) next(n, changesets, files int) (*line, *commit) {
	c := newCommit()
	if n == 0 {
		m.main = &line{rev: revlog.Null, manifest: revlog.Null, files: map[string]held{}}
		for range min(files/3, 600) {
			c.changed[m.newPath()] = m.lines(10 + int(m.r.ExpFloat64()*120))
		}
		c.changed[hot] = m.lines(200)
		return m.main, c
	}
	switch {
	case len(m.sides) > 0 && m.r.Float64() < 0.045:
		at := m.r.Intn(len(m.sides))
		c.with = m.sides[at]
		m.sides = slices.Delete(m.sides, at, at+1)
		m.merge(c)
		return m.main, c
	case len(m.sides) < 4 && n > 50 && m.r.Float64() < 0.05:
		side := m.main.fork()
		if m.r.Intn(20) == 0 {
			m.branches++
			side.branch = fmt.Sprintf("branch:stable-%d", m.branches)
		}
		m.sides = append(m.sides, side)
		return nil, nil
	}
	l := m.main
	if len(m.sides) > 0 && m.r.Float64() < 0.35 {
		l = m.sides[m.r.Intn(len(m.sides))]
	}
	if n%500 == 1 {
		m.paths = slices.Sorted(maps.Keys(m.main.files))
	}
	for range 1 + min(int(m.r.ExpFloat64()*1.8), 40) {
		f := m.r.Float64()
		path := m.paths[int(float64(len(m.paths))*f*f)]
		if h, ok := l.files[path]; ok {
			c.changed[path] = m.edit(h.lines)
		}
	}
	if m.r.Float64() < 0.15 {
		lines := append(m.lines(3), l.files[hot].lines...)
		c.changed[hot] = lines[:min(len(lines), 6000)]
	}
	if m.r.Float64() < 1.2*float64(files)/float64(changesets) {
		c.changed[m.newPath()] = m.lines(5 + int(m.r.ExpFloat64()*80))
	}
	path := m.paths[m.r.Intn(len(m.paths))]
	h, there := l.files[path]
	if _, touched := c.changed[path]; there && !touched && path != hot {
		switch m.r.Intn(100) {
		case 0:
			to := m.newPath()
			c.changed[to], c.copied[to] = append(slices.Clone(h.lines), m.words.Line(nil)), path
			c.removed = append(c.removed, path)
		case 1:
			if m.r.Intn(2) == 0 {
				c.removed = append(c.removed, path)
			}
		}
	}
	if len(c.changed) == 0 {
		return nil, nil
	}
	return l, c
}

// merge takes a side's last changes of some files into the main line.
func (m *maker) merge(c *commit) {
	for _, path := range slices.Sorted(maps.Keys(c.with.files)) {
		h, ours := c.with.files[path], m.main.files[path]
		if ours.rev == h.rev || ours.lines == nil || len(c.changed) == 12 || m.r.Intn(2) == 0 {
			continue
		}
		c.changed[path] = append(slices.Clone(ours.lines), m.words.Line(nil))
		c.second[path] = h.rev
	}
	if len(c.changed) == 0 {
		c.changed[hot] = append(m.lines(1), m.main.files[hot].lines...)
	}
}

func (m *maker) newPath() string {
	for {
		path := m.dirs[m.r.Intn(len(m.dirs))] + "/" + m.words.Word() + "-" + m.words.Word() + []string{".c", ".h", ".py", ".txt"}[m.r.Intn(4)]
		if m.logs[path] == nil {
			return path
		}
	}
}

func (m *maker) lines(n int) [][]byte {
	lines := make([][]byte, n)
	for i := range lines {
		lines[i] = m.words.Line(nil)
	}
	return lines
}

func (m *maker) edit(lines [][]byte) [][]byte {
	for range 1 + m.r.Intn(3) {
		at := m.r.Intn(len(lines) + 1)
		end := min(len(lines), at+m.r.Intn(6))
		lines = slices.Concat(lines[:at], m.lines(m.r.Intn(7)), lines[end:])
	}
	if len(lines) == 0 {
		lines = m.lines(1)
	}
	return lines
}

// commit appends what a changeset has to all revlogs.
func (m *maker) commit(l *line, c *commit) error {
	rev := revlog.Rev(m.changelog.Len())
	touched := slices.Sorted(maps.Keys(c.changed))
	for _, path := range touched {
		if err := m.file(l, c, path, rev); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, path := range c.removed {
		delete(l.files, path)
		touched = append(touched, path)
	}
	slices.Sort(touched)
	var manifest []byte
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		var err error
		if manifest, err = revlog.AppendManifest(manifest, revlog.ManifestEntry{Path: []byte(path), Node: l.files[path].node}); err != nil {
			return err
		}
	}
	p2, m2 := revlog.Null, revlog.Null
	if c.with != nil {
		p2, m2 = c.with.rev, c.with.manifest
	}
	at, node, err := m.manifests.Append(manifest, l.manifest, m2, rev)
	if err != nil {
		return err
	}
	m.date += 30 + m.r.Intn(5000)
	who := m.words.Word()
	text, err := revlog.AppendChangeset(nil, revlog.Changeset{
		Manifest: node, User: []byte(who + " <" + who + "@example.org>"), Date: fmt.Appendf(nil, "%d -7200", m.date), RawExtra: []byte(l.branch),
		RawFiles: []byte(strings.Join(touched, "\n")), Description: m.description(),
	})
	if err != nil {
		return err
	}
	if _, _, err := m.changelog.Append(text, l.rev, p2, rev); err != nil {
		return err
	}
	l.rev, l.manifest = rev, at
	return nil
}

// file appends a file's new revision.
func (m *maker) file(l *line, c *commit, path string, link revlog.Rev) error {
	w := m.logs[path]
	if w == nil {
		var err error
		if w, err = m.writer("data/"+path+".i", revlog.WriterOptions{}); err != nil {
			return err
		}
		m.logs[path] = w
	}
	text := bytes.Join(c.changed[path], nil)
	p1, p2 := revlog.Null, revlog.Null
	if h, ok := l.files[path]; ok {
		p1 = h.rev
	}
	if second, ok := c.second[path]; ok {
		p2 = second
	}
	if source, ok := c.copied[path]; ok {
		var err error
		if text, err = revlog.JoinFile(nil, revlog.Meta{CopySource: source, CopyNode: l.files[source].node}, text); err != nil {
			return err
		}
	}
	rev, node, err := w.Append(text, p1, p2, link)
	if err != nil {
		return err
	}
	l.files[path] = held{rev, node, c.changed[path]}
	return nil
}

func (m *maker) description() []byte {
	var b []byte
	for i := range 4 + m.r.Intn(8) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, m.words.Word()...)
	}
	if m.r.Intn(5) < 3 {
		b = append(b, '\n')
		for range 1 + m.r.Intn(8) {
			b = append(b, '\n')
			for range 6 + m.r.Intn(8) {
				b = append(append(b, m.words.Word()...), ' ')
			}
		}
		b = bytes.TrimSpace(b)
	}
	return b
}
