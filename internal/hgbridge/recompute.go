package hgbridge

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/revlog"
)

// ManifestText appends to dst the text of a flat manifest of entries, which come in byte order of their paths.
func ManifestText(dst []byte, entries iter.Seq[revlog.ManifestEntry]) ([]byte, error) {
	var err error
	for e := range entries {
		if dst, err = revlog.AppendManifest(dst, e); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// ChangesetNode is the node of a changeset, and its text in the buffer given.
func ChangesetNode(text []byte, c revlog.Changeset, p1, p2 revlog.Node) (revlog.Node, []byte, error) {
	text, err := revlog.AppendChangeset(text[:0], c)
	if err != nil {
		return revlog.NullNode, text, err
	}
	return revlog.HashText(text, p1, p2), text, nil
}

// TreeManifests divides a flat manifest's text into those of its directories and calls node for each, the deepest first, which
// returns the node that it has: revlog.HashText with the parents that the directory's manifest has in history. What is returned
// is the root's text, for which node is not called.
func TreeManifests(flat []byte, node func(dir string, text []byte) (revlog.Node, error)) ([]byte, error) {
	t := treeBuilder{m: revlog.Manifest{Text: flat}, node: node}
	t.next()
	text, err := t.directory("", 0)
	if err == nil {
		err = t.m.Err()
	}
	return text, err
}

type treeBuilder struct {
	m    revlog.Manifest
	more bool
	node func(dir string, text []byte) (revlog.Node, error)
}

func (t *treeBuilder) next() { t.more = t.m.Next() }

// directory makes the text of the directory that all entries at hand which begin with its name are in. Entries of a flat
// manifest are in order of whole paths, those of a directory in order of names, so that "a" may come after "a.b" and before
// "a/c": lines are put in order at the end.
func (t *treeBuilder) directory(dir string, depth int) ([]byte, error) {
	if depth > maxTreeDepth {
		return nil, fmt.Errorf("manifest: more than %d directories deep", maxTreeDepth)
	}
	var lines []revlog.ManifestEntry
	for t.more && strings.HasPrefix(string(t.m.Entry.Path), dir) {
		name, _, below := bytes.Cut(t.m.Entry.Path[len(dir):], []byte{'/'})
		e := revlog.ManifestEntry{Path: bytes.Clone(name), Node: t.m.Entry.Node, Flag: t.m.Entry.Flag}
		if !below {
			lines = append(lines, e)
			t.next()
			continue
		}
		text, err := t.directory(dir+string(name)+"/", depth+1)
		if err != nil {
			return nil, err
		}
		if e.Node, err = t.node(dir+string(name)+"/", text); err != nil {
			return nil, err
		}
		e.Flag = 't'
		lines = append(lines, e)
	}
	return sortedText(lines)
}

func sortedText(lines []revlog.ManifestEntry) ([]byte, error) {
	slices.SortFunc(lines, func(a, b revlog.ManifestEntry) int { return bytes.Compare(a.Path, b.Path) })
	return ManifestText(nil, slices.Values(lines))
}
