package hgbridge

import (
	"fmt"

	"github.com/oxy-vcs/oxy/revlog"
)

// Phase says who may have a changeset already.
type Phase uint8

// The phases, each of fewer people than the one before. What Mercurial keeps for itself, internal and archived changesets, is
// Hidden.
const (
	Public Phase = iota
	Draft
	Secret
	Hidden
)

// Changeset is one changeset of a repository.
type Changeset struct {
	revlog.Changeset // parts of the text, valid until the next changeset is read
	Rev              revlog.Rev
	Node             revlog.Node
	P1, P2           revlog.Rev
	Phase            Phase
	Obsolete         bool // rewritten or pruned, and not public
	Branch           string
	Closes           bool // closes its branch
	Flags            revlog.Flags
}

// Changesets calls fn for each changeset from from on, in the order of the changelog, parents first. It ends with the first
// error, of a changeset or of fn.
func (r *Repo) Changesets(from revlog.Rev, fn func(c *Changeset) error) error {
	phases, err := r.phases()
	if err != nil {
		return err
	}
	obsolete, err := r.obsolete()
	if err != nil {
		return err
	}
	reader := r.Changelog.Reader()
	defer reader.Close()
	var c Changeset
	return reader.Texts(from, revlog.Rev(r.Changelog.Len()), func(rev revlog.Rev, e *revlog.Entry, text []byte) error {
		parsed, err := revlog.ParseChangeset(text)
		if err != nil {
			return r.inChangeset(rev, err)
		}
		c = Changeset{Changeset: parsed, Rev: rev, Node: e.Node, P1: e.P1, P2: e.P2, Phase: phases[rev], Flags: e.Flags}
		c.Obsolete = c.Phase != Public && obsolete[e.Node]
		if c.Branch, c.Closes, err = c.Changeset.Branch(); err != nil {
			return r.inChangeset(rev, err)
		}
		return fn(&c)
	})
}

func (r *Repo) inChangeset(rev revlog.Rev, err error) error {
	return &revlog.Error{File: r.Changelog.Path(), Rev: rev, Err: err}
}

// Heads are the changesets without children, in order.
func (r *Repo) Heads() ([]revlog.Rev, error) {
	n := r.Changelog.Len()
	parent := make([]bool, n)
	err := r.Changelog.Entries(func(_ revlog.Rev, e *revlog.Entry) error {
		for _, p := range [2]revlog.Rev{e.P1, e.P2} {
			if p != revlog.Null {
				parent[p] = true
			}
		}
		return nil
	})
	var heads []revlog.Rev
	for rev, has := range parent {
		if !has {
			heads = append(heads, revlog.Rev(rev))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find heads: %w", err)
	}
	return heads, nil
}
