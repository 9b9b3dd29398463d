package hgbridge

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/revlog"
)

// Subrepo is a repository that a changeset has inside itself.
type Subrepo struct {
	Path   string
	Source string // where it comes from, as written
	Kind   string // "hg", "git" or "svn"
	State  string // what is checked out: a node, a commit, a revision; empty if nothing was committed yet
}

// Subrepos reads the files .hgsub and .hgsubstate of a changeset, by path. What is checked out without a source is left out, as
// Mercurial does.
func (r *Repo) Subrepos(manifest revlog.Node) ([]Subrepo, error) {
	sources, err := r.readPath(manifest, ".hgsub")
	if err != nil || sources == nil {
		return nil, err
	}
	states, err := r.readPath(manifest, ".hgsubstate")
	if err != nil {
		return nil, err
	}
	return parseSubrepos(sources, states)
}

// readPath reads a file of a changeset, nil if it is not there.
func (r *Repo) readPath(manifest revlog.Node, path string) ([]byte, error) {
	entry, ok, err := r.Lookup(manifest, path)
	if err != nil || !ok {
		return nil, err
	}
	file, err := r.File(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	contents, _, err := file.Read(entry.Node)
	return append([]byte{}, contents...), err
}

// parseSubrepos reads lines "path = [kind]source" and lines "state path". Sections, of which only the rewriting of sources exists,
// end the first.
func parseSubrepos(sources, states []byte) ([]Subrepo, error) {
	checked := map[string]string{}
	for line := range bytes.Lines(states) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		state, path, ok := strings.Cut(text, " ")
		if !ok {
			return nil, fmt.Errorf(".hgsubstate: %q is no state of a subrepository", text)
		}
		checked[path] = state
	}
	var subs []Subrepo
	for line := range bytes.Lines(sources) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' || text[0] == ';' {
			continue
		}
		if text[0] == '[' && strings.HasSuffix(text, "]") {
			break
		}
		path, source, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf(".hgsub: %q is no subrepository", text)
		}
		s := Subrepo{Path: strings.TrimSpace(path), Source: strings.TrimSpace(source), Kind: "hg"}
		if kind, rest, ok := strings.Cut(strings.TrimPrefix(s.Source, "["), "]"); ok && s.Source[0] == '[' {
			s.Kind, s.Source = kind, rest
		}
		s.State = checked[s.Path]
		subs = append(subs, s)
	}
	slices.SortFunc(subs, func(a, b Subrepo) int { return cmp.Compare(a.Path, b.Path) })
	return subs, nil
}
