package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// difference gives the changes that a state has and another has not, each in the order of its log.
func (r *Repo) difference(a, b uint32) (onlyA, onlyB []uint32, err error) {
	done := r.opt.Timings.Phase("difference")
	defer done(0)
	beyondA, beyondB, err := r.apart(a, b)
	if err != nil {
		return nil, nil, err
	}
	onlyA, onlyB = beyondA.only(&beyondB), beyondB.only(&beyondA)
	slices.Reverse(onlyA)
	slices.Reverse(onlyB)
	return onlyA, onlyB, nil
}

// unite makes the state of all that two states have, with its tree. The second one's changes follow the first one's log.
func (t *tx) unite(a, b StateRef) (StateRef, error) {
	r := t.r
	onlyA, onlyB, err := r.difference(a.Num, b.Num)
	switch {
	case err != nil:
		return StateRef{}, err
	case len(onlyB) == 0:
		return a, nil
	case len(onlyA) == 0:
		return b, nil
	}
	treeA, err := r.tree(a.Num)
	if err != nil {
		return StateRef{}, err
	}
	treeB, err := r.tree(b.Num)
	if err != nil {
		return StateRef{}, err
	}
	next, err := t.appendBeside(a, onlyB)
	if err != nil {
		return StateRef{}, err
	}
	done := r.opt.Timings.Phase("unite trees")
	defer done(0)
	// The tree of the side that knows more is built on.
	base, from := treeA, treeB
	if len(onlyB) > len(onlyA) {
		base, from = treeB, treeA
	}
	f, err := r.newFuse(base, r.newReach())
	if err != nil {
		return StateRef{}, err
	}
	if err := f.uniteWith(from); err != nil {
		return StateRef{}, err
	}
	return next, t.keepTree(next, f)
}

// uniteWith takes in another tree. What the two know of a file tells by itself whether one side knows less: then the other's is
// the union's, and no change is read.
func (f *fuse) uniteWith(from state.Tree) error {
	disputes, err := from.Disputes()
	if err != nil {
		return err
	}
	ids := map[change.FileID]bool{} // files to look at whole
	for _, ds := range [][]state.Dispute{f.disputes, disputes} {
		for i := range ds {
			ids[ds[i].File] = true
		}
	}
	places := map[string]bool{} // where files meet, or are shown in another's stead
	for _, ds := range [][]state.Dispute{f.disputes, disputes} {
		for i := range ds {
			places[ds[i].Place], places[ds[i].Shown] = true, true
		}
	}
	if f.theirs != nil && len(f.theirs) <= mostTheirs {
		for id := range f.theirs {
			ids[id] = true
		}
	} else if err := f.differing(from, ids, places); err != nil {
		return err
	}
	for id := range ids {
		if err := f.uniteFile(id, from, disputes); err != nil {
			return err
		}
	}
	f.plain = slices.DeleteFunc(f.plain, func(e state.Edit) bool { return ids[e.Entry.File] })
	f.united = map[change.FileID]was{}
	for i := range f.plain {
		e := &f.plain[i].Entry
		f.united[e.File] = was{known: true, alive: true, place: e.Path, shown: e.Path, entry: *e}
	}
	return state.DiffVacated(f.base, from, func(path string, by []uint32) error {
		for _, n := range by {
			f.vacated = append(f.vacated, state.Vacated{Path: path, By: n})
		}
		return nil
	})
}

// mostTheirs is up to how many files are looked at by themselves, where it is known which they are: two trees that went apart long ago
// differ in many that only one side changed.
const mostTheirs = 512

