package bridge

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/revlog"
)

// gathered is a changeset as the repository takes it.
type gathered struct {
	rev   revlog.Rev
	to    repo.Imported     // without its parents' states
	moves map[string]string // by where a file is what path it came from
	lacks []string          // paths whose contents Mercurial does not have here
	err   error             // in place of all else
}

// gatherer reads changesets one after the other. It is for one goroutine, which alone uses the Mercurial repository.
type gatherer struct {
	hg      *hgbridge.Repo
	sets    []scanned
	tree    bool // manifests are divided into directories
	authors Authors
	texts   texts
	logs    logs
	buf     []byte
}

// at is a changeset under way.
type at struct {
	g        *gatherer
	c        *hgbridge.Changeset
	first    []byte // the manifests of its parents, nil for none
	second   []byte
	merge    bool
	touched  map[string]bool // what it says that it touches
	implicit bool            // that is just where it differs from its first parent
	records  []byte
	out      *gathered
}

// gather reads a changeset.
func (g *gatherer) gather(c *hgbridge.Changeset) (*gathered, error) {
	a := at{g: g, c: c, touched: map[string]bool{}, out: &gathered{rev: c.Rev}}
	var parents []byte
	var manifests [2]revlog.Node
	for i, p := range g.sets[c.Rev].parents() {
		node := g.sets[p].node
		parents = append(parents, node[:]...)
		manifests[i] = g.sets[p].manifest
		text, err := g.texts.of(g.hg, manifests[i])
		if err != nil {
			return nil, err
		}
		if i == 0 {
			a.first = text
		} else {
			a.second, a.merge = text, true
		}
	}
	now, err := g.texts.of(g.hg, c.Manifest)
	if err != nil {
		return nil, err
	}
	for path := range c.Files() {
		a.touched[string(path)] = true
	}
	var differences []hgbridge.Difference
	var listed []byte
	err = hgbridge.Differences(a.first, now, func(d hgbridge.Difference) error {
		if len(differences) > 0 {
			listed = append(listed, '\n')
		}
		listed = append(listed, d.Path...)
		differences = append(differences, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.implicit = bytes.Equal(listed, c.RawFiles)
	for i := range differences {
		if err := a.file(&differences[i]); err != nil {
			return nil, err
		}
	}
	if !a.implicit {
		if err := a.untouched(now, differences); err != nil {
			return nil, err
		}
	}
	return a.out, a.describe(string(parents), manifests, len(differences) > 0)
}

// untouched notes the paths that the changeset says it touches and does not.
func (a *at) untouched(now []byte, differences []hgbridge.Difference) error {
	for path := range a.c.Files() {
		_, differs := slices.BinarySearchFunc(differences, path, func(d hgbridge.Difference, p []byte) int { return bytes.Compare(d.Path, p) })
		if differs {
			continue
		}
		n, _, err := lookup(now, string(path))
		if err != nil {
			return err
		}
		if n != revlog.NullNode {
			a.records = appendRecord(a.records, path, &record{kind: same})
		}
	}
	return nil
}

// file takes in what the changeset has at a path where it differs from its first parent.
func (a *at) file(d *hgbridge.Difference) error {
	f := repo.ImportedFile{Path: string(d.Path), Exec: d.NewFlag == 'x', Gone: d.New == revlog.NullNode}
	if d.NewFlag == 'l' {
		f.Kind = change.Link
	}
	switch {
	case f.Gone:
	case d.New == d.Old:
		f.Like = 1
	default:
		var err error
		if f, err = a.contents(f, d); err != nil {
			return fmt.Errorf("file %q: %w", d.Path, err)
		}
	}
	a.out.to.Files = append(a.out.to.Files, f)
	return nil
}

// contents reads a file's contents, and notes of its revision what does not follow from them.
func (a *at) contents(f repo.ImportedFile, d *hgbridge.Difference) (repo.ImportedFile, error) {
	l, err := a.g.logs.of(a.g.hg, f.Path)
	if err != nil {
		return f, err
	}
	n2, _, err := lookup(a.second, f.Path)
	if err != nil {
		return f, err
	}
	if d.New == n2 {
		f.Like = 2
		alike, err := l.alike(d.Old, d.New)
		if err != nil {
			return f, err
		}
		if alike || a.touched[f.Path] {
			a.records = appendRecord(a.records, d.Path, &record{kind: taken})
		}
		return f, nil
	}
	r, err := l.read(d.New)
	if err != nil {
		return f, err
	}
	f.Data = bytes.Clone(r.contents)
	if f.Data == nil {
		f.Data = []byte{}
	}
	if r.lacks != nil {
		if len(f.Data) == 0 {
			f.Data = fmt.Appendf(nil, "Mercurial lacked this content, its file revision %s.\n", d.New)
		}
		a.out.lacks = append(a.out.lacks, f.Path)
		a.records = appendRecord(a.records, d.Path, &record{kind: trusted, p1: d.New})
		return f, nil
	}
	a.moved(d, &r)
	rec := record{kind: madeWith, p1: r.p1, p2: r.p2, before: r.before}
	switch {
	case string(r.before) == plainBefore(r.contents):
		rec.kind = madeOf
		if p1, p2 := usualParents(d.Old, n2); p1 != r.p1 || p2 != r.p2 || a.merge && !a.touched[f.Path] {
			break
		}
		alike, err := l.alike(d.Old, d.New)
		if err != nil {
			return f, err
		}
		if !alike {
			return f, nil
		}
	case r.source != "" && r.p1 == revlog.NullNode && r.p2 == d.Old:
		node, _, err := lookup(a.first, r.source)
		if err != nil {
			return f, err
		}
		if string(r.before) == copyBefore(r.source, node) {
			rec = record{kind: copied, source: r.source}
		}
	}
	a.records = appendRecord(a.records, d.Path, &rec)
	return f, nil
}

// moved notes that a new file came from another path.
func (a *at) moved(d *hgbridge.Difference, r *revision) {
	if r.source == "" || r.p1 != revlog.NullNode || d.Old != revlog.NullNode {
		return
	}
	if a.out.moves == nil {
		a.out.moves = map[string]string{}
	}
	a.out.moves[string(d.Path)] = r.source
}

// describe takes what the changeset says, and notes what does not follow from that.
func (a *at) describe(parents string, manifests [2]revlog.Node, differs bool) error {
	c, to := a.c, &a.out.to
	add := func(key, value string) { to.Extra = append(to.Extra, change.Field{Key: key, Value: value}) }
	add(fieldNode, string(c.Node[:]))
	add(fieldParents, parents)
	sec, west, err := c.Time()
	if err != nil {
		return err
	}
	to.Time = change.Time{Sec: sec}
	if east := -west / 60; east > math.MinInt16 && east < math.MaxInt16 {
		to.Time.Zone = int16(east)
	}
	if date(to.Time) != string(c.Date) {
		add(fieldDate, string(c.Date))
	}
	written := string(c.User)
	to.Author = person(written)
	if p, ok := a.g.authors[written]; ok {
		to.Author = p
	}
	if user(to.Author) != written {
		add(fieldUser, written)
	}
	to.Message = string(c.Description)
	if c.RawExtra != nil {
		add(fieldExtra, string(c.RawExtra))
	}
	if !a.implicit {
		add(fieldTouched, string(c.RawFiles))
	}
	if len(a.records) > 0 {
		add(fieldFiles, string(a.records))
	}
	kept, usual, err := a.manifest(manifests, differs)
	if err != nil {
		return err
	}
	if !usual {
		add(fieldManifest, kept)
	}
	if err := a.text(); err != nil {
		return err
	}
	slices.SortFunc(to.Extra, func(a, b change.Field) int { return cmp.Compare(a.Key, b.Key) })
	return nil
}

// manifest tells what is kept of the manifest, or that it is as one would think.
func (a *at) manifest(parents [2]revlog.Node, differs bool) (kept string, usual bool, err error) {
	node := a.c.Manifest
	if !differs && !a.merge {
		if node == parents[0] {
			return "", true, nil
		}
	}
	if node == revlog.NullNode {
		return "", false, nil
	}
	if a.g.tree {
		return string(node[:]), false, nil
	}
	m := a.g.hg.Manifests
	rev, err := m.Rev(node)
	if err != nil {
		return "", false, err
	}
	p1, p2, err := m.Parents(rev)
	if err != nil {
		return "", false, err
	}
	n1, err1 := m.Node(p1)
	n2, err2 := m.Node(p2)
	if err := errors.Join(err1, err2); err != nil {
		return "", false, err
	}
	if differs || a.merge {
		usual = n1 == parents[0] && n2 == parents[1] || n1 == parents[1] && n2 == parents[0]
	}
	return string(n1[:]) + string(n2[:]), usual, nil
}

// text keeps the changeset's text if its parts do not make it.
func (a *at) text() error {
	p1, err1 := a.g.hg.Changelog.Node(a.c.P1)
	p2, err2 := a.g.hg.Changelog.Node(a.c.P2)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	node, text, err := hgbridge.ChangesetNode(a.g.buf, a.c.Changeset, p1, p2)
	a.g.buf = text
	if err == nil && node == a.c.Node {
		return nil
	}
	whole, err := a.g.hg.Changelog.Text(a.c.Rev)
	if err != nil {
		return err
	}
	a.out.to.Extra = append(a.out.to.Extra, change.Field{Key: fieldText, Value: string(whole)})
	return nil
}
