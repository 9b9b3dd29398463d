package hgbridge

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/revlog"
)

// maxTreeDepth bounds nested directories of a tree manifest: paths end at 4 KiB, and each level takes two bytes.
const maxTreeDepth = 2048

// directory is the manifests of one directory of a tree manifest.
type directory struct {
	log *revlog.Log
	r   *revlog.Reader
}

func (d *directory) close() error {
	d.r.Close()
	return d.log.Close()
}

// Manifest gives the text of a root manifest as a flat one, whatever form the store has: a line for each file, as
// revlog.Manifest reads it. It is valid until the next call of a method that reads manifests.
func (r *Repo) Manifest(node revlog.Node) ([]byte, error) {
	if node == revlog.NullNode {
		return nil, nil
	}
	rev, err := r.Manifests.Rev(node)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	text, err := r.texts.Text(rev)
	if err != nil || !r.tree {
		return text, err
	}
	return r.flatten(nil, "", bytes.Clone(text), 0)
}

// flatten appends the lines of a tree manifest and of those beneath it, with their paths. A directory's lines are in order of
// names, a flat manifest's in order of whole paths: "a.b" comes after the directory "a", and before what is in it.
func (r *Repo) flatten(dst []byte, dir string, text []byte, depth int) ([]byte, error) {
	if depth > maxTreeDepth {
		return dst, fmt.Errorf("manifest of %q: more than %d directories deep", dir[:64], maxTreeDepth)
	}
	var lines []revlog.ManifestEntry
	m := revlog.Manifest{Text: text}
	for m.Next() {
		e := m.Entry
		e.Path = append([]byte(dir), e.Path...)
		if e.Flag == 't' {
			e.Path = append(e.Path, '/')
		}
		lines = append(lines, e)
	}
	if err := m.Err(); err != nil {
		return dst, fmt.Errorf("manifest of %q: %w", dir, err)
	}
	slices.SortFunc(lines, func(a, b revlog.ManifestEntry) int { return bytes.Compare(a.Path, b.Path) })
	for _, e := range lines {
		var err error
		if e.Flag == 't' {
			var below []byte
			if below, err = r.directoryText(string(e.Path), e.Node); err == nil {
				dst, err = r.flatten(dst, string(e.Path), below, depth+1)
			}
		} else {
			dst, err = revlog.AppendManifest(dst, e)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// directoryText reads the manifest of a directory, named with a slash at its end.
func (r *Repo) directoryText(dir string, node revlog.Node) ([]byte, error) {
	d := r.dirs[dir]
	if d == nil {
		l, err := r.log(r.encoding.storeName("meta/" + dir + "00manifest.i"))
		if err != nil {
			return nil, fmt.Errorf("manifests of %q: %w", dir, err)
		}
		d = &directory{l, l.Reader()}
		r.dirs[dir] = d
	}
	rev, err := d.log.Rev(node)
	if err != nil {
		return nil, fmt.Errorf("manifest of %q: %w", dir, err)
	}
	text, err := d.r.Text(rev)
	return bytes.Clone(text), err
}

// Lookup finds a path in a root manifest, and reports whether it is there.
func (r *Repo) Lookup(node revlog.Node, path string) (revlog.ManifestEntry, bool, error) {
	text, err := r.Manifest(node)
	if err != nil {
		return revlog.ManifestEntry{}, false, err
	}
	line := findLine(text, path)
	if line == nil {
		return revlog.ManifestEntry{}, false, nil
	}
	m := revlog.Manifest{Text: line}
	if !m.Next() {
		return revlog.ManifestEntry{}, false, m.Err()
	}
	return m.Entry, true, nil
}

// findLine searches the lines of a flat manifest, which are in order, for that of a path.
func findLine(text []byte, path string) []byte {
	low, high := 0, len(text)
	for low < high {
		middle := low + (high-low)/2
		start := low + bytes.LastIndexByte(text[low:middle], '\n') + 1
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		line := text[start:end]
		name, _, _ := bytes.Cut(line, []byte{0})
		switch c := bytes.Compare(name, []byte(path)); {
		case c == 0:
			return line
		case c < 0:
			low = end
		default:
			high = start
		}
	}
	return nil
}

// Difference is a path that two manifests do not agree about. A file that is in one only has the null node in the other.
type Difference struct {
	Path     []byte
	Old, New revlog.Node
	OldFlag  byte
	NewFlag  byte
}

// Differences calls fn for each path about which two flat manifests differ, in order. Lines that are equal are passed over
// without a look at what is in them.
func Differences(old, now []byte, fn func(d Difference) error) error {
	a, b := revlog.Manifest{Text: old}, revlog.Manifest{Text: now}
	more := [2]bool{}
	next := func(i int, m *revlog.Manifest) error {
		more[i] = m.Next()
		return m.Err()
	}
	skip := func() {
		// Equal texts ahead of both are left out up to a line's end.
		n := commonLines(a.Text, b.Text)
		a.Text, b.Text = a.Text[n:], b.Text[n:]
	}
	skip()
	if err := errors.Join(next(0, &a), next(1, &b)); err != nil {
		return err
	}
	for more[0] || more[1] {
		c := 0
		switch {
		case !more[0]:
			c = 1
		case !more[1]:
			c = -1
		default:
			c = bytes.Compare(a.Entry.Path, b.Entry.Path)
		}
		var d Difference
		if c <= 0 {
			d.Path, d.Old, d.OldFlag = a.Entry.Path, a.Entry.Node, a.Entry.Flag
		}
		if c >= 0 {
			d.Path, d.New, d.NewFlag = b.Entry.Path, b.Entry.Node, b.Entry.Flag
		}
		if d.Old != d.New || d.OldFlag != d.NewFlag {
			if err := fn(d); err != nil {
				return err
			}
		}
		var err error
		if c == 0 {
			skip()
		}
		if c <= 0 {
			err = next(0, &a)
		}
		if c >= 0 {
			err = errors.Join(err, next(1, &b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commonLines is how many bytes of whole lines two texts begin with in common.
func commonLines(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	const step = 64
	for i+step <= n && bytes.Equal(a[i:i+step], b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return bytes.LastIndexByte(a[:i], '\n') + 1
}
