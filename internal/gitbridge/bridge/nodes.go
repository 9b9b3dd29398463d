package bridge

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/state"
)

type node struct {
	id      object.ID // known for one that was imported or exported before
	known   bool
	parents []uint32
	isGit   bool
	there   bool // Git has it
	open    bool // conflicts are open in it
	merge   bool // it is a union, and no change's
	len     uint64
}

func (x *exporter) node(s uint32) (*node, error) {
	if n := x.nodes[s]; n != nil {
		return n, nil
	}
	n := &node{}
	x.nodes[s] = n
	n.id, n.known = x.ids[s]
	n.there = n.known && x.has(n.id)
	if n.there {
		return n, nil
	}
	step, err := x.r.LogStep(s)
	if err != nil {
		return nil, err
	}
	n.len = step.Len
	var m remembered
	if !step.Beside && len(step.Changes) == 1 {
		c, err := x.r.Meta(step.Changes[0])
		if err != nil {
			return nil, err
		}
		if m, n.isGit, err = remember(x.f, s, c); err != nil {
			return nil, err
		}
	}
	if n.isGit {
		for _, id := range m.parents {
			if p, ok := x.known.states[id]; ok && p < s {
				n.parents = append(n.parents, p)
			}
		}
		return n, nil
	}
	return n, x.parentsOf(s, step, n)
}

func (x *exporter) parentsOf(s uint32, step repo.LogStep, n *node) (err error) {
	if step.Before != repo.NoState {
		n.parents = []uint32{step.Before}
	}
	if step.Beside {
		if n.open, err = x.r.InConflict(s); err != nil {
			return err
		}
		parents, ok, err := x.union(s)
		if ok {
			n.parents, n.merge = parents, true
		}
		return err
	}
	if step.Before == repo.NoState {
		return nil
	}
	before, err := x.r.LogStep(step.Before)
	if err != nil || !before.Beside {
		return err
	}
	open, err := x.r.InConflict(step.Before)
	if err != nil || !open {
		return err
	}
	parents, ok, err := x.union(step.Before)
	if ok {
		n.parents = parents
	}
	return err
}

func (x *exporter) union(s uint32) (parents []uint32, ok bool, err error) {
	step, err := x.r.LogStep(s)
	if err != nil || len(step.Changes) == 0 {
		return nil, false, err
	}
	c, err := x.r.Meta(step.Changes[len(step.Changes)-1])
	if err != nil {
		return nil, false, err
	}
	id, ok := field(c.Extra, fieldCommit)
	if !ok || len(id) != x.f.Size() {
		return nil, false, nil
	}
	other, ok := x.known.states[x.f.ID([]byte(id))]
	if !ok {
		return nil, false, nil
	}
	if all, err := x.r.LogLen(other); err != nil || all > step.Len {
		return nil, false, err
	}
	a, ok, err := x.r.OwnBefore(s)
	if err != nil || !ok {
		return nil, false, err
	}
	var sets []state.Set
	for _, n := range []uint32{s, a, other} {
		set, err := x.r.SetOf(n)
		if err != nil {
			return nil, false, err
		}
		sets = append(sets, set)
	}
	return []uint32{a, other}, sets[1].Union(sets[2]).Equal(sets[0]), nil
}

func (x *exporter) todo(tips []uint32) (todo []uint32, onOld bool, err error) {
	met := map[uint32]bool{}
	for queue := slices.Clone(tips); len(queue) > 0; {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if met[s] {
			continue
		}
		met[s] = true
		n, err := x.node(s)
		if err != nil {
			return nil, false, err
		}
		if n.there {
			onOld = true
			continue
		}
		todo = append(todo, s)
		for _, p := range n.parents {
			x.uses[p]++
		}
		queue = append(queue, n.parents...)
	}
	// What is beneath a state has a shorter log. Numbers do not tell: states that are made on demand have high ones.
	slices.SortFunc(todo, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(x.nodes[a].len, x.nodes[b].len), cmp.Compare(a, b))
	})
	return todo, onOld, nil
}

func (x *exporter) metaOf(s uint32, n *node) (m remembered, err error) {
	if !n.isGit {
		return m, nil
	}
	step, err := x.r.LogStep(s)
	if err != nil {
		return m, err
	}
	c, err := x.r.Meta(step.Changes[0])
	if err != nil {
		return m, err
	}
	m, _, err = remember(x.f, s, c)
	return m, err
}
