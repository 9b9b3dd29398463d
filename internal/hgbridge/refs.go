package hgbridge

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/revlog"
)

// Ref is a name for a changeset: a bookmark or a tag.
type Ref struct {
	Name  string
	Node  revlog.Node
	Local bool // a tag that is not in history
}

// Bookmarks are the repository's bookmarks, by name. Those of changesets that are not there are left out, as Mercurial does.
func (r *Repo) Bookmarks() ([]Ref, error) {
	dir := r.dot
	if r.has("bookmarksinstore") {
		dir = r.store
	} else if shared, err := r.lines(filepath.Join(r.dot, "shared"), maxPointer); err != nil {
		return nil, err
	} else if slices.Contains(shared, "bookmarks") {
		dir = r.source
	}
	name := filepath.Join(dir, "bookmarks")
	lines, err := r.lines(name, maxBookmarks)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		node, bookmark, ok := strings.Cut(line, " ")
		id, err := revlog.ParseNode(node)
		if !ok || err != nil {
			return nil, fmt.Errorf("%s, line %d: %q is no bookmark", name, i+1, line)
		}
		if _, err := r.Changelog.Rev(id); err == nil {
			refs = append(refs, Ref{Name: bookmark, Node: id})
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int { return cmp.Compare(a.Name, b.Name) })
	return refs, nil
}

// history is what one file says of a tag: the changesets it was put on, the last one last.
type history []revlog.Node

// Tags are the repository's tags, by name. Each head has its own .hgtags; where they differ about a tag, the later head is right
// unless the other knows its word and has moved on. Tags that were taken away, and those of changesets that are not there, are
// left out.
func (r *Repo) Tags() ([]Ref, error) {
	heads, err := r.Heads()
	if err != nil {
		return nil, err
	}
	all := map[string]history{}
	seen := map[revlog.Node]bool{}
	for _, head := range heads {
		node, text, err := r.headTags(head)
		if err != nil {
			return nil, err
		}
		if text == nil || seen[node] {
			continue
		}
		seen[node] = true
		for name, mine := range parseTags(text) {
			all[name] = newer(mine, all[name])
		}
	}
	local, err := r.fsys.ReadFile(filepath.Join(r.dot, "localtags"), maxBookmarks)
	if err != nil {
		local = nil
	}
	locals := parseTags(local)
	var refs []Ref
	add := func(name string, h history, isLocal bool) {
		node := h[len(h)-1]
		if node == revlog.NullNode {
			return
		}
		if _, err := r.Changelog.Rev(node); err == nil {
			refs = append(refs, Ref{name, node, isLocal})
		}
	}
	for name, h := range all {
		if mine, ok := locals[name]; ok {
			h = newer(mine, h)
		}
		add(name, h, false)
	}
	for name, h := range locals {
		if _, global := all[name]; !global {
			add(name, h, true)
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int { return cmp.Compare(a.Name, b.Name) })
	return refs, nil
}

// headTags reads the .hgtags of a head, nil if it has none.
func (r *Repo) headTags(head revlog.Rev) (revlog.Node, []byte, error) {
	text, err := r.Changelog.Text(head)
	if err != nil {
		return revlog.NullNode, nil, err
	}
	c, err := revlog.ParseChangeset(text)
	if err != nil {
		return revlog.NullNode, nil, r.inChangeset(head, err)
	}
	entry, ok, err := r.Lookup(c.Manifest, ".hgtags")
	if err != nil || !ok {
		return revlog.NullNode, nil, err
	}
	contents, err := r.readPath(c.Manifest, ".hgtags")
	return entry.Node, contents, err
}

// parseTags reads the lines of a .hgtags, node and name; what is none is passed over, as Mercurial does.
func parseTags(text []byte) map[string]history {
	tags := map[string]history{}
	for line := range bytes.Lines(text) {
		node, name, ok := strings.Cut(string(bytes.TrimSuffix(line, []byte{'\n'})), " ")
		if id, err := revlog.ParseNode(node); ok && err == nil {
			name = strings.TrimSpace(name)
			tags[name] = append(tags[name], id)
		}
	}
	return tags
}

// newer unites what two heads say of a tag, the later one first.
func newer(mine, other history) history {
	if len(other) == 0 {
		return mine
	}
	now, then := mine[len(mine)-1], other[len(other)-1]
	if now != then && slices.Contains(other, now) && (!slices.Contains(mine, then) || len(other) > len(mine)) {
		now = then
	}
	said := map[revlog.Node]bool{now: true}
	var united history
	for _, h := range []history{mine, other} {
		for _, node := range h {
			if !said[node] {
				said[node] = true
				united = append(united, node)
			}
		}
	}
	return append(united, now)
}
