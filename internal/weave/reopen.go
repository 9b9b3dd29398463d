package weave

import (
	"slices"
)

// reopen gives the conflicts that are open when other changes count than before. Only pairs of what came to count or ceased
// to, and pairs that such a change solved, are looked at.
func (w *Weave) reopen(before, after counting, h History) ([]Pair, error) {
	t := turning{w: w, h: h, after: after, on: map[uint32]bool{}, off: map[uint32]bool{}}
	for i, s := range w.Sources {
		switch was, is := before(i), after(i); {
		case is && !was:
			t.on[s.Change] = true
		case was && !is:
			t.off[s.Change] = true
		}
	}
	if len(t.on)+len(t.off) == 0 {
		return w.open, nil
	}
	t.places = w.places()
	if err := t.findSolvers(before); err != nil {
		return nil, err
	}
	if err := t.keep(); err != nil {
		return nil, err
	}
	if err := t.begun(); err != nil {
		return nil, err
	}
	for i := range t.gone {
		if err := t.unsolved(&t.gone[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(t.open, comparePairs)
	return slices.Compact(t.open), nil
}

// turning finds the open conflicts anew where changes come to count or cease to.
type turning struct {
	w       *Weave
	h       History
	after   counting
	places  places
	on, off map[uint32]bool // the changes that come to count, and that cease to
	solvers []solver        // that count, the latest first
	gone    []solver        // that ceased to
	open    []Pair
}

// solver is a stretch that a change solved.
type solver struct {
	change uint32
	at     span
	stood  func(c uint32) bool // tells of a change whether the solver knew of it, not undone
}

// closes reports whether the solver knew of both changes, not undone, and solved a stretch where their hunks meet.
func (s *solver) closes(a, b *located) bool {
	where := span{max(a.at.l, b.at.l), min(a.at.r, b.at.r)}
	return s.at.meets(where) && s.stood(a.change) && s.stood(b.change)
}

// findSolvers finds who solved what.
func (t *turning) findSolvers(before counting) error {
	for i := range t.w.Sources {
		if !t.w.acts[i].solves || !t.after(i) && !before(i) {
			continue
		}
		parts, err := t.w.hunksOf(i)
		if err != nil {
			return err
		}
		stood := t.w.stood(t.w.Sources[i].Change, t.h)
		for k := range parts {
			for _, s := range parts[k].Solves {
				at, err := t.places.span(s.L, s.R)
				if err != nil {
					return err
				}
				to := &t.solvers
				if !t.after(i) {
					to = &t.gone
				}
				*to = append(*to, solver{t.w.Sources[i].Change, at, stood})
			}
		}
	}
	slices.Reverse(t.solvers)
	return nil
}

// keep takes in what was open, but where a change ceases to count or one that comes to count solved it.
func (t *turning) keep() error {
	var by []*solver
	for i := range t.solvers {
		if t.on[t.solvers[i].change] {
			by = append(by, &t.solvers[i])
		}
	}
	var hunks byHunk
	if len(by) > 0 {
		var err error
		if hunks, err = t.places.ofPairs(); err != nil {
			return err
		}
	}
	for _, p := range t.w.open {
		if t.off[p[0].Change] || t.off[p[1].Change] {
			continue
		}
		solved := func(s *solver) bool {
			a, b := hunks.pair(p)
			return s.closes(a, b)
		}
		if !slices.ContainsFunc(by, solved) {
			t.open = append(t.open, p)
		}
	}
	return nil
}

// begun takes in the pairs of what comes to count.
func (t *turning) begun() error {
	if len(t.on) == 0 {
		return nil
	}
	own, err := t.places.locate(func(i int) bool { return t.on[t.w.Sources[i].Change] })
	if err != nil {
		return err
	}
	var where []span
	for i := range own {
		where = append(where, own[i].at)
	}
	all, err := t.places.meeting(where, t.after)
	if err != nil {
		return err
	}
	sweep(all, func(h *located) bool { return t.on[h.change] }, t.consider)
	t.among(own)
	return nil
}

// unsolved takes in the pairs that one who ceases to count solved, and no other. A pair that stood before another solver of
// as large a stretch is solved by that one: of all pairs of an old quarrel few need be looked at.
func (t *turning) unsolved(s *solver) error {
	var heir *solver
	for i := range t.solvers {
		if o := &t.solvers[i]; o.change != s.change && o.at.l <= s.at.l && o.at.r >= s.at.r {
			heir = o
			break
		}
	}
	all, err := t.places.meeting([]span{s.at}, t.after)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(h located) bool { return !s.stood(h.change) })
	var fresh []located
	isFresh := map[uint32]bool{}
	for _, h := range all {
		if heir == nil || !heir.stood(h.change) {
			isFresh[h.change] = true
			fresh = append(fresh, h)
		}
	}
	sweep(all, func(h *located) bool { return isFresh[h.change] }, t.consider)
	t.among(fresh)
	return nil
}

// among considers every two of some hunks. Where changes follow each other in a line, only those that are concurrent are
// looked at.
func (t *turning) among(hunks []located) {
	slices.SortStableFunc(hunks, func(a, b located) int { return int(int64(a.change) - int64(b.change)) })
	of := map[uint32][]*located{}
	var changes []uint32
	for i := range hunks {
		c := hunks[i].change
		if of[c] == nil {
			changes = append(changes, c)
		}
		of[c] = append(of[c], &hunks[i])
	}
	lines := linesOf(changes, t.h)
	for _, c := range changes {
		own, past := lines.at[c].line, lines.past(c)
		for k, line := range lines.of {
			if k == int(own) {
				continue
			}
			// From the first that c does not know on, until numbers are above c's: with those c is looked at in their turn.
			for _, d := range line[past[k]:] {
				if d > c {
					break
				}
				for _, a := range of[c] {
					for _, b := range of[d] {
						t.consider(a, b)
					}
				}
			}
		}
	}
}

// consider takes in two hunks if they conflict and nothing that counts solved it.
func (t *turning) consider(a, b *located) {
	if !a.at.meets(b.at) || t.h.Reaches(a.change, b.change) || t.h.Reaches(b.change, a.change) || !t.w.clash(&a.hunk, &b.hunk, t.h) {
		return
	}
	if !slices.ContainsFunc(t.solvers, func(s solver) bool { return s.closes(a, b) }) {
		t.open = append(t.open, pairOf(a.id(), b.id()))
	}
}

// stood tells of a change whether it was in the past of c and, among that, not undone.
func (w *Weave) stood(c uint32, h History) func(uint32) bool {
	past := func(d uint32) bool { return d < c && h.Reaches(c, d) }
	if !w.undoes() {
		return past
	}
	var live counting
	return func(d uint32) bool {
		if live == nil {
			in := make([]bool, len(w.Sources))
			for i, s := range w.Sources {
				in[i] = past(s.Change)
			}
			live = w.undone(in)
		}
		k, ok := w.source(d)
		return ok && live(k)
	}
}
