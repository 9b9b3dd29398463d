package repo

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// openBlocks gives the stored trees. Whatever is wrong with their file, it is derived: it is begun anew.
func (r *Repo) openBlocks() (*state.Blocks, error) {
	r.blocksMu.Lock()
	defer r.blocksMu.Unlock()
	if r.blocks != nil {
		return r.blocks, nil
	}
	if r.openHinted() {
		return r.blocks, nil
	}
	// A writer may have begun a new file meanwhile.
	if err := r.store.Refresh(); err == nil && r.openHinted() {
		return r.blocks, nil
	}
	return r.freshBlocks()
}

// openHinted opens the file that the last writer left word of.
func (r *Repo) openHinted() bool {
	h, err := state.DecodeHint(r.store.Hint())
	if err != nil {
		return false
	}
	b, err := state.OpenBlocks(r.fs, filepath.Join(r.dir, "trees"), h)
	if err != nil {
		return false
	}
	r.blocks = b
	return true
}

// freshBlocks begins a new generation without anything in it. The caller holds blocksMu.
func (r *Repo) freshBlocks() (*state.Blocks, error) {
	dir := filepath.Join(r.dir, "trees")
	gens, err := state.Generations(r.fs, dir)
	if err != nil {
		return nil, err
	}
	next := uint64(1)
	if h, err := state.DecodeHint(r.store.Hint()); err == nil {
		next = h.Generation + 1 // its file may be gone, but its number is not for another one
	}
	if len(gens) > 0 {
		next = max(next, slices.Max(gens)+1)
	}
	b, err := state.OpenBlocks(r.fs, dir, state.Hint{Generation: next})
	if err != nil {
		return nil, fmt.Errorf("begin trees: %w", err)
	}
	r.blocks, r.stale = b, true
	return b, nil
}

// tree gives a state's tree. One that is not stored is made from the nearest stored one and the changes since.
func (r *Repo) tree(s uint32) (state.Tree, error) {
	r.treeMu.Lock()
	defer r.treeMu.Unlock()
	b, err := r.openBlocks()
	if err != nil {
		return state.Tree{}, err
	}
	if s == NoState {
		return b.Tree(state.Root{}), nil
	}
	var steps []uint32                    // states to replay, last first
	var how map[uint32]store.State        // spares among them are made from what is nearest now
	base, from := b.Tree(state.Root{}), 0 // how many changes made it
	far := 0                              // changes of the steps
	for at := s; ; {
		root, ok, err := r.rootOf(b, at)
		if err != nil {
			return state.Tree{}, err
		}
		if ok {
			base = b.Tree(root)
			if len(steps) == 0 { // perhaps one that the store has not taken over yet
				return base, nil
			}
			st, err := r.state(at)
			if err != nil {
				return state.Tree{}, storeError(err)
			}
			from = int(st.Pos)
			break
		}
		steps = append(steps, at)
		st, err := r.treeStep(b, at)
		if err != nil {
			return state.Tree{}, err
		}
		far += len(st.Changes) + len(st.Without)
		if isSpare(at) {
			if how == nil {
				how = map[uint32]store.State{}
			}
			how[at] = st
		}
		if st.Parent < 0 {
			break
		}
		at = uint32(st.Parent)
	}
	done := r.opt.Timings.Phase("replay")
	defer done(0)
	if far > farTree {
		if tree, ok, err := r.treeBeyond(b, s, far); err != nil || ok {
			return tree, err
		}
	}
	straight := r.straight
	if !straight {
		// What lies on the way cannot be made where old contents were left out.
		depth, err := r.depthOf(Origin)
		if err != nil {
			return state.Tree{}, err
		}
		straight = depth > 0
	}
	tree, replayed := base, from
	for len(steps) > 0 {
		// Trees on the way bound what an older state costs next time. The first of them lie close together, so that states
		// that part early on share the pages of what they have in common too.
		n := min(len(steps), treesApart(tree.Root().Count), max(1, replayed))
		if straight {
			n = len(steps)
		}
		replayed += n
		here := len(steps) - n
		if tree, err = r.replay(tree, steps[here:], how); err != nil {
			return state.Tree{}, err
		}
		r.putRoot(b, steps[here], tree.Root())
		steps = steps[:here]
	}
	return tree, nil
}

