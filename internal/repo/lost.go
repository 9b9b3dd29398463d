package repo

import (
	"errors"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// lostBy is what a change took away, of what is gone still, by where it ever stood: a change that puts a thousand files where others
// were asks about each path, and each answer is to cost what lies there.
type lostBy struct {
	files   []lostFile
	at      map[string][]int // by a place
	beneath map[string][]int // by each directory above it
}

// lostFile is a file that is gone.
type lostFile struct {
	id     change.FileID
	was    was
	acts   []state.Act
	places []string // where it ever stood
	told   bool     // what makes it be gone is known to be needed
}

// lost lists what change c took away.
func (n *needs) lost(c uint32) (*lostBy, error) {
	if l := n.losts[c]; l != nil {
		return l, nil
	}
	o, err := n.f.r.origin(c)
	if err != nil {
		return nil, err
	}
	l := &lostBy{at: map[string][]int{}, beneath: map[string][]int{}}
	for i := range o.files {
		did := &o.files[i]
		if did.Writes&change.Gone == 0 && !o.undoes {
			continue
		}
		at, ok, err := n.f.base.ByFile(did.ID)
		if err != nil {
			return nil, err
		}
		if !ok || at.Alive {
			continue
		}
		x := lostFile{id: did.ID}
		if x.was, err = wasIn(n.f.base, n.f.disputes, did.ID); err != nil {
			return nil, err
		}
		if x.acts, err = n.f.actsOf(x.was.entry.Acts); err != nil {
			return nil, err
		}
		if x.places, err = n.stood(&x); err != nil {
			return nil, err
		}
		for _, p := range x.places {
			k := len(l.files)
			l.at[p] = append(l.at[p], k)
			for dir := above(p); dir != ""; dir = above(dir) {
				l.beneath[dir] = append(l.beneath[dir], k)
			}
		}
		l.files = append(l.files, x)
	}
	if n.losts == nil {
		n.losts = map[uint32]*lostBy{}
	}
	n.losts[c] = l
	return l, nil
}

// above is the directory that holds a path, of one at the top nothing.
func above(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// stood lists the places that were ever given to a file, each once.
func (n *needs) stood(x *lostFile) (places []string, err error) {
	for _, a := range append([]state.Act{{Change: x.id.Change, Ord: x.id.Ord}}, x.acts...) {
		d, err := n.f.r.deed(a, x.id)
		if err != nil {
			return nil, err
		}
		if (d.Did.Writes&change.WritesPlace != 0 || d.Adds) && !slices.Contains(places, d.Did.Path) {
			places = append(places, d.Did.Path)
		}
	}
	return places, nil
}

// gone adds all that makes files be gone which would else stand at a path, above or beneath: change c took them away.
func (n *needs) gone(c uint32, path string) error {
	l, err := n.lost(c)
	if err != nil {
		return err
	}
	for _, ks := range [][]int{l.at[path], l.beneath[path]} {
		if err := n.tell(l, ks, path); err != nil {
			return err
		}
	}
	for dir := above(path); dir != ""; dir = above(dir) {
		if err := n.tell(l, l.at[dir], path); err != nil {
			return err
		}
	}
	return nil
}

// tell adds what makes files be gone, of those that would stand where they meet a path.
func (n *needs) tell(l *lostBy, files []int, path string) error {
	for _, k := range files {
		x := &l.files[k]
		if x.told {
			continue
		}
		if len(x.places) > 1 { // which would it be?
			v, _, err := n.f.r.verdict(x.id, &x.was.entry, n.f.h)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(v.Place, func(d *state.Deed) bool { return overlaps(d.Did.Path, path) }) {
				continue
			}
		}
		x.told = true
		for _, a := range x.acts {
			n.deps = append(n.deps, a.Change)
		}
		n.deps = append(n.deps, x.id.Change)
		if err := n.edits(&fused{id: x.id, was: x.was, entry: x.was.entry, acts: x.acts}); err != nil && !errors.Is(err, errWeaveBlock) {
			return err
		}
	}
	return nil
}
