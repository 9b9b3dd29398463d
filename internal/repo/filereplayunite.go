package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
)

// unite takes in all that another state has.
func (s *fileStep) unite(o *fileState) error {
	p := s.p
	mine, theirs := s.set.Minus(o.set), o.set.Minus(s.set)
	if theirs.Empty() {
		return nil
	}
	if mine.Len() < theirs.Len() {
		s.hash, s.set = o.hash, s.set.Union(o.set)
		for n := range mine.All() {
			s.hash.Add(p.r.store.ChangeID(n))
		}
	} else {
		s.set = s.set.Union(o.set)
		for n := range theirs.All() {
			s.hash.Add(p.r.store.ChangeID(n))
		}
	}
	for k := range uint32(len(o.files)) {
		v, w := s.version(k), o.files[k]
		if v == w || w == nil {
			continue
		}
		by := p.files[k].by
		switch {
		case v == nil, !anyOf(by, mine):
			if v == nil || anyOf(by, theirs) {
				s.have(k, w)
			}
		case anyOf(by, theirs):
			if err := s.uniteFile(k, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// anyOf tells whether one of some numbers, ascending, is in a set.
func anyOf(by []uint32, set state.Set) bool {
	least, ok := set.Least()
	if !ok {
		return false
	}
	for _, n := range slices.Backward(by) {
		if n < least {
			return false
		}
		if set.Has(n) {
			return true
		}
	}
	return false
}

// uniteFile has a file with what both states know of it.
func (s *fileStep) uniteFile(k uint32, w *fileVersion) error {
	x, v := s.open(k)
	n := len(v.acts)
	for _, a := range w.acts {
		if !slices.Contains(v.acts[:n], a) {
			v.acts = append(v.acts, a)
		}
	}
	// Where both know the same acts, places and the like stay as they are.
	x.judge = x.judge || len(v.acts) != n || len(w.acts) != n || v.gone || w.gone
	t, err := s.p.texts.united(s.p.r, v.text, w.text)
	if err != nil || t == v.text {
		return err
	}
	s.p.texts.keep(t)
	s.p.texts.drop(v.text)
	v.text = t
	return nil
}
