package repo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// trees makes the trees of all that has a name again from changes alone, and holds those that are stored against them.
func (c *checker) trees() error {
	v, err := c.r.store.View()
	if err != nil {
		return nil // told with its operation
	}
	states, err := c.namedStates(v)
	if err != nil {
		return nil // told before
	}
	// In memory: nobody but this check sees it.
	fresh, err := state.OpenBlocks(nil, filepath.Join(c.r.dir, "trees"), state.Hint{Generation: 1})
	if err != nil {
		return err
	}
	t := treeCheck{checker: c, view: v, again: c.r.withBlocks(fresh), seen: map[state.Ref]bool{}}
	t.again.straight = true
	t.logs = logSets{r: t.again}
	defer func() { _ = t.again.blocks.Close() }()
	if kept := c.stored(v); kept != nil {
		defer kept.Close()
		t.kept = c.r.withBlocks(kept)
	}
	t.checkAll(states)
	if t.kept != nil {
		t.sets()
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.res.Trees = uint64(len(states))
	c.res.Files = uint64(len(t.texts))
	return t.render()
}

// withBlocks is the same repository with other trees.
func (r *Repo) withBlocks(b *state.Blocks) *Repo {
	return &Repo{root: r.root, dir: r.dir, fs: r.fs, opt: r.opt, store: r.store, blocks: b, maxSteps: r.maxSteps}
}

// namedStates lists the states of bookmarks, tags and the working copy, the shortest log first: then each is made from
// one before it.
func (c *checker) namedStates(v *store.View) ([]uint32, error) {
	pos := map[uint32]uint64{}
	add := func(s uint32) error {
		st, err := c.r.store.State(s)
		pos[s] = st.Pos
		return err
	}
	var errs []error
	if v.Base >= 0 {
		errs = append(errs, add(uint32(v.Base)))
	}
	for _, names := range []map[string]uint32{v.Bookmarks, v.Tags} {
		for _, s := range names {
			if s != NoState {
				errs = append(errs, add(s))
			}
		}
	}
	states := make([]uint32, 0, len(pos))
	for s := range pos {
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b uint32) int {
		if pos[a] != pos[b] {
			return int(int64(pos[a]) - int64(pos[b]))
		}
		return int(int64(a) - int64(b))
	})
	return states, errors.Join(errs...)
}

// stored opens the trees' file as it is. One that is not there, or of an oxy that wrote
// them in another version, is no damage: they are made when they are asked for.
func (c *checker) stored(v *store.View) *state.Blocks {
	hint := c.r.store.Hint()
	if len(hint) == 0 {
		return nil
	}
	h, err := state.DecodeHint(hint)
	if err == nil {
		var b *state.Blocks
		if b, err = state.OpenBlocks(c.r.fs, filepath.Join(c.r.dir, "trees"), h); err == nil {
			return b
		}
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, state.ErrVersion) {
		c.find(finding{Problem{Text: err.Error(), File: "trees", Derived: true, Mend: mendTrees,
			Names: namesWhere(v, func(uint32) bool { return true })}, -1, -1})
	}
	return nil
}

// treeCheck holds stored trees against trees made again.
type treeCheck struct {
	*checker
	view  *store.View
	again *Repo // makes them again
	kept  *Repo // reads the stored ones; nil when there are none
	logs  logSets
	made  []uint32 // of again, in order
	room  uint64   // bytes of that before it is cleared
	seen  map[state.Ref]bool
	texts []storedText
}

// storedText is a file of a stored tree whose text is still to be put together.
type storedText struct {
	entry state.Entry
	state uint32
}

func (t *treeCheck) derived(s uint32, paths []string, format string, args ...any) {
	t.find(finding{Problem{Text: fmt.Sprintf(format, args...), File: "trees", Derived: true, Mend: mendTrees, Paths: paths,
		Names: namesWhere(t.view, func(o uint32) bool { return o == s })}, -1, -1})
}

// namesAtOnce is for how many names sets of changes are held in memory.
const namesAtOnce = 2048

// checkAll checks the trees of named states, the shortest log first. One whose tree is not stored and all of whose changes another has
// is not made: they fit on each other there, as in every set that has the past of each.
func (t *treeCheck) checkAll(states []uint32) {
	marked := map[uint32]bool{}
	for _, s := range t.view.Bookmarks {
		marked[s] = true
	}
	for some := range slices.Chunk(states, namesAtOnce) {
		sets := make([]state.Set, len(some))
		for i, s := range some {
			if t.ctx.Err() != nil {
				return
			}
			var err error
			if sets[i], err = t.logs.of(s); err != nil {
				sets[i] = state.Set{} // told with the states
			}
		}
		// Some are made on the way all the same, and those of bookmarks: what went different ways since is made from them.
		last, apart := uint64(0), max(uint64(treesApart(0)), sets[len(sets)-1].Len()/clonedShare)
		for i, s := range some {
			if t.ctx.Err() != nil {
				return
			}
			n := sets[i].Len()
			if n < last+apart && !marked[s] && !t.stores(s) && amongLater(sets[i], sets[i+1:]) {
				continue
			}
			last = max(last, n)
			t.check(s)
			if err := t.tidy(s); err != nil {
				t.find(finding{Problem{Text: fmt.Sprintf("the files of state %d cannot be made from its changes: %v", s, err)}, -1, int64(s)})
			}
		}
	}
}

// What is made again is cleared of old trees at so many bytes, and at twice what is left then; these many of the last stay, for others to be
// made from.
const (
	freshBytes = 96 << 20
	freshTrees = 6
)

