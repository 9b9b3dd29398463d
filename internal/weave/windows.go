package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// From so many hunks and runs on a patch is applied window by window: each run that comes in between others moves all that follow it, and
// in a catalogue of messages a hundred thousand follow, a thousand times a patch.
const (
	windowedHunks = 16
	windowedRuns  = 512
	windowHunks   = 32 // of a window
)

// windowed applies hunks that come in order to a weave of which the change knows all that it meets. done is false, and the weave as it was, where
// something stands otherwise than most do.
func (a *applier) windowed(hunks []change.Hunk) (done bool) {
	w := a.w
	if a.h != nil && !a.alone || len(hunks) < windowedHunks || len(w.Runs) < windowedRuns {
		return false
	}
	was, tail := w.Runs, w.Tail
	if done = a.byWindows(hunks); !done {
		w.Runs, w.Tail, a.hidden = was, tail, nil
	}
	return done
}

// reachOf is the runs between which a hunk acts: the one that ends where its gap begins, -1 for none, and the one that begins where it ends.
type reachOf struct{ l, r int }

func (a *applier) byWindows(hunks []change.Hunk) bool {
	w := a.w
	w.Runs = slices.Clone(w.Runs)
	w.cut(edges(hunks))
	runs := w.Runs
	reaches, ok := w.reaches(hunks)
	if !ok {
		return false
	}
	out := make([]Run, 0, len(runs)+len(hunks))
	var window []Run
	var off uint32
	at := 0 // runs before it are out
	for i := 0; i < len(hunks); {
		n, end := i+1, reaches[i].r
		for n < len(hunks) && (n-i < windowHunks || reaches[n].l < end) {
			if reaches[n].l < reaches[i].l {
				return false
			}
			end = max(end, reaches[n].r)
			n++
		}
		from, to := max(reaches[i].l, 0), min(end+1, len(runs))
		if from < at {
			return false
		}
		out = append(out, runs[at:from]...)
		window = append(window[:0], runs[from:to]...)
		w.Runs = window
		for next := 0; i < n; i++ {
			var err error
			if next, err = a.hunk(off, &hunks[i], next); err != nil {
				return false
			}
			off += hunks[i].InsLen
		}
		window = w.Runs
		if end == len(runs) {
			out, at = append(out, window...), to
			continue
		}
		last := len(window) - 1 // begins where the last gap ends, and another may begin where it does
		out = append(out, window[:last]...)
		at = to - 1
		runs[at] = window[last]
	}
	w.Runs = append(out, runs[at:]...)
	return true
}

// edges lists where hunks cut runs.
func edges(hunks []change.Hunk) (at []change.Pos) {
	for i := range hunks {
		h := &hunks[i]
		for _, p := range [2]change.Pos{h.L, h.R} {
			if p != change.Start && p != change.End {
				at = append(at, p)
			}
		}
		for _, s := range h.Del {
			at = append(at, change.Pos{Change: s.Change, Off: s.Off}, change.Pos{Change: s.Change, Off: s.Off + s.Len})
		}
	}
	return at
}

// reaches finds the runs between which hunks act. All are cut where they do.
func (w *Weave) reaches(hunks []change.Hunk) ([]reachOf, bool) {
	p := w.places()
	out := make([]reachOf, len(hunks))
	for i := range hunks {
		h, to := &hunks[i], reachOf{-1, len(w.Runs)}
		ok := true
		if h.L != change.Start {
			if h.L.Off == 0 {
				return nil, false
			}
			if to.l, ok = p.holding(h.L.Change, h.L.Off-1); !ok {
				return nil, false
			}
		}
		if h.R != change.End {
			if to.r, ok = p.holding(h.R.Change, h.R.Off); !ok || w.Runs[to.r].Off != h.R.Off {
				return nil, false
			}
		}
		if to.r <= to.l {
			return nil, false
		}
		out[i] = to
	}
	return out, true
}
