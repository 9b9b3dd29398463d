package weave

import (
	"cmp"
	"slices"
	"sort"

	"github.com/oxy-vcs/oxy/internal/change"
)

// HunkID names a hunk: a change, and the hunk's index among those that the change has in this file.
type HunkID struct{ Change, Index uint32 }

// Pair is two hunks of concurrent changes that conflict. The first has the lower change number.
type Pair [2]HunkID

func pairOf(a, b HunkID) Pair {
	if a.Change > b.Change {
		a, b = b, a
	}
	return Pair{a, b}
}

func comparePairs(a, b Pair) int {
	for i := range a {
		if c := cmp.Or(cmp.Compare(a[i].Change, b[i].Change), cmp.Compare(a[i].Index, b[i].Index)); c != 0 {
			return c
		}
	}
	return 0
}

// Open lists the conflicts that nothing has settled, in order. The slice must not be changed.
func (w *Weave) Open() []Pair { return w.open }

// located is a hunk and the places that its gap takes in.
type located struct {
	hunk
	at span
}

// locate finds the hunks of the sources for which of is true.
func (p places) locate(of func(i int) bool) (out []located, err error) {
	err = p.eachLocated(of, func(h hunk, at span) { out = append(out, located{h, at}) })
	return out, err
}

// meeting finds those hunks of the sources for which of is true that meet some stretches.
func (p places) meeting(stretches []span, of func(i int) bool) (out []located, err error) {
	where := apart(stretches)
	err = p.eachLocated(of, func(h hunk, at span) {
		i := sort.Search(len(where), func(i int) bool { return where[i].r >= at.l })
		if i < len(where) && where[i].l <= at.r {
			out = append(out, located{h, at})
		}
	})
	return out, err
}

// apart makes one of stretches that meet, and puts them in order.
func apart(of []span) (out []span) {
	of = slices.Clone(of)
	slices.SortFunc(of, func(a, b span) int { return cmp.Compare(a.l, b.l) })
	for _, s := range of {
		if n := len(out); n > 0 && out[n-1].meets(s) {
			out[n-1] = out[n-1].hull(s)
		} else {
			out = append(out, s)
		}
	}
	return out
}

func (p places) eachLocated(of func(i int) bool, f func(h hunk, at span)) (err error) {
	for i := range p.w.Sources {
		if !of(i) {
			continue
		}
		damaged := p.w.eachHunk(i, func(h hunk) {
			at, e := p.span(h.parts[0].L, h.parts[0].R)
			if e != nil {
				err = e
			}
			f(h, at)
		})
		if err = cmp.Or(damaged, err); err != nil {
			return err
		}
	}
	return nil
}

// clash reports whether two hunks that meet conflict if their changes are concurrent: one adds, and their effects differ. The
// undoing of a change that the other does not build on clashes with nothing of it, nor do two undoings of one.
func (w *Weave) clash(a, b *hunk, h History) bool {
	if !a.adds() && !b.adds() || w.sameEffect(a, b) {
		return false
	}
	if a.undo != nil && (b.undo != nil && *b.undo == *a.undo || !h.Reaches(b.change, *a.undo)) {
		return false
	}
	return b.undo == nil || h.Reaches(a.change, *b.undo)
}

// sameEffect reports whether two hunks are one edit made twice.
func (w *Weave) sameEffect(a, b *hunk) bool {
	if a.undo != nil || b.undo != nil {
		return a.undo != nil && b.undo != nil && *a.undo == *b.undo
	}
	if a.inserts() != b.inserts() || len(a.parts) != len(b.parts) || !sameForm(a, b) {
		return false
	}
	return !a.inserts() || slices.ContainsFunc(w.twins, func(t twins) bool {
		return slices.Contains(t.at, change.Pos{Change: a.change, Off: a.off}) && slices.Contains(t.at, change.Pos{Change: b.change, Off: b.off})
	})
}

func (h *hunk) id() HunkID { return HunkID{h.change, uint32(h.index)} }

// close takes out the conflicts that the last source, in whose past they all lie, solved.
func (w *Weave) close(by []change.Hunk) error {
	p := w.places()
	var solved []span
	for i := range by {
		for _, s := range by[i].Solves {
			at, err := p.span(s.L, s.R)
			if err != nil {
				return err
			}
			solved = append(solved, at)
		}
	}
	hunks, err := p.ofPairs()
	if err != nil {
		return err
	}
	w.open = slices.DeleteFunc(slices.Clone(w.open), func(pair Pair) bool {
		a, b := hunks.pair(pair)
		where := span{max(a.at.l, b.at.l), min(a.at.r, b.at.r)}
		return slices.ContainsFunc(solved, func(s span) bool { return s.meets(where) })
	})
	return nil
}

// byHunk is located hunks in order of their ids.
type byHunk []located

func (b byHunk) find(id HunkID) (*located, bool) {
	i, ok := slices.BinarySearchFunc(b, id, func(h located, id HunkID) int {
		return cmp.Or(cmp.Compare(h.change, id.Change), cmp.Compare(uint32(h.index), id.Index))
	})
	if !ok {
		return nil, false
	}
	return &b[i], true
}

// ofPairs gives the hunks of the changes with open conflicts. Those with one are there.
func (p places) ofPairs() (byHunk, error) {
	of := make([]bool, len(p.w.Sources))
	for _, pair := range p.w.open {
		for _, id := range pair {
			if k, ok := p.w.source(id.Change); ok {
				of[k] = true
			}
		}
	}
	hunks, err := p.locate(func(i int) bool { return of[i] })
	if err != nil {
		return nil, err
	}
	all := byHunk(hunks)
	for _, pair := range p.w.open {
		for _, id := range pair {
			if _, ok := all.find(id); !ok {
				return nil, ErrDamaged
			}
		}
	}
	return all, nil
}

// pair gives the two hunks of a pair, which are there.
func (b byHunk) pair(p Pair) (one, other *located) {
	one, _ = b.find(p[0])
	other, _ = b.find(p[1])
	return one, other
}