// tidy clears what was made again of what is hardly of use any more, after the tree of a state.
func (t *treeCheck) tidy(s uint32) error {
	t.r.store.Release() // what was read is in the system's memory still, but does not count as this process's
	if t.kept != nil {
		t.kept.blocks.Release()
	}
	b := t.again.blocks
	if t.made = append(t.made, s); b.Size() < max(freshBytes, t.room) {
		return nil
	}
	if len(t.made) > freshTrees {
		t.made = slices.Delete(t.made, 0, len(t.made)-freshTrees)
	}
	var keep []uint32
	for _, s := range t.made {
		if _, ok, err := b.Root(s); ok && err == nil {
			keep = append(keep, s)
		}
	}
	next, err := b.Compact(keep, b.Generation()+1, nil)
	if err != nil {
		return err
	}
	_ = next.TakeMoved()
	t.again.blocks, t.room = next, 2*next.Size()
	return b.Close()
}

// stores tells whether there is a stored tree of a state, or something wrong with it.
func (t *treeCheck) stores(s uint32) bool {
	if t.kept == nil {
		return false
	}
	_, ok, err := t.kept.blocks.Root(s)
	return ok || err != nil
}

// amongLater tells whether one of some sets has all of one that is not empty.
func amongLater(set state.Set, later []state.Set) bool {
	if set.Empty() {
		return false
	}
	for i := range later {
		if set.Minus(later[i]).Empty() {
			return true
		}
	}
	return false
}

func (t *treeCheck) check(s uint32) {
	again, err := t.again.tree(s)
	if lack := (*lackingError)(nil); errors.As(err, &lack) {
		// An old state of a partial clone: whether its texts are what they were can only be told with what was promised.
		t.mu.Lock()
		t.res.Old++
		t.mu.Unlock()
		return
	}
	if err != nil {
		t.find(finding{Problem{Text: fmt.Sprintf("the files of state %d cannot be made from its changes: %v", s, err)}, -1, int64(s)})
	}
	if t.kept == nil {
		return
	}
	root, ok, rootErr := t.kept.blocks.Root(s)
	if rootErr != nil {
		t.derived(s, nil, "the tree of state %d: %v", s, rootErr)
	}
	if !ok {
		return
	}
	tree := t.kept.blocks.Tree(root.Root)
	if err := t.kept.blocks.Check(root); err != nil {
		t.derived(s, nil, "the tree of state %d: %v", s, err)
		return
	}
	if err == nil {
		t.compare(s, tree, again)
	}
	err = tree.Walk("", func(e *state.Entry) error {
		// A text without a weave is what its change brought: that was proved with the change.
		if e.Kind == change.Text && e.Weave != 0 && !t.seen[e.Weave] {
			t.seen[e.Weave] = true
			t.texts = append(t.texts, storedText{*e, s})
		}
		return nil
	})
	if err != nil {
		t.derived(s, nil, "the tree of state %d: %v", s, err)
	}
}

func (t *treeCheck) compare(s uint32, kept, again state.Tree) {
	var p Problem
	n := 0
	err := state.Diff(kept, again, func(old, now *state.Entry) error {
		if n++; old == nil {
			old = now
		}
		p.addPath(old.Path)
		return nil
	})
	if err != nil {
		t.derived(s, nil, "the tree of state %d: %v", s, err)
	} else if n > 0 {
		t.derived(s, p.Paths, "the tree of state %d is not what its changes make: %d files differ", s, n)
	}
	if err != nil || n > 0 {
		return // what is kept of those files differs as well
	}
	first := ""
	err = state.DiffRest(kept, again, func(path, what string) error {
		if n++; n == 1 {
			first = what
		}
		p.addPath(path)
		return nil
	})
	if err != nil {
		t.derived(s, nil, "the tree of state %d: %v", s, err)
	} else if n > 0 {
		t.derived(s, p.Paths, "what the tree of state %d keeps beside the files is not what its changes make: %s, and %d more", s, first, n-1)
	}
}

// set holds the set that is kept beside a state's tree against the logs.
func (t *treeCheck) set(s uint32, root *state.StateRoot) {
	if root.Set == 0 {
		return
	}
	kept, err := t.kept.blocks.Set(root.Set)
	if err != nil {
		t.derived(s, nil, "the set of state %d: %v", s, err)
		return
	}
	again, err := t.logs.of(s)
	if err != nil {
		return // told with the states
	}
	if kept.Minus(again).Len() > 0 || again.Minus(kept).Len() > 0 {
		t.derived(s, nil, "the set of state %d is not what its log makes", s)
	}
}

// sets holds every set that is kept against the logs, also of states that no name leads to.
func (t *treeCheck) sets() {
	roots, err := t.kept.blocks.Roots()
	if err != nil {
		t.derived(NoState, nil, "the list of trees: %v", err)
		return
	}
	slices.SortFunc(roots, func(a, b state.StateRoot) int { return cmp.Compare(a.State, b.State) })
	for i := range roots {
		if t.ctx.Err() != nil {
			return
		}
		// One of a transaction that was given up stands for no state.
		if roots[i].State < t.r.store.NumStates() {
			t.set(roots[i].State, &roots[i])
		}
	}
}

// render puts together every text of the stored trees and proves its hash.
func (t *treeCheck) render() error {
	return t.parallel(uint32(len(t.texts)), func(int64) {}, func(i uint32) {
		e := &t.texts[i].entry
		b, err := t.kept.content(nil, e)
		if err == nil && (uint64(len(b)) != e.Size || hashOf(b) != e.Hash) {
			err = errors.New("its lines make another text")
		}
		if err == nil {
			return
		}
		if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound) {
			t.find(finding{Problem{Text: fmt.Sprintf("a text of state %d: %v", t.texts[i].state, err), Paths: []string{e.Path}}, -1, int64(t.texts[i].state)})
			return
		}
		t.derived(t.texts[i].state, []string{e.Path}, "a text of state %d: %v", t.texts[i].state, err)
	})
}
