package repo

import "github.com/oxy-vcs/oxy/internal/state"

// setOf is the set of changes of a state.
func (r *Repo) setOf(s uint32) (state.Set, error) {
	done := r.opt.Timings.Phase("set")
	defer done(0)
	var b state.SetBuilder
	err := r.walkLog(s, func(n uint32, _ uint64, _ uint32) (bool, error) {
		b.Add(n)
		return true, nil
	})
	return b.Set(), err
}
