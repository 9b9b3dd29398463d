package worktree

import (
	"maps"
	"slices"
	"strings"
)

// selection restricts a walk to some paths: a tree of their elements. A nil selection is everything.
type selection struct {
	all  bool
	kids map[string]*selection
}

// selectPaths makes the selection of some files and directories with all in them; "" is the whole tree.
func selectPaths(paths []string) *selection {
	root := &selection{}
	for _, path := range paths {
		s := root
		for rest := strings.Trim(path, "/"); rest != "" && !s.all; {
			var name string
			name, rest, _ = strings.Cut(rest, "/")
			next := s.kids[name]
			if next == nil {
				next = &selection{}
				if s.kids == nil {
					s.kids = map[string]*selection{}
				}
				s.kids[name] = next
			}
			s = next
		}
		s.all, s.kids = true, nil
	}
	if root.all {
		return nil
	}
	return root
}

// meet is what both select.
func (s *selection) meet(o *selection) *selection {
	switch {
	case s == nil || s.all:
		return o
	case o == nil || o.all:
		return s
	}
	out := &selection{}
	for name, kid := range s.kids {
		if other := o.kids[name]; other != nil {
			if out.kids == nil {
				out.kids = map[string]*selection{}
			}
			out.kids[name] = kid.meet(other)
		}
	}
	return out
}

// within is the selection in the directory of a name, nil for all of it.
func (s *selection) within(name string) *selection {
	if kid := s.kids[name]; !kid.all {
		return kid
	}
	return nil
}

func (s *selection) names() []string { return slices.Sorted(maps.Keys(s.kids)) }
