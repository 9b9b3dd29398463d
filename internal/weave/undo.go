package weave

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Undo records that the change src takes back another, which touched the file and may be an undoing itself. The patch's hunks are
// gaps only, none if no line of what was done is left to act on. deps holds every change that they depend on, not
// reduced, in no order and with repeats; it is the undone one at least.
func (w *Weave) Undo(src Source, undone uint32, h History) (p Patch, deps []uint32, err error) {
	k, ok := w.source(undone)
	if !ok {
		return Patch{}, nil, fmt.Errorf("%w: change %d, to be undone, did not touch the file", ErrMismatch, undone)
	}
	u := undoer{v: &View{w: w.Clone(), h: h}}
	if u.v.l, err = u.v.w.looking(); err != nil {
		return Patch{}, nil, err
	}
	if err := u.v.chainOpen(); err != nil {
		return Patch{}, nil, err
	}
	u.find(k)
	src.Size, src.Hash = 0, change.Hash{}
	p = Patch{Source: src, Undoes: &undone}
	p.Hunks, deps = u.gaps([]uint32{undone})
	return p, deps, nil
}

// UndoneBy lists, ascending, the changes that take back by name a change which touched the file.
func (w *Weave) UndoneBy(c uint32) (out []uint32) {
	for i := range w.acts {
		if u := w.acts[i].undo; u != nil && *u == c {
			out = append(out, w.Sources[i].Change)
		}
	}
	return out
}

// undoer finds where an undoing acts.
type undoer struct {
	v       *View
	touched []bool       // of runs: what is undone names them, or what that undoes in turn does
	moved   map[int]bool // of runs that begin to show, or cease to: whether they begin to
}

// find marks what the undoing of source k turns: lines that a change inserts, deletes or restores, and their twins.
func (u *undoer) find(k int) {
	l := u.v.l
	did := l.w.didFirst(k)
	c := l.w.Sources[did].Change
	deletes := make([]bool, len(l.w.sets)+1)
	for i, m := range l.w.sets {
		deletes[i+1] = slices.Contains(m, c)
	}
	u.touched = make([]bool, len(l.w.Runs))
	var runs []int
	for i := range l.w.Runs {
		r := &l.w.Runs[i]
		if r.Change != c && !deletes[r.Dead] && !l.restoredBy(i, did) {
			continue
		}
		u.touched[i] = true
		runs = append(runs, i)
		if t, ok := l.twins[i]; ok {
			runs = append(runs, l.members[t.first]...)
		}
	}
	slices.Sort(runs)
	runs = slices.Compact(runs)
	u.moved = map[int]bool{}
	for at, shows := range l.shown(runs, l.undoing(k)) {
		if i := runs[at]; shows != l.w.Runs[i].Shown() {
			u.moved[i] = shows
		}
	}
}

// gaps gives the stretches between lines that stay as they are in which some line is touched or moves, and deps with what they
// depend on.
func (u *undoer) gaps(deps []uint32) (hunks []change.Hunk, _ []uint32) {
	w := u.v.w
	h, from, used := change.Hunk{L: change.Start}, 0, false
	end := func(i int, at change.Pos) {
		if h.R = at; !used {
			return
		}
		hunks = append(hunks, h)
		deps = ownerOf(h.L, ownerOf(h.R, deps))
		deps = u.v.meeting(span{placeIn(from, 0), placeIn(i, 0)}, h.Gains, deps)
	}
	for i := range w.Runs {
		r := &w.Runs[i]
		begins, moves := u.moved[i]
		if r.Shown() && !moves && !u.touched[i] {
			end(i, change.Pos{Change: r.Change, Off: r.Off})
			h, from, used = change.Hunk{L: change.Pos{Change: r.Change, Off: r.Off + r.Len}}, i+1, false
			continue
		}
		used = used || moves || u.touched[i]
		h.Gains = h.Gains || begins
	}
	end(len(w.Runs), change.End)
	return hunks, deps
}

// didFirst follows undoings to what did something: source k, or the first that it undoes in turn that is no undoing.
func (w *Weave) didFirst(k int) int {
	for w.acts[k].undo != nil {
		n, ok := w.source(*w.acts[k].undo)
		if !ok || n >= k {
			break
		}
		k = n
	}
	return k
}
