package repo

import (
	"cmp"
	"context"
	"slices"

	"github.com/oxy-vcs/oxy/internal/sync"
)

// proving takes states that updates tell of, and then proves that their changes fit on each other by making trees: not of each of a
// thousand tags, but of those that have all the others among them. A change fits by what its own past holds; where it fits in a set
// that has this past it fits in every part of it that does. The trees that are not made are when somebody asks for them, and so that
// this does not take long some are made on the way.
type proving struct {
	t    *tx
	all  []provable
	deep bool // old contents were left out: no tree is made of an old state
}

// provable is a state that was told of, and its log.
type provable struct {
	u     *sync.Update
	state StateRef
	log   *takenLog
}

// clonedShare is how many trees are kept on the way through a long log that came at once: one for each part of so many.
const clonedShare = 16

// take takes a state without its tree.
func (p *proving) take(u *sync.Update, base *StateRef, removed []changeID) (StateRef, error) {
	s, log, err := p.t.takeLog(u, base, removed)
	if err == nil && log != nil {
		p.all = append(p.all, provable{u, s, log})
	}
	return s, err
}

// finish makes the trees.
func (p *proving) finish(ctx context.Context) error {
	r := p.t.r
	if len(p.all) <= fewTold && !p.deep {
		for _, k := range p.all {
			if err := p.t.treeTaken(k.state, *k.log); err != nil {
				return malformedUpdate(k.u, err)
			}
		}
		return nil
	}
	if len(p.all) == 0 {
		return nil
	}
	// Some may have the same log.
	slices.SortStableFunc(p.all, func(a, b provable) int { return cmp.Compare(a.state.Len, b.state.Len) })
	proved := make([]bool, len(p.all))
	for i := range slices.Backward(p.all) {
		proved[i] = p.amongLonger(i)
	}
	r.straight = true // those on the way are chosen here
	defer func() { r.straight = false }()
	longest := p.all[len(p.all)-1].state.Len
	apart := uint64(treesApart(0))
	last := uint64(0)
	for i := range p.all {
		k := &p.all[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if proved[i] && k.u.Kind == sync.Tag && (p.deep || k.state.Len-last < max(apart, longest/clonedShare)) {
			continue
		}
		last = max(last, k.state.Len)
		if k.log.before.Num == NoState && len(k.log.nums) > 0 {
			b, err := r.bodyOf(k.log.nums[0])
			if err == nil {
				err = fitsFirst(k.log.nums[0], b)
			}
			if err != nil {
				return malformedUpdate(k.u, err)
			}
		}
		tree, err := r.tree(k.state.Num)
		if err != nil {
			return malformedUpdate(k.u, err)
		}
		apart = uint64(treesApart(tree.Root().Count))
		p.t.writeAhead()
		r.store.Release()
		r.blocks.Release()
	}
	return nil
}

// amongTried bounds in how many of the names that come next a state is looked for, beside the bookmarks.
const amongTried = 32

// amongLonger tells whether one that comes after has all of a state.
func (p *proving) amongLonger(i int) bool {
	k := &p.all[i]
	for j := i + 1; j < len(p.all); j++ {
		o := &p.all[j]
		if j-i > amongTried && o.u.Kind == sync.Tag {
			continue
		}
		if n := len(k.log.nums); n > 0 && !o.log.set.Has(k.log.nums[n-1]) {
			continue
		}
		if k.log.set.Minus(o.log.set).Empty() {
			return true
		}
	}
	return false
}
