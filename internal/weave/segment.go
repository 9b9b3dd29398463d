package weave

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Segment is what lies between two blocks that an edited text keeps, or the file's ends: the text that edits are
// measured against. Where a block is edited away, it holds every line of the block that the new text may keep.
type Segment struct {
	Text []change.Stretch

	l, r   change.Pos
	runs   []piece
	solved []*region
}

// piece is a run of a segment.
type piece struct {
	run int
	s   change.Stretch
}

// Segments cuts the file at the blocks for which kept, of their order among the view's blocks, is true. There is one more
// segment than kept blocks. Page.Cut calls it for an edited text.
func (v *View) Segments(kept func(block int) bool) []Segment {
	out := []Segment{{l: change.Start, r: change.End}}
	block := 0
	hidden := v.blockRuns()
	for i := 0; i < len(v.w.Runs); i++ {
		now := &out[len(out)-1]
		r := hidden[i]
		switch {
		case r == nil:
			if v.w.Runs[i].Shown() {
				now.add(v.piece(i))
			}
			continue
		case kept(block):
			first, last := &v.w.Runs[r.first], &v.w.Runs[r.last]
			now.r = change.Pos{Change: first.Change, Off: first.Off}
			out = append(out, Segment{l: change.Pos{Change: last.Change, Off: last.Off + last.Len}, r: change.End})
		default:
			now.solved = append(now.solved, r)
			for k := r.first; k <= r.last; k++ {
				if r.mayKeep(k) {
					now.add(v.piece(k))
				}
			}
		}
		block++
		i = r.last
	}
	return out
}

// Whole is the file as one segment in which nothing stays open: all blocks are solved by what is recorded of it, and the
// conflicts that show no block too.
func (v *View) Whole() []Segment {
	out := v.Segments(func(int) bool { return false })
	for _, r := range v.regions {
		if r.first > r.last {
			out[0].solved = append(out[0].solved, r)
		}
	}
	return out
}

// blockRuns gives for the first run of each block its region.
func (v *View) blockRuns() map[int]*region {
	out := map[int]*region{}
	for _, it := range v.Items {
		if it.Block != nil {
			out[it.Block.region.first] = it.Block.region
		}
	}
	return out
}

func (v *View) piece(i int) piece {
	r := &v.w.Runs[i]
	return piece{i, change.Stretch{Change: r.Change, Off: r.Off, Len: r.Len}}
}

func (s *Segment) add(p piece) {
	s.runs = append(s.runs, p)
	s.Text = appendStretch(s.Text, p.s)
}

// mayKeep reports whether a resolution may keep a run of the block: one that shows, or that a side shows and the other
// deleted, unless a twin could be shown in its stead.
func (r *region) mayKeep(i int) bool {
	v := r.v
	if v.w.Runs[i].Shown() {
		return true
	}
	_, twinned := v.l.twins[i]
	onSide := slices.ContainsFunc(r.sides, func(s side) bool { return r.shows(s.shown, i) })
	return onSide && !twinned && v.l.counts(v.w.Runs[i].Change, v.live) && v.l.deleted(i, v.live)
}

// drafts records the edits of one segment: ascending, with kept text between them.
func (v *View) drafts(s *Segment, edits []Edit) (out []*draft, err error) {
	for _, r := range s.solved {
		out = append(out, &draft{L: r.hull.L, R: r.hull.R, solves: []change.Span{r.hull}})
	}
	w := walker{v: v, runs: slices.Clone(s.runs), h: &draft{L: s.l}, after: s.l}
	for _, e := range edits {
		if e.A0 < w.at || e.A1 < e.A0 || e.B1 < e.B0 {
			return nil, fmt.Errorf("%w: edits are not in order", ErrMismatch)
		}
		if err := w.to(e.A0, true); err != nil {
			return nil, err
		}
		if e.B1 > e.B0 {
			w.h.ins = append(w.h.ins, v.insertion(w.after, uint32(e.B1-e.B0)))
		}
		if err := w.to(e.A1, false); err != nil {
			return nil, err
		}
	}
	if err := w.to(int(size(s.Text)), true); err != nil {
		return nil, err
	}
	w.flush(s.r)
	return append(out, w.out...), nil
}

func size(of []change.Stretch) (n uint64) {
	for _, s := range of {
		n += uint64(s.Len)
	}
	return n
}

// walker walks over the text of a segment and gathers the hunks that edits make.
type walker struct {
	v     *View
	runs  []piece
	at    int // bytes walked over
	h     *draft
	after change.Pos // where the last kept line ends
	out   []*draft
}

// to walks up to a byte of the segment, over what the new text keeps or over what it drops.
func (w *walker) to(end int, keep bool) error {
	for w.at < end {
		if len(w.runs) == 0 {
			return fmt.Errorf("%w: an edit lies %d bytes behind the end", ErrMismatch, end-w.at)
		}
		p := w.runs[0]
		if n := uint32(min(end-w.at, int(p.s.Len))); n < p.s.Len {
			w.runs[0].s.Off += n
			w.runs[0].s.Len -= n
			p.s.Len = n
		} else {
			w.runs = w.runs[1:]
		}
		w.at += int(p.s.Len)
		w.pass(p, keep)
	}
	return nil
}

func (w *walker) pass(p piece, keep bool) {
	shown := w.v.w.Runs[p.run].Shown()
	switch {
	case !keep:
		if shown {
			w.h.del = append(w.h.del, p.s)
		}
		return
	case shown:
		w.flush(change.Pos{Change: p.s.Change, Off: p.s.Off})
	default:
		w.h.restore(p.s, w.v.l.deleters(p.run, w.v.live))
	}
	w.after = change.Pos{Change: p.s.Change, Off: p.s.Off + p.s.Len}
	if shown {
		w.h.L = w.after
	}
}

// flush ends the hunk at the next line that stays.
func (w *walker) flush(at change.Pos) {
	if w.h.R = at; len(w.h.ins)+len(w.h.del)+len(w.h.res) > 0 {
		w.out = append(w.out, w.h)
	}
	w.h = &draft{L: at}
}