// differing finds the files of which two trees know different things: those that are to be looked at whole, and those that are taken as
// the other tree has them.
func (f *fuse) differing(from state.Tree, ids map[change.FileID]bool, places map[string]bool) error {
	err := state.Diff(f.base, from, func(old, new *state.Entry) error {
		if old == nil || new == nil || old.File != new.File || places[old.Path] || ids[old.File] {
			for _, e := range []*state.Entry{old, new} {
				if e != nil {
					ids[e.File] = true
				}
			}
			return nil
		}
		knows, err := f.compare(old, new)
		switch {
		case err != nil:
			return err
		case knows == knowsApart:
			ids[old.File] = true
		case knows == knowsMore:
			f.plain = append(f.plain, state.Edit{Path: new.Path, Entry: *new})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return state.DiffFiles(f.base, from, func(id change.FileID) error {
		ids[id] = true
		return nil
	})
}

// knowledge tells of two things that were made of one file which was made with more.
type knowledge uint8

const (
	knowsSame  knowledge = iota
	knowsMore            // the second adds to the first
	knowsLess            // the first adds to the second
	knowsApart           // each may have something that the other has not
)

// compare is knowsMore, unless the fuse was told how to find out.
func (f *fuse) compare(a, b *state.Entry) (knowledge, error) {
	if f.knows != nil {
		return f.knows(a.File), nil
	}
	return f.r.knowsMore(a, b)
}

// knowsMore compares what two trees know of a file.
func (r *Repo) knowsMore(a, b *state.Entry) (knowledge, error) {
	blocks, err := r.openBlocks()
	if err != nil {
		return 0, err
	}
	text, err := compareChains(a.Weave, b.Weave, blocks.WeaveBuiltOn)
	if err != nil {
		return 0, err
	}
	acts, err := compareChains(a.Acts, b.Acts, blocks.ActsBuiltOn)
	if text == knowsSame || text == acts {
		return acts, err
	} else if acts == knowsSame {
		return text, err
	}
	return knowsApart, err
}

func compareChains(a, b state.Ref, builtOn func(ref, on state.Ref) (bool, error)) (knowledge, error) {
	if a == b {
		return knowsSame, nil
	}
	if more, err := builtOn(b, a); more || err != nil {
		return knowsMore, err
	}
	if less, err := builtOn(a, b); less || err != nil {
		return knowsLess, err
	}
	return knowsApart, nil
}

// uniteFile has a file with what both trees know of it.
func (f *fuse) uniteFile(id change.FileID, from state.Tree, disputes []state.Dispute) error {
	w, err := wasIn(from, disputes, id)
	if err != nil || !w.known {
		return err
	}
	x, err := f.file(id)
	if err != nil {
		return err
	}
	if !x.was.known {
		x.takeAs(&w)
		return nil
	}
	knows, err := f.compare(&x.was.entry, &w.entry)
	switch {
	case err != nil || knows == knowsLess || knows == knowsSame && (w.alive == x.was.alive):
		return err
	case knows == knowsMore:
		x.takeAs(&w)
		return nil
	}
	return f.unite(x, &w)
}

// keepTree stores the tree that a fuse makes as that of a state.
func (t *tx) keepTree(s StateRef, f *fuse) error {
	tree, err := f.finish()
	if err != nil {
		return err
	}
	t.r.blocks.PutRoot(state.StateRoot{State: s.Num, Root: tree.Root()})
	return nil
}

// maxSteps is up to how many changes that are added at once get a state each: a peer that has some of a few changes is told of
// the rest by such a state. Those of a large merge share one, and their positions are states when somebody names them.
const maxSteps = 32

// appendBeside adds changes to the log of a state beside others that they may not know of.
func (t *tx) appendBeside(base StateRef, nums []uint32) (StateRef, error) {
	set, err := state.ParseSetHash(base.ID)
	if err != nil {
		return StateRef{}, err
	}
	if len(nums) > t.r.maxSteps {
		return t.putStep(base, &set, nums, true)
	}
	for i := range nums {
		if base, err = t.putStep(base, &set, nums[i:i+1], true); err != nil {
			return StateRef{}, err
		}
	}
	return base, nil
}

// appendInstead adds changes to the log of a state as appendBeside does, knowing another state with that log and others in their
// stead: of many the id is made from what is not the same.
func (t *tx) appendInstead(base StateRef, nums []uint32, other StateRef, others []uint32) (StateRef, error) {
	if len(nums) <= t.r.maxSteps {
		return t.appendBeside(base, nums)
	}
	set, err := state.ParseSetHash(other.ID)
	if err != nil {
		return StateRef{}, err
	}
	has, had := setOfAll(nums), setOfAll(others)
	for n := range had.Minus(has).All() {
		set.Remove(t.idOf(n))
	}
	for n := range has.Minus(had).All() {
		set.Add(t.idOf(n))
	}
	return t.putKnown(base, set.Bytes(), nums, true)
}

// appendStep adds a change to the log of a state, recorded on what comes before it.
func (t *tx) appendStep(base StateRef, n uint32) (StateRef, error) {
	set, err := state.ParseSetHash(base.ID)
	if err != nil {
		return StateRef{}, err
	}
	return t.putStep(base, &set, []uint32{n}, false)
}

func (t *tx) putStep(base StateRef, set *state.SetHash, nums []uint32, beside bool) (next StateRef, err error) {
	for _, n := range nums {
		set.Add(t.idOf(n))
	}
	return t.putKnown(base, set.Bytes(), nums, beside)
}

// putKnown puts a step that leads to the state with an id.
func (t *tx) putKnown(base StateRef, id [32]byte, nums []uint32, beside bool) (next StateRef, err error) {
	st := store.State{Parent: -1, Changes: nums, Pos: base.Len + uint64(len(nums)), ID: id, Beside: beside}
	if base.Num != NoState {
		st.Parent = int64(base.Num)
	}
	next = StateRef{ID: id, Len: st.Pos}
	next.Num, err = t.putState(st)
	return next, err
}
