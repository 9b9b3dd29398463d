package weave

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// hunk looks for the gap from run from on, where it is when hunks come in order, and gives where it ends. The hunk's text
// begins at off in what the change inserted.
func (a *applier) hunk(off uint32, h *change.Hunk, from int) (int, error) {
	w := a.w
	l, r, err := w.gap(h, from)
	if err != nil {
		return 0, err
	}
	for i, k, outside := 0, l, false; i < len(h.Del); i++ {
		n := len(w.Runs)
		if !outside {
			if k, err = a.kill(h.Del[i], k, r); err == nil {
				r += len(w.Runs) - n
				continue
			}
			if !w.hasTwins(h.Del[i]) {
				return 0, err
			}
		}
		outside = true // a twin of what it deletes
		if _, err = a.kill(h.Del[i], 0, len(w.Runs)); err != nil {
			return 0, err
		}
		if l, r, err = w.gap(h, from); err != nil {
			return 0, err
		}
	}
	if a.cover(h.Adds(), l, r); a.alone && a.meets {
		return 0, errMeets
	}
	if h.InsLen > 0 {
		if err := a.hang(off, h, l); err != nil {
			return 0, err
		}
		r++
	}
	return r, nil
}

// hang inserts the hunk's text where it hangs, between what the change does not know of: l is the run after the line that it
// follows.
func (a *applier) hang(off uint32, h *change.Hunk, l int) error {
	w := a.w
	run := Run{Change: a.change, Off: off, Len: h.InsLen, Head: true, Parent: h.L, Left: h.Left}
	if h.Left {
		run.Parent = h.Parent
	}
	next := l
	for next < len(w.Runs) && !a.knows(w.Runs[next].Change) {
		next++
	}
	switch {
	case h.Left:
		if next == len(w.Runs) || h.Parent != (change.Pos{Change: w.Runs[next].Change, Off: w.Runs[next].Off}) {
			return fmt.Errorf("%w: its parent is not what follows the gap's left line", ErrMismatch)
		}
	case next == l && (l > 0 && w.Runs[l-1].HasRight || l == 0 && len(w.Runs) > 0):
		return fmt.Errorf("%w: its parent has a right child already", ErrMismatch)
	case l > 0:
		w.Runs[l-1].HasRight = true
	}
	at, err := a.among(&run, l, next)
	if err != nil {
		return err
	}
	run.Before = w.Tail
	if at < len(w.Runs) {
		run.Before = w.Runs[at].Before
	}
	run.Inside = run.Before
	w.Runs = slices.Insert(w.Runs, at, run)
	return nil
}

// among gives where a head stands among the runs from l to before next, none of which the change knows.
func (a *applier) among(head *Run, l, next int) (int, error) {
	if l == next {
		return l, nil
	}
	m := merger{h: a.h, a: cursor{w: a.w, i: l}}
	branches, err := branches(&m.a, next-l)
	if err != nil {
		return 0, err
	}
	at := l
	for _, b := range branches {
		c, err := m.compare(b.root, head)
		if err != nil || c > 0 {
			return at, err
		}
		at += b.runs
	}
	return at, nil
}

// gap gives the runs between a gap's ends, splitting some if need be: from run l to before run r.
func (w *Weave) gap(h *change.Hunk, from int) (l, r int, err error) {
	if l, err = w.endAt(h.L, from); err != nil {
		return 0, 0, err
	}
	if r, err = w.startAt(h.R, l); err != nil {
		return 0, 0, err
	}
	if r < l {
		return 0, 0, fmt.Errorf("%w: a gap ends before it begins", ErrMismatch)
	}
	return l, r, nil
}

// kill marks a stretch as deleted. It lies, perhaps in several runs, from run i on and before run r. kill gives
// the run after it.
func (a *applier) kill(s change.Stretch, i, r int) (int, error) {
	w := a.w
	for ; s.Len > 0; i++ {
		if i >= r {
			return 0, fmt.Errorf("%w: it deletes what is not in its gap", ErrMismatch)
		}
		run := &w.Runs[i]
		if run.Change != s.Change || s.Off < run.Off || s.Off >= run.Off+run.Len {
			continue
		}
		if s.Off > run.Off {
			w.split(i, s.Off-run.Off)
			r++
			continue
		}
		if s.Len < run.Len {
			w.split(i, s.Len)
			r++
			run = &w.Runs[i]
		}
		a.hides(run)
		run.Dead, run.Turned = w.add(run.Dead, a.change), false // nothing that is there takes back what the change does
		s.Off += run.Len
		s.Len -= run.Len
	}
	return i, nil
}

// cover notes that a hunk lies over the places from before run l to before run r.
func (a *applier) cover(adds bool, l, r int) {
	w := a.w
	own := w.single(a.change)
	over := func(v *Cover) {
		switch {
		case a.h == nil && adds:
			*v = Cover{Add: own}
		case a.h == nil:
			v.Del = w.add(v.Del, a.change)
		default:
			*v = a.beside(*v, adds)
		}
	}
	for i := l; i < r; i++ {
		over(&w.Runs[i].Before)
		over(&w.Runs[i].Inside)
	}
	if r < len(w.Runs) {
		over(&w.Runs[r].Before)
	} else {
		over(&w.Tail)
	}
}

// coverBy is a cover and whether a hunk adds over it.
type coverBy struct {
	Cover
	adds bool
}

// beside gives the cover of a place when the change acts over it too. Whatever the place's cover knew, the change knows but for
// members that it does not: of these none knows the change.
func (a *applier) beside(v Cover, adds bool) Cover {
	key := coverBy{v, adds}
	out, done := a.covers[key]
	if done {
		return out
	}
	rest := func(s Set) (rest []uint32) {
		for _, c := range a.w.Members(s) {
			if !a.knows(c) {
				rest = append(rest, c)
			}
		}
		return rest
	}
	add, del := rest(v.Add), rest(v.Del)
	a.meets = a.meets || len(add) > 0 || adds && len(del) > 0
	if adds {
		out = Cover{a.w.set(insertNumber(add, a.change)), a.w.set(del)}
	} else {
		out = Cover{v.Add, a.w.add(v.Del, a.change)}
	}
	a.covers[key] = out
	return out
}

// insertNumber puts a number into an ascending list.
func insertNumber(list []uint32, c uint32) []uint32 {
	i, found := slices.BinarySearch(list, c)
	if found {
		return list
	}
	return slices.Insert(list, i, c)
}
