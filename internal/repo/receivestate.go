package repo

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	gosync "sync"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// takeState makes the state that an update tells of, with its tree, unless it is here. What it says is not believed: the log
// must be one, the id must be that of its changes, and the changes must fit on each other, which the making of the tree
// proves. base, if not nil, stands in place of the one that the update names.
func (t *tx) takeState(u *sync.Update, base *StateRef, removed []change.ID) (StateRef, error) {
	r := t.r
	s, taken, err := t.takeLog(u, base, removed)
	if err != nil {
		return s, err
	}
	if taken == nil {
		if s.Num != NoState && !r.hasTree(s.Num) {
			_, err = r.tree(s.Num)
		}
		return s, err
	}
	if err := t.treeTaken(s, *taken); err != nil {
		return StateRef{}, malformedUpdate(u, err)
	}
	return s, nil
}

// takeLog is takeState without the tree: whether the changes fit on each other is still to be proved. The log is nil for a state that is
// here.
func (t *tx) takeLog(u *sync.Update, base *StateRef, removed []change.ID) (StateRef, *takenLog, error) {
	if s, ok, err := t.toldBy(u); err != nil || ok {
		return s, nil, err
	}
	if base == nil {
		b, ok, err := t.stateBy(u.Base)
		if err != nil {
			return StateRef{}, nil, err
		}
		if !ok {
			return StateRef{}, nil, &Error{Text: fmt.Sprintf("%s %s is told by a state that is not here: %x", u.Kind, u.Name, u.Base[:6]), Next: "Get the one before it first."}
		}
		base, removed = &b, u.Removed
	}
	taken, err := t.logOf(*base, removed, u.Added)
	if err != nil {
		return StateRef{}, nil, malformedUpdate(u, err)
	}
	next, err := t.appendTaken(taken)
	if err != nil {
		return StateRef{}, nil, err
	}
	if next.ID != u.State {
		return StateRef{}, nil, malformedUpdate(u, fmt.Errorf("its changes make another state than it says"))
	}
	if t.taken == nil {
		t.taken = map[[32]byte]takenState{}
	}
	t.taken[next.ID] = takenState{next, taken.set}
	return next, &taken, nil
}

// takenState is a state that this transaction took, with its changes.
type takenState struct {
	StateRef
	set state.Set
}

// stateBy is that of the repository, which finds also what this transaction took.
func (t *tx) stateBy(id [32]byte) (StateRef, bool, error) {
	if s, ok := t.taken[id]; ok {
		return s.StateRef, true, nil
	}
	return t.r.stateBy(t.view, id)
}

// toldBy finds the state that an update tells of. It has what the update adds, so that it came with the last of that or after.
func (t *tx) toldBy(u *sync.Update) (StateRef, bool, error) {
	if s, ok := t.taken[u.State]; ok {
		return s.StateRef, true, nil
	}
	last, added := uint32(0), false
	for _, id := range u.Added {
		n, ok := t.r.store.FindChange(id)
		if !ok {
			return StateRef{}, false, nil // what is wrong is said where the log is made
		}
		last, added = max(last, n), true
	}
	if !added {
		return t.r.stateBy(t.view, u.State)
	}
	first, err := t.r.store.StatesBefore(last)
	if err != nil {
		return StateRef{}, false, storeError(err)
	}
	return t.r.stateSince(t.view, u.State, first)
}

// setOf is that of the repository, which need not put together again what this transaction took.
func (t *tx) setOf(s StateRef) (state.Set, error) {
	if k, ok := t.taken[s.ID]; ok && k.Num == s.Num {
		return k.set, nil
	}
	return t.r.setOf(s.Num)
}

func malformedUpdate(u *sync.Update, err error) error {
	return fmt.Errorf("%w: %s %s: %w", sync.ErrMalformed, u.Kind, u.Name, err)
}

// takenLog is a log that a peer told: as a state of which nothing is removed and what follows it.
type takenLog struct {
	before StateRef
	nums   []uint32
	base   StateRef // the state that it was told by
	gone   []uint32 // what is removed of that, ascending
	added  []uint32
	set    state.Set // all of its changes
}

// less tells whether it takes less to leave out what is removed than to begin before it.
func (l *takenLog) less() bool {
	return len(l.gone) > 0 && len(l.gone) < len(l.nums)-len(l.added) && l.base.Len > uint64(len(l.gone))
}

// logOf checks a log: no change stands there twice, and each after all that it depends on.
func (t *tx) logOf(base StateRef, removed, added []change.ID) (l takenLog, err error) {
	r := t.r
	if l.gone, err = t.numbers(removed); err != nil {
		return l, err
	}
	slices.Sort(l.gone)
	l.base, l.gone = base, slices.Compact(l.gone)
	back, missing, err := r.logDownTo(base.Num, l.gone)
	if err != nil {
		return l, err
	}
	if len(missing) > 0 {
		return l, fmt.Errorf("it leaves out change %s, which is not there", r.store.ChangeID(missing[0]).Short())
	}
	if l.before, err = r.stateRef(back.before); err != nil {
		return l, err
	}
	for _, n := range slices.Backward(back.nums) {
		if _, out := slices.BinarySearch(l.gone, n); !out {
			l.nums = append(l.nums, n)
		}
	}
	if l.added, err = t.numbers(added); err != nil {
		return l, err
	}
	l.nums = append(l.nums, l.added...)
	set, err := t.setOf(l.before)
	if err != nil {
		return l, err
	}
	names, err := r.namedByAll(l.nums)
	if err != nil {
		return l, err
	}
	seen := make(map[uint32]struct{}, len(l.nums))
	has := func(n uint32) bool {
		_, ok := seen[n]
		return ok || set.Has(n)
	}
	for i, n := range l.nums {
		if has(n) {
			return l, fmt.Errorf("it has change %s twice", r.store.ChangeID(n).Short())
		}
		for _, d := range names[i] {
			if !has(d) {
				return l, fmt.Errorf("it has change %s without %s, which that names", r.store.ChangeID(n).Short(), r.store.ChangeID(d).Short())
			}
		}
		seen[n] = struct{}{}
	}
	l.set = set.Union(setOfAll(l.nums))
	return l, nil
}

