package repo

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
)

// follow records that strays move where the directory went that they were put beneath.
func (t *tx) follow(on StateRef, strays []Stray, author change.Person, at *change.Time) (next StateRef, made *ChangeInfo, err error) {
	r := t.r
	tree, err := r.tree(on.Num)
	if err != nil {
		return StateRef{}, nil, err
	}
	f, err := r.newFuse(tree, t.r.newReach())
	if err != nil {
		return StateRef{}, nil, err
	}
	c := &change.Change{Author: author, Time: timeOr(at), Message: fmt.Sprintf("Move %s after the directory that went", safepath.Quote(strays[0].Path))}
	if len(strays) > 1 {
		c.Message = fmt.Sprintf("Move %d files after the directories that went", len(strays))
	}
	n := needs{f: f}
	for _, s := range strays {
		e, ok, err := tree.Get(s.Path)
		if err != nil || !ok {
			return StateRef{}, nil, fmt.Errorf("move %s: %w", safepath.Quote(s.Path), err)
		}
		x, err := f.file(e.File)
		if err != nil {
			return StateRef{}, nil, err
		}
		if err := n.act(x, change.WritesPlace, false, false); err != nil {
			return StateRef{}, nil, err
		}
		over, err := f.standing(x, change.WritesPlace)
		if err != nil {
			return StateRef{}, nil, err
		}
		c.Files = append(c.Files, change.File{ID: e.File, Writes: change.WritesPlace, Path: s.To, Over: over})
	}
	self := r.store.NumChanges() + uint32(len(t.made))
	if err := t.claims(f, &n, c, self); err != nil {
		return StateRef{}, nil, err
	}
	num, err := t.putDraft(c, minimalOf(n.deps, t.depsOf))
	if err != nil {
		return StateRef{}, nil, err
	}
	if next, err = t.appendStep(on, num); err != nil {
		return StateRef{}, nil, err
	}
	return next, t.infoOf(num, c), t.growTree(next, tree, []uint32{num})
}

// standing names the values that ops on some registers of a file replace: all that stand.
func (f *fuse) standing(x *fused, writes change.Writes) ([]change.Over, error) {
	if len(x.acts) == 0 || f.r.kept != nil && f.plainly(x) {
		return over(&x.entry, writes), nil
	}
	deeds, err := f.deeds(x)
	if err != nil {
		return nil, err
	}
	v := state.Judge(deeds, f.history(x))
	var out []change.Over
	for _, r := range []struct {
		reg    change.Writes
		values []*state.Deed
	}{{change.WritesPlace, v.Place}, {change.WritesMode, v.Mode}, {change.WritesBody, v.Body}} {
		for _, d := range r.values {
			if writes&r.reg != 0 && d.Did.Writes&r.reg != 0 {
				out = append(out, change.Over{Reg: r.reg, Change: d.Change, Ord: d.Ord})
			}
		}
	}
	return out, nil
}

// plainly tells whether a file stands in the base, one value in each register, and nothing was done to it since.
func (f *fuse) plainly(x *fused) bool {
	return x.was.known && x.was.alive && !x.was.hidden && x.newActs == 0 && !x.cutActs && disputeOf(f.disputes, x.id) == nil
}
