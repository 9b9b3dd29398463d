package bridge

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/state"
)

// A proof goes on two goroutines: one makes the trees of states again, the other Git's ids from what they differ in. For Git's own history
// the second has a fifth of the work.

// stepped is a state that the replay made.
type stepped struct {
	m     remembered
	diffs []stepDiff
	err   error
}

// stepDiff is a path at which a state differs from its first parent.
type stepDiff struct {
	edit    tree.Edit
	entry   *state.Entry // with content: what the edit's side is to be made from
	content []byte
}

// The replay is so many states ahead at most, and of each holds contents up to so many bytes: what is beyond, as of a first commit, it
// hashes itself.
const (
	aheadStates = 8
	aheadBytes  = 4 << 20
)

// onlyProves tells whether nothing is written, and all states are commits that came from Git.
func (x *exporter) onlyProves(todo []uint32) bool {
	return x.pack == nil && x.replay != nil && !slices.ContainsFunc(todo, func(s uint32) bool { return !x.nodes[s].isGit })
}

// branchwise puts states in the order in which an import makes them: each after its parents, and what one branch did in one stretch, so
// that few trees wait for others at a time. By their logs' lengths, which take all branches in step, the trees that waited
// took 350 MB of Git's own history, and garbage collection two thirds of the time.
func (x *exporter) branchwise(todo []uint32) []uint32 {
	slices.Sort(todo)
	out := make([]uint32, 0, len(todo))
	entered := make(map[uint32]bool, len(todo))
	type step struct {
		s    uint32
		next int // of its parents
	}
	var stack []step
	enter := func(s uint32) {
		if !entered[s] {
			entered[s] = true
			stack = append(stack, step{s: s})
		}
	}
	for _, tip := range todo {
		if x.uses[tip] > 0 {
			continue
		}
		for enter(tip); len(stack) > 0; {
			top := &stack[len(stack)-1]
			if ps := x.nodes[top.s].parents; top.next < len(ps) {
				top.next++
				enter(ps[top.next-1])
				continue
			}
			out = append(out, top.s)
			stack = stack[:len(stack)-1]
		}
	}
	return out
}

// stepAhead has the replay make states, in order. stop must be called, before the replay is closed.
func (x *exporter) stepAhead(ctx context.Context, todo []uint32) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	x.stepped = make(chan *stepped, aheadStates)
	a := &ahead{x: x, hasher: object.NewHasher(x.f, detector), uses: maps.Clone(x.uses)}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(x.stepped)
		for _, s := range todo {
			st := a.step(s, x.nodes[s])
			select {
			case x.stepped <- st:
			case <-ctx.Done():
				return
			}
			if st.err != nil {
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// ahead is the replay's side of a proof.
type ahead struct {
	x      *exporter
	hasher *object.Hasher
	uses   map[uint32]int
}

func (a *ahead) step(s uint32, n *node) *stepped {
	st := &stepped{}
	if st.m, st.err = a.x.metaOf(s, n); st.err != nil {
		return st
	}
	bytes := 0
	st.err = a.x.replay.Step(s, n.parents, func(old, new *state.Entry, content func() ([]byte, error)) error {
		if new == nil {
			st.diffs = append(st.diffs, stepDiff{edit: tree.Edit{Path: old.Path}})
			return nil
		}
		b, err := content()
		if err != nil {
			return err
		}
		d := stepDiff{edit: tree.Edit{Path: new.Path}}
		if bytes += len(b); bytes > aheadBytes {
			d.edit.Side, err = sideOf(a.x.f, a.hasher, new, b)
		} else {
			e := *new
			d.entry, d.content = &e, b
		}
		st.diffs = append(st.diffs, d)
		return err
	})
	forget := func(s uint32) {
		if a.uses[s] == 0 {
			a.x.replay.Forget(s)
		}
	}
	for _, p := range n.parents {
		a.uses[p]--
		forget(p)
	}
	forget(s)
	return st
}

// prove makes a commit from the next state that the replay made.
func (x *exporter) prove(ctx context.Context, s uint32, n *node) error {
	st, ok := <-x.stepped
	switch {
	case !ok:
		return ctx.Err() // nothing else ends it early
	case st.err != nil:
		return st.err
	}
	d := &differing{f: x.f, hasher: x.hasher, builder: x.builder, base: x.builder.Empty()}
	if len(n.parents) > 0 {
		var err error
		if d.base, err = x.treeOf(n.parents[0], nil); err != nil {
			return err
		}
	}
	if err := st.m.odd(d); err != nil {
		return err
	}
	for i := range st.diffs {
		one := &st.diffs[i]
		if one.entry == nil && one.edit.Side == (tree.Side{}) {
			d.list = append(d.list, one.edit)
			continue
		}
		if one.entry != nil {
			var err error
			if one.edit.Side, err = sideOf(x.f, x.hasher, one.entry, one.content); err != nil {
				return err
			}
		}
		if err := d.put(one.edit, nil); err != nil {
			return err
		}
	}
	return x.make(s, n, &st.m, d)
}
