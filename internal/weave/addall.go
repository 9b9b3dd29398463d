package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// AddAll adds in place what several changes did, as Add does one after the other: the past of each must be there or come before it.
// Where one meets nothing that it does not know of, it costs what lies in its gaps, and what all of them share is done once. A weave is
// spoilt by a patch that does not fit (ErrMismatch). Of patches none of which met what it does not know of, and none of which undoes another,
// besides is true: ApplyBeside adds them to this very weave too.
func (w *Weave) AddAll(ps []Patch, h History) (besides bool, err error) {
	return w.addAll(ps, h, spreadRuns, spreadHunks)
}

// addAll is AddAll that spreads a weave of so many runs and more out for so many hunks and more.
func (w *Weave) addAll(ps []Patch, h History, runs, hunks int) (besides bool, err error) {
	besides = true
	for len(ps) > 0 {
		n := 0
		if len(w.Runs) >= runs && hasHunks(ps, hunks) {
			if n, err = w.addSome(ps, h, mostGone); err != nil {
				return false, err
			}
		}
		if n == 0 {
			n = 1
			met, err := w.insert(ps[0], h)
			if err != nil {
				return false, err
			}
			besides = besides && !met && ps[0].Undoes == nil
		}
		ps = ps[n:]
	}
	return besides, nil
}

// addSome adds the first of some changes, as many as can be while the weave is spread: up to one that meets what it does not know of,
// or something else that stands otherwise than most do, or until windows were most weaves long. None, and the weave as it was, if that is the first.
func (w *Weave) addSome(ps []Patch, h History, most int) (n int, err error) {
	w.Sources, w.acts = slices.Clip(w.Sources), slices.Clip(w.acts) // what comes is not put into what is there now
	was := *w
	s := w.spreadOut()
	for i := range ps {
		p := &ps[i]
		did, plain := w.plainly(p)
		if !plain {
			break
		}
		// Chunks that took in others, and what came, are no short ones any more.
		if n > 0 && s.went > most*len(was.Runs) {
			break
		}
		a := applier{w: w, change: p.Change, h: h, known: map[uint32]bool{}}
		meets, ok := s.meets(&a, p.Hunks)
		if meets {
			break
		}
		if !ok || !s.put(&applier{w: w, change: p.Change}, p.Hunks) {
			// It may have been put in part. Those before it fitted, and do again, so this does not come to pass twice.
			w.takeBack(&was)
			if n == 0 {
				return 0, nil
			}
			return w.addSome(ps[:n], h, most)
		}
		w.enter(p, did)
		if n++; w.odd && !w.turnsOnlyItsOwn(*p) {
			s.gather()
			return n, w.settle()
		}
	}
	s.gather()
	w.join()
	return n, nil
}

// mostGone is how many whole weaves the windows of hunks may be longer than short chunks before it is spread out anew.
const mostGone = 40

// hasHunks tells whether some changes have so many hunks together: for fewer spreading out costs more than what they move.
func hasHunks(ps []Patch, least int) bool {
	n := 0
	for i := range ps {
		if n += len(ps[i].Hunks); n >= least {
			return true
		}
	}
	return false
}

// meets tells whether one of a change's hunks acts where a change acts that this one does not know of; ok is false where its gap is not
// found.
func (s *spread) meets(a *applier, hunks []change.Hunk) (meets, ok bool) {
	w := s.w
	for i := range hunks {
		h := &hunks[i]
		k, ok := s.window(h)
		if !ok {
			return false, false
		}
		w.Runs = s.chunks[k]
		l, r, err := w.gap(h, 0)
		s.chunks[k] = w.Runs
		if err != nil {
			return false, false
		}
		adds := h.Adds()
		for j := l; j < r; j++ {
			if a.unknown(w.Runs[j].Before, adds) || a.unknown(w.Runs[j].Inside, adds) {
				return true, true
			}
		}
		last := w.Tail
		if r < len(w.Runs) {
			last = w.Runs[r].Before
		}
		if a.unknown(last, adds) {
			return true, true
		}
	}
	return false, true
}

// unknown tells whether a change acts at a place that the applier's does not know of, so that they meet there.
func (a *applier) unknown(at Cover, adds bool) bool {
	for _, c := range a.w.Members(at.Add) {
		if !a.knows(c) {
			return true
		}
	}
	if !adds {
		return false
	}
	for _, c := range a.w.Members(at.Del) {
		if !a.knows(c) {
			return true
		}
	}
	return false
}