// replay makes a tree from one of an earlier state and the steps since, last first. How tells of spares among them.
func (r *Repo) replay(tree state.Tree, steps []uint32, how map[uint32]store.State) (_ state.Tree, err error) {
	h := r.newReach()
	var o *overlay    // of changes each of which was recorded on the state before it
	var f *fuse       // of others
	var nums []uint32 // of many changes, that some of which were not
	settle := func() (err error) {
		switch {
		case len(nums) > 0:
			tree, err = r.treeWithAll(tree, nums)
		case o != nil:
			tree, err = o.finish()
		case f != nil:
			tree, err = f.finish()
		}
		o, f, nums = nil, nil, nil
		return err
	}
	all := make([]store.State, len(steps))
	some, beside := 0, false
	for i, s := range steps {
		var ok bool
		if all[i], ok = how[s]; !ok {
			if all[i], err = r.state(s); err != nil {
				return state.Tree{}, storeError(err)
			}
		}
		some, beside = some+len(all[i].Changes), beside || all[i].Beside
	}
	for _, st := range slices.Backward(all) {
		if len(st.Without) > 0 {
			if err := settle(); err != nil {
				return state.Tree{}, err
			}
			if tree, err = r.treeLess(tree, h, st.Without); err != nil {
				return state.Tree{}, err
			}
		}
		// What a set of changes makes does not hang on the way there: of many none need be looked at between.
		if beside && some > fewBeside {
			nums = append(nums, st.Changes...)
			continue
		}
		for _, n := range st.Changes {
			c, err := r.bodyOf(n)
			if err != nil {
				return state.Tree{}, storeError(err)
			}
			beside := st.Beside || c.undoes != NoState
			if beside && o != nil || !beside && f != nil {
				if err := settle(); err != nil {
					return state.Tree{}, err
				}
			}
			if o == nil && f == nil {
				if beside || tree.Disputed() {
					if f, err = r.newFuse(tree, h); err != nil {
						return state.Tree{}, err
					}
				} else {
					o = r.newOverlay(tree)
				}
			}
			if o != nil {
				err = o.apply(n, c.files, nil)
			} else {
				err = f.add(n)
			}
			if err != nil {
				return state.Tree{}, fmt.Errorf("apply change %s: %w", r.store.ChangeID(n).Short(), err)
			}
		}
	}
	err = settle()
	return tree, err
}

// treeLess makes a tree without some changes, on which no others of it depend.
func (r *Repo) treeLess(tree state.Tree, h *reach, gone []uint32) (state.Tree, error) {
	f, err := r.newFuse(tree, h)
	if err != nil {
		return tree, err
	}
	if err := f.remove(gone); err != nil {
		return tree, err
	}
	return f.finish()
}

// fewBeside is up to how many changes are added to a tree one by one where some of them know nothing of others.
const fewBeside = 4

// treeWithAll makes a tree with more changes, in the order of a log.
func (r *Repo) treeWithAll(tree state.Tree, nums []uint32) (state.Tree, error) {
	f, err := r.newFuse(tree, r.newReach())
	if err != nil {
		return tree, err
	}
	if err := f.addAll(nums); err != nil {
		return tree, err
	}
	return f.finish()
}

// farTree is how many changes may lie between a state and the nearest stored tree in its log before others are looked at: to do so
// takes as long as some hundred changes.
const farTree = 512

// treesTried bounds how many of them are.
const treesTried = 128

// treeBeyond makes a state's tree from the stored one of the longest log all of which it has, whether or not that lies in its own log,
// and the changes that it has beyond: as an import stores few trees, and those of whatever branch it came by. ok is false if none
// is nearer than so many changes.
func (r *Repo) treeBeyond(b *state.Blocks, s uint32, far int) (tree state.Tree, ok bool, err error) {
	st, err := r.state(s)
	if err != nil {
		return tree, false, storeError(err)
	}
	roots, err := b.Roots()
	if err != nil {
		return tree, false, err
	}
	type at struct {
		root state.StateRoot
		pos  uint64
	}
	var near []at
	for i := range roots {
		if k, err := r.state(roots[i].State); err == nil && k.Pos < st.Pos && st.Pos-k.Pos < uint64(far) { // else of a transaction that was given up
			near = append(near, at{roots[i], k.Pos})
		}
	}
	if len(near) == 0 {
		return tree, false, nil
	}
	slices.SortFunc(near, func(a, b at) int { return cmp.Compare(b.pos, a.pos) })
	set, err := r.setOf(s)
	if err != nil {
		return tree, false, err
	}
	for _, k := range near[:min(len(near), treesTried)] {
		if last, _, some, err := r.lastChange(k.root.State); err != nil || !some || !set.Has(last) {
			continue
		}
		under, err := r.setOf(k.root.State)
		if err != nil || !under.Minus(set).Empty() {
			continue
		}
		nums, err := r.logBeyond(s, set.Minus(under))
		if err != nil {
			return tree, false, err
		}
		if tree, err = r.treeWithAll(b.Tree(k.root.Root), nums); err != nil {
			return tree, false, err
		}
		r.putRoot(b, s, tree.Root())
		return tree, true, nil
	}
	return tree, false, nil
}

// logBeyond gives some changes of a state in the order of its log.
func (r *Repo) logBeyond(s uint32, some state.Set) ([]uint32, error) {
	left := some.Len()
	nums := make([]uint32, 0, left)
	err := r.eachStep(s, func(step *logStep) (bool, error) {
		for _, n := range slices.Backward(step.changes) {
			if some.Has(n) {
				nums = append(nums, n)
				left--
			}
		}
		return left > 0, nil
	})
	slices.Reverse(nums)
	return nums, err
}
