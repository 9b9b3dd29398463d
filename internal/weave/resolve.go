package weave

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// draft is a hunk in the making.
type draft struct {
	L, R   change.Pos
	del    []change.Stretch
	res    []change.Restore
	solves []change.Span
	ins    []insertion
	at     span
}

// insertion is where a stretch of new text hangs.
type insertion struct {
	after  change.Pos // where the line before it ends
	len    uint32
	left   bool
	parent change.Pos // with left
}

func (d *draft) restore(s change.Stretch, by []uint32) {
	if n := len(d.res); n > 0 {
		if last := &d.res[n-1]; last.Change == s.Change && last.Off+last.Len == s.Off && slices.Equal(last.By, by) {
			last.Len += s.Len
			return
		}
	}
	d.res = append(d.res, change.Restore{Stretch: s, By: by})
}

func (d *draft) adds() bool { return len(d.ins)+len(d.res)+len(d.solves) > 0 }

// Record expresses the edits of each segment as hunks in local numbers: what Weave.Record does for a file without
// conflicts. A block that lies in no segment stays open; one that does is solved. deps holds every change that the hunks
// depend on, not reduced, in no order and with repeats.
func (v *View) Record(segments []Segment, edits [][]Edit) (hunks []change.Hunk, deps []uint32, err error) {
	var drafts []*draft
	for i := range segments {
		var e []Edit
		if i < len(edits) {
			e = edits[i]
		}
		more, err := v.drafts(&segments[i], e)
		if err != nil {
			return nil, nil, err
		}
		drafts = append(drafts, more...)
	}
	if drafts, err = v.coalesce(drafts); err != nil {
		return nil, nil, err
	}
	for _, d := range drafts {
		deps = v.depend(d, deps)
		hunks = append(hunks, d.parts()...)
	}
	return hunks, deps, nil
}

// insertion hangs text after a line: on its right when it has no right child, else on the left of what follows it.
func (v *View) insertion(after change.Pos, n uint32) insertion {
	in := insertion{after: after, len: n}
	next := 0
	if after != change.Start {
		i, ok := v.l.places.holding(after.Change, after.Off-1)
		if !ok {
			return in
		}
		r := &v.w.Runs[i]
		switch {
		case after.Off < r.Off+r.Len:
			in.left, in.parent = true, after
			return in
		case !r.HasRight:
			return in
		}
		next = i + 1
	}
	if next < len(v.w.Runs) {
		r := &v.w.Runs[next]
		in.left, in.parent = true, change.Pos{Change: r.Change, Off: r.Off}
	}
	return in
}

// coalesce makes one of hunks that overlap: an edit inside the hull of a region that the same change solves. It puts
// them in order.
func (v *View) coalesce(drafts []*draft) (out []*draft, err error) {
	for _, d := range drafts {
		if d.at, err = v.l.places.span(d.L, d.R); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(drafts, func(a, b *draft) int { return cmp.Compare(a.at.l, b.at.l) })
	for _, d := range drafts {
		if len(out) == 0 || !out[len(out)-1].at.meets(d.at) {
			out = append(out, d)
			continue
		}
		o := out[len(out)-1]
		if d.at.r > o.at.r {
			o.R = d.R
		}
		o.at = o.at.hull(d.at)
		for _, r := range d.res {
			o.restore(r.Stretch, r.By)
		}
		o.del, o.solves, o.ins = append(o.del, d.del...), append(o.solves, d.solves...), append(o.ins, d.ins...)
	}
	return out, nil
}

// parts writes a hunk down: in its first part all but the insertions that do not follow its gap's left line.
func (d *draft) parts() []change.Hunk {
	out := []change.Hunk{{L: d.L, R: d.R, Del: d.del, Res: d.res, Solves: d.solves}}
	for i, in := range d.ins {
		if i == 0 && in.after == d.L {
			out[0].InsLen, out[0].Left, out[0].Parent = in.len, in.left, in.parent
			continue
		}
		out = append(out, change.Hunk{L: in.after, R: d.R, InsLen: in.len, Left: in.left, Parent: in.parent})
	}
	return out
}

// depend gives deps with what a hunk depends on, and takes in the twins of what it deletes.
func (v *View) depend(d *draft, deps []uint32) []uint32 {
	deps = ownerOf(d.L, ownerOf(d.R, deps))
	for _, in := range d.ins {
		deps = ownerOf(in.after, deps)
		if in.left {
			deps = ownerOf(in.parent, deps)
		}
	}
	h := change.Hunk{Del: v.w.inOrder(d.del)}
	if len(v.w.twins) > 0 {
		deps = v.w.deleteTwins(&h, deps)
	}
	d.del = h.Del
	for _, s := range d.del {
		deps = append(deps, s.Change)
	}
	for _, r := range d.res {
		deps = append(append(deps, r.Change), r.By...)
	}
	return v.meeting(d.at, d.adds(), deps)
}

// ownerOf gives deps with whoever inserted a line.
func ownerOf(p change.Pos, deps []uint32) []uint32 {
	if p.Change == change.Edge {
		return deps
	}
	return append(deps, p.Change)
}

// meeting gives deps with what has a hunk that meets a gap where either adds, and with who takes part in a region whose
// hull does.
func (v *View) meeting(at span, adds bool, deps []uint32) []uint32 {
	deps = v.w.covering(at, adds, deps)
	for _, r := range v.regions {
		if !r.at.meets(at) {
			continue
		}
		for _, p := range r.pairs {
			deps = append(deps, p[0].Change, p[1].Change)
		}
	}
	return deps
}

// covering gives deps with what covers the places of a gap: of what only deletes, only if the gap's hunk adds.
func (w *Weave) covering(at span, adds bool, deps []uint32) []uint32 {
	g := gap{w: w, adds: adds, deps: deps}
	first, last := at.l.run(), at.r.run()
	for i := first; i <= last; i++ {
		switch {
		case i == len(w.Runs):
			g.covered(w.Tail)
			continue
		case i > first || at.l.off() == 0:
			g.covered(w.Runs[i].Before)
		default:
			g.covered(w.Runs[i].Inside)
		}
		if i == last && at.r.off() > 0 {
			g.covered(w.Runs[i].Inside)
		}
	}
	return g.deps
}
