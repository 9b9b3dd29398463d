package bridge

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/revlog"
)

// scanned is what is known of a changeset before it is read.
type scanned struct {
	node, manifest revlog.Node
	p1, p2         revlog.Rev
	branch         string
	closes         bool
	out            bool // it is left out
}

// scan reads which changesets there are, and decides which are left out: by their phase, and obsolete ones that nothing stands upon
// that is not obsolete.
func (in *importer) scan() error {
	for _, l := range []*revlog.Log{in.hg.Changelog, in.hg.Manifests} {
		if err := whole(l); err != nil {
			return err
		}
	}
	var obsolete []bool
	branches := map[string]string{}
	err := in.hg.Changesets(0, func(c *hgbridge.Changeset) error {
		name, ok := branches[c.Branch]
		if !ok {
			name = c.Branch
			branches[name] = name
		}
		s := scanned{node: c.Node, manifest: c.Manifest, p1: c.P1, p2: c.P2, branch: name, closes: c.Closes}
		switch {
		case c.Phase == hgbridge.Hidden:
			s.out = true
		case c.Phase == hgbridge.Secret && !in.opt.Secret:
			s.out = true
			in.rep.Secret++
		}
		in.sets, obsolete = append(in.sets, s), append(obsolete, c.Obsolete && !in.opt.Obsolete)
		return nil
	})
	if err != nil {
		return err
	}
	needed := make([]bool, len(in.sets))
	for i := len(in.sets) - 1; i >= 0; i-- {
		s := &in.sets[i]
		if obsolete[i] && !needed[i] && !s.out {
			s.out = true
			in.rep.Obsolete++
		}
		if s.out {
			continue
		}
		for _, p := range s.parents() {
			needed[p] = true
		}
	}
	return nil
}

// whole makes sure that an index does not end inside an entry: what comes after would be missed without a word.
func whole(l *revlog.Log) error {
	n := l.Torn()
	if n == 0 {
		return nil
	}
	err := &revlog.Error{File: l.Path(), Rev: revlog.Rev(l.Len()), Err: fmt.Errorf("%w: its index ends %d bytes into its entry", revlog.ErrCorrupt, n)}
	return &repo.Error{Text: err.Error(), Next: "A write of Mercurial's that did not end: let it be undone with: hg recover", Err: err}
}

// parents are those that there are.
func (s *scanned) parents() []revlog.Rev {
	var out []revlog.Rev
	for _, p := range [2]revlog.Rev{s.p1, s.p2} {
		if p != revlog.Null {
			out = append(out, p)
		}
	}
	return out
}

// heads are, of each branch, the changesets that no other one of the branch descends from, the last one first.
func (in *importer) heads() map[string][]revlog.Rev {
	byBranch := map[string][]revlog.Rev{}
	child := make([]bool, len(in.sets)) // it has a child of its own branch
	for i := len(in.sets) - 1; i >= 0; i-- {
		s := &in.sets[i]
		if s.out {
			continue
		}
		if !child[i] {
			byBranch[s.branch] = append(byBranch[s.branch], revlog.Rev(i))
		}
		for _, p := range s.parents() {
			if in.sets[p].branch == s.branch {
				child[p] = true
			}
		}
	}
	for name, revs := range byBranch {
		if len(revs) > 1 {
			byBranch[name] = in.tops(revs)
		}
	}
	return byBranch
}

// tops leaves out of changesets, given from the last on, those that others descend from.
func (in *importer) tops(revs []revlog.Rev) []revlog.Rev {
	last := revs[len(revs)-1]
	below := make([]bool, revs[0]+1-last) // from last on: something descends from it
	var tops []revlog.Rev
	next := 0
	for i := revs[0]; i >= last; i-- {
		under := below[i-last]
		if next < len(revs) && revs[next] == i {
			if !under {
				tops = append(tops, i)
			}
			under = true
			next++
		}
		if !under {
			continue
		}
		for _, p := range in.sets[i].parents() {
			if p >= last {
				below[p-last] = true
			}
		}
	}
	return tops
}
