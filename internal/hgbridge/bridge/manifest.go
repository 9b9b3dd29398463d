package bridge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/revlog"
)

// find searches the lines of a flat manifest, which are in order, for that of a path: where it is, or, with end like start, where it
// would be.
func find(text []byte, path string) (start, end int) {
	low, high := 0, len(text)
	for low < high {
		middle := low + (high-low)/2
		start := low + bytes.LastIndexByte(text[low:middle], '\n') + 1
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		name := text[start:end]
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		switch c := compare(name, path); {
		case c == 0:
			return start, end
		case c < 0:
			low = end
		default:
			high = start
		}
	}
	return low, low
}

func compare(a []byte, b string) int {
	switch {
	case string(a) == b:
		return 0
	case string(a) < b:
		return -1
	}
	return 1
}

// lookup gives what a flat manifest has at a path, the null node for nothing.
func lookup(text []byte, path string) (revlog.Node, byte, error) {
	start, end := find(text, path)
	if start == end {
		return revlog.NullNode, 0, nil
	}
	m := revlog.Manifest{Text: text[start:end]}
	if !m.Next() {
		return revlog.NullNode, 0, m.Err()
	}
	return m.Entry.Node, m.Entry.Flag, nil
}

// line is what a manifest is to have at a path: nothing with the null node.
type line struct {
	path string
	node revlog.Node
	flag byte
	hash *revlog.Hashing // what gives the node
}

func sortLines(lines []line) {
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.path, b.path) })
}

// edit appends to dst a manifest's text with other lines, which come in byte order of paths, and calls differs for each that was not
// so before.
func edit(dst, text []byte, lines []line, differs func(path string)) ([]byte, error) {
	at := 0
	for i := range lines {
		l := &lines[i]
		if i > 0 && lines[i-1].path >= l.path {
			return dst, fmt.Errorf("%q comes twice", l.path)
		}
		start, end := find(text[at:], l.path)
		start, end = start+at, end+at
		dst = append(dst, text[at:start]...)
		at = end
		from := len(dst)
		if l.node != revlog.NullNode {
			var err error
			if dst, err = revlog.AppendManifest(dst, revlog.ManifestEntry{Path: []byte(l.path), Node: l.node, Flag: l.flag}); err != nil {
				return dst, err
			}
		}
		if !bytes.Equal(dst[from:], text[start:end]) {
			differs(l.path)
		}
	}
	return append(dst, text[at:]...), nil
}