// namedBy lists what a change depends on, and what it names besides: a log without that could not be applied.
func (r *Repo) namedBy(n uint32) ([]uint32, error) {
	rec, err := r.store.Change(n)
	if err != nil {
		return nil, storeError(err)
	}
	c, err := change.DecodeTrusted(rec.Meta, rec.Body)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(r.store.Deps(n))
	others := c.Others
	if !c.Undoes.IsZero() {
		others = append(others, c.Undoes)
	}
	for _, id := range others {
		m, ok := r.store.FindChange(id)
		if !ok {
			return nil, fmt.Errorf("change %s is not here", id.Short())
		}
		out = append(out, m)
	}
	return out, nil
}

// namedByAll is namedBy of many, on all cores.
func (r *Repo) namedByAll(nums []uint32) ([][]uint32, error) {
	out := make([][]uint32, len(nums))
	const take = 256 // neighbours often lie in one frame
	var next atomic.Int64
	var wg gosync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), 1+len(nums)/take))
	for k := range errs {
		wg.Go(func() {
			for {
				from := int(next.Add(take)) - take
				for i := from; i < min(from+take, len(nums)); i++ {
					if out[i], errs[k] = r.namedBy(nums[i]); errs[k] != nil {
						next.Store(int64(len(nums)))
						return
					}
				}
				if from+take >= len(nums) {
					return
				}
			}
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

func (t *tx) numbers(ids []change.ID) ([]uint32, error) {
	out := make([]uint32, len(ids))
	for i, id := range ids {
		n, ok := t.r.store.FindChange(id)
		if !ok {
			return nil, fmt.Errorf("change %s is not here", id.Short())
		}
		out[i] = n
	}
	return out, nil
}

// appendTaken makes the state of a log. A peer's word that each change was recorded on what comes before it is not taken: only
// of the first change of all that is plain.
func (t *tx) appendTaken(l takenLog) (StateRef, error) {
	before, nums := l.before, l.nums
	if l.less() {
		var err error
		if before, err = t.stateWithout(l.base, l.gone); err != nil {
			return StateRef{}, err
		}
		nums = l.added
	}
	if before.Num == NoState && len(nums) > 0 {
		var err error
		if before, err = t.appendStep(before, nums[0]); err != nil {
			return StateRef{}, err
		}
		nums = nums[1:]
	}
	return t.appendBeside(before, nums)
}

// treeTaken makes the tree of that log.
func (t *tx) treeTaken(next StateRef, l takenLog) error {
	if next.Num == NoState || t.r.hasTree(next.Num) {
		return nil
	}
	r := t.r
	done := r.opt.Timings.Phase("trees of what came")
	defer done(0)
	from, nums := l.before, l.nums
	if l.less() {
		from, nums = l.base, l.added
	}
	tree, err := r.tree(from.Num)
	if err != nil {
		return err
	}
	if l.less() {
		if tree, err = r.treeLess(tree, r.newReach(), l.gone); err != nil {
			return err
		}
	}
	if from.Num == NoState && len(nums) > 0 {
		if tree, err = r.firstTree(tree, nums[0]); err != nil {
			return err
		}
		nums = nums[1:]
	}
	if len(nums) == 0 {
		r.blocks.PutRoot(state.StateRoot{State: next.Num, Root: tree.Root()})
		return nil
	}
	return t.growTree(next, tree, nums)
}

// firstTree is the tree of one change that depends on nothing.
func (r *Repo) firstTree(empty state.Tree, n uint32) (state.Tree, error) {
	b, err := r.bodyOf(n)
	if err != nil {
		return empty, err
	}
	if err := fitsFirst(n, b); err != nil {
		return empty, err
	}
	o := r.newOverlay(empty)
	if err := o.apply(n, b.files, nil); err != nil {
		return empty, err
	}
	return o.finish()
}

// fitsFirst looks at what the fast way to make a first tree takes for granted: no record makes a change whose own files meet.
func fitsFirst(n uint32, b *body) error {
	paths := make([]string, len(b.files))
	for i := range b.files {
		if b.files[i].ID.Change != n {
			return fmt.Errorf("it changes what is not there")
		}
		paths[i] = b.files[i].Path
	}
	slices.SortFunc(paths, state.ComparePaths)
	for i := 1; i < len(paths); i++ {
		if paths[i] == paths[i-1] || strings.HasPrefix(paths[i], paths[i-1]+"/") {
			return fmt.Errorf("it adds %s twice, or beneath itself", safepath.Quote(paths[i]))
		}
	}
	return nil
}
