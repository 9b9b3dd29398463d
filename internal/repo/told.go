package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/store"
)

// putState puts a state whose id is known, and has it read like any other until the transaction is over.
func (t *tx) putState(st store.State) (uint32, error) {
	r := t.r
	if len(st.Without) > 0 && !r.store.LeavesOut() {
		told, err := r.toldBy(st, func(uint32) bool { return false })
		if err != nil {
			return 0, err
		}
		st = told
	}
	n, err := t.PutState(st)
	if err != nil {
		return 0, err
	}
	p := &r.spares
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.put == nil {
		p.put = map[uint32]store.State{}
	}
	p.put[n] = st
	return n, nil
}

// toldBy tells a state by one beneath it of whose log it leaves out only such changes as may be left out.
func (r *Repo) toldBy(st store.State, may func(n uint32) bool) (store.State, error) {
	told := store.State{Parent: -1, Pos: st.Pos, ID: st.ID, Beside: true}
	out := leftOut{}.with(st.Without)
	back := slices.Clone(st.Changes) // latest first
	slices.Reverse(back)
	bad := 0 // of out, those that may not be left out
	for n := range out {
		if !may(n) {
			bad++
		}
	}
	for at := st.Parent; at >= 0; {
		if bad == 0 {
			told.Parent, told.Without = at, out.sorted()
			break
		}
		below, parent, err := r.step(uint32(at))
		if err != nil {
			return told, err
		}
		rest, passed := out.pass(below.Changes)
		for _, n := range slices.Backward(rest) {
			back = append(back, n)
		}
		for _, n := range passed {
			if !may(n) {
				bad--
			}
		}
		out = out.with(below.Without)
		for _, n := range below.Without {
			if !may(n) {
				bad++
			}
		}
		if at = int64(parent); parent == NoState {
			at = -1
		}
	}
	slices.Reverse(back)
	told.Changes = back
	return told, nil
}
