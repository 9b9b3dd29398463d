package weave

import (
	"fmt"
	"math"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Apply adds the hunks of a change whose past takes in all else that touched the places of its gaps: it is the
// last in a line of records. src says where its text lies; its Size must be what the hunks insert.
func (w *Weave) Apply(src Source, hunks []change.Hunk) error {
	return w.ApplyPatch(Patch{Source: src, Hunks: hunks}, nil)
}

// ApplyPatch is Apply for a change that may undo another or solve conflicts; only then is the history asked. A weave is
// spoilt by a patch that does not fit (ErrMismatch).
func (w *Weave) ApplyPatch(p Patch, history History) error {
	if n := len(w.Sources); n > 0 && w.Sources[n-1].Change >= p.Change {
		return fmt.Errorf("%w: change %d comes after %d", ErrMismatch, p.Change, w.Sources[n-1].Change)
	}
	if p.Undoes != nil {
		if _, ok := w.Source(*p.Undoes); !ok {
			return fmt.Errorf("%w: it undoes what did not touch the file", ErrMismatch)
		}
	}
	var off uint32
	at := 0
	a := act{hunks: p.Hunks, undo: p.Undoes}
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.InsLen > math.MaxUint32-off {
			return fmt.Errorf("%w: it inserts too much", ErrMismatch)
		}
		var err error
		if at, err = w.applyHunk(p.Change, off, h, at); err != nil {
			return err
		}
		off += h.InsLen
		a.restores = a.restores || len(h.Res) > 0
		a.solves = a.solves || len(h.Solves) > 0
	}
	if off != p.Size {
		return fmt.Errorf("%w: its hunks insert %d bytes of %d", ErrMismatch, off, p.Size)
	}
	w.Sources = append(w.Sources, p.Source)
	w.acts = append(w.acts, a)
	w.odd = w.odd || a.restores || a.undo != nil
	if err := w.settle(); err != nil {
		return err
	}
	switch {
	case a.undo != nil:
		return w.turn(history)
	case a.solves:
		return w.close(p.Hunks)
	}
	return nil
}

// turn finds which conflicts are open now that the last source undoes another.
func (w *Weave) turn(history History) (err error) {
	last := len(w.Sources) - 1
	before := (&looking{w: w, undoes: true}).without(map[int]bool{last: true})
	after := (&looking{w: w, undoes: true}).without(nil)
	// It conflicts with nothing itself: all that meets it lies in its past.
	w.open, err = w.reopen(func(k int) bool { return k == last || before(k) }, after, history)
	return err
}

// applyHunk looks for the gap from run from on, where it is when hunks come in order, and gives where it ends.
func (w *Weave) applyHunk(c, off uint32, h *change.Hunk, from int) (int, error) {
	l, r, err := w.gap(h, from)
	if err != nil {
		return 0, err
	}
	for i, k, outside := 0, l, false; i < len(h.Del); i++ {
		n := len(w.Runs)
		if !outside {
			if k, err = w.kill(c, h.Del[i], k, r); err == nil {
				r += len(w.Runs) - n
				continue
			}
			if !w.hasTwins(h.Del[i]) {
				return 0, err
			}
		}
		outside = true // a twin of what it deletes
		if _, err = w.kill(c, h.Del[i], 0, len(w.Runs)); err != nil {
			return 0, err
		}
		if l, r, err = w.gap(h, from); err != nil {
			return 0, err
		}
	}
	w.cover(c, h.Adds(), l, r)
	if h.InsLen > 0 {
		run := Run{Change: c, Off: off, Len: h.InsLen, Head: true, Parent: h.L, Left: h.Left}
		if h.Left {
			run.Parent = h.Parent
			if l == len(w.Runs) || h.Parent != (change.Pos{Change: w.Runs[l].Change, Off: w.Runs[l].Off}) {
				return 0, fmt.Errorf("%w: its parent is not what follows the gap's left line", ErrMismatch)
			}
		} else if l > 0 {
			if w.Runs[l-1].HasRight {
				return 0, fmt.Errorf("%w: its parent has a right child already", ErrMismatch)
			}
			w.Runs[l-1].HasRight = true
		} else if len(w.Runs) > 0 {
			return 0, fmt.Errorf("%w: its parent has a right child already", ErrMismatch)
		}
		run.Before = Cover{Add: w.single(c)}
		run.Inside = run.Before
		w.Runs = slices.Insert(w.Runs, l, run)
		r++
	}
	return r, nil
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

// kill marks a stretch as deleted by c. It lies, perhaps in several runs, from run i on and before run r. kill gives
// the run after it.
func (w *Weave) kill(c uint32, s change.Stretch, i, r int) (int, error) {
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
		run.Dead = w.add(run.Dead, c)
		s.Off += run.Len
		s.Len -= run.Len
	}
	return i, nil
}

// cover notes that a hunk of c lies over the places from before run l to before run r.
func (w *Weave) cover(c uint32, adds bool, l, r int) {
	own := w.single(c)
	over := func(v *Cover) {
		if adds {
			*v = Cover{Add: own}
		} else {
			v.Del = w.add(v.Del, c)
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
