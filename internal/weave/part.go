package weave

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Only gives the weave of those changes for which in is true. They must be closed under dependency: it is the weave
// of an older state, or of one without a change (unrecord). What the left out alone had closed is open again. It costs in
// proportion to the runs. The weave is not changed.
func (w *Weave) Only(in func(uint32) bool, h History) (*Weave, error) {
	p := part{in: in, h: h, w: w, out: &Weave{}}
	w.shareSets(p.out)
	p.sources()
	p.runs()
	p.rights()
	if err := p.covers(); err != nil {
		return nil, err
	}
	if err := p.out.settle(); err != nil {
		return nil, err
	}
	p.out.join()
	if err := p.conflicts(); err != nil {
		return nil, err
	}
	return p.out, nil
}

// part takes some changes out of a weave.
type part struct {
	in  func(uint32) bool
	h   History
	w   *Weave
	out *Weave
	// Of each set of w, whether a member is left out. A cover with such a member is not to be known from w alone.
	less []bool
	lost bool
	// The lines on whose right a head was left out.
	childless []change.Pos
	// reopens: what is left out may have closed a conflict, or undone one of its changes.
	reopens bool
}

// unknown marks a cover that must be found anew: no list has so high a number.
var unknown = Cover{Add: 1<<32 - 1}

func (p *part) sources() {
	for i, s := range p.w.Sources {
		a := p.w.acts[i]
		if !p.in(s.Change) {
			p.reopens = p.reopens || a.solves || a.undo != nil
			continue
		}
		p.out.Sources, p.out.acts = append(p.out.Sources, s), append(p.out.acts, a)
		p.out.odd = p.out.odd || a.undo != nil || a.restores
	}
	for _, t := range p.w.twins {
		t.at = slices.DeleteFunc(slices.Clone(t.at), func(m change.Pos) bool { return !p.in(m.Change) })
		if len(t.at) > 1 {
			p.out.twins = append(p.out.twins, t)
			p.out.odd = true
		}
	}
}

// conflicts finds which are open.
func (p *part) conflicts() error {
	if p.reopens {
		before := (&looking{w: p.w, undoes: p.w.undoes()}).without(nil)
		out := make([]bool, len(p.w.Sources))
		for i, s := range p.w.Sources {
			out[i] = !p.in(s.Change)
		}
		var err error
		p.out.open, err = p.w.reopen(before, (&looking{w: p.w, undoes: p.w.undoes()}).without(out), p.h)
		return err
	}
	for _, o := range p.w.open {
		if p.in(o[0].Change) && p.in(o[1].Change) {
			p.out.open = append(p.out.open, o)
		}
	}
	return nil
}

func (p *part) runs() {
	p.w.number()
	stays := make([]bool, len(p.w.Sources))
	for k, s := range p.w.Sources {
		stays[k] = p.in(s.Change)
	}
	in := func(c uint32) bool {
		k, ok := p.w.source(c)
		return ok && stays[k]
	}
	p.in = in
	p.out.Runs = make([]Run, 0, len(p.w.Runs))
	dead := make([]Set, len(p.w.sets)+1) // what deleters' sets become
	p.less = make([]bool, len(p.w.sets)+1)
	for i, m := range p.w.sets {
		dead[i+1] = Set(i + 1)
		p.less[i+1] = slices.ContainsFunc(m, func(c uint32) bool { return !in(c) })
	}
	done := make([]bool, len(p.w.sets)+1)
	for i := range p.w.Runs {
		r := &p.w.Runs[i]
		if !in(r.Change) {
			if r.Head && !r.Left {
				p.childless = append(p.childless, r.Parent)
			}
			continue
		}
		if d := r.Dead; p.less[d] && !done[d] {
			done[d] = true
			dead[d] = p.out.set(slices.DeleteFunc(slices.Clone(p.w.Members(d)), func(c uint32) bool { return !in(c) }))
		}
		p.out.Runs = append(p.out.Runs, *r)
		o := &p.out.Runs[len(p.out.Runs)-1]
		o.Dead, o.Turned = dead[r.Dead], false
		o.Before, o.Inside = p.cover(r.Before), p.cover(r.Inside)
	}
	p.out.Tail = p.cover(p.w.Tail)
}

func (p *part) cover(c Cover) Cover {
	if p.less[c.Add] || p.less[c.Del] {
		p.lost = true
		return unknown
	}
	return c
}

// rights finds which runs have no right child any more: a head that was left out was one's, and it has no other.
func (p *part) rights() {
	if len(p.childless) == 0 {
		return
	}
	left := make(map[change.Pos]bool, len(p.childless))
	for _, c := range p.childless {
		left[c] = true
	}
	for i := range p.out.Runs {
		switch r := &p.out.Runs[i]; {
		case !r.Head:
			delete(left, change.Pos{Change: r.Change, Off: r.Off})
		case !r.Left:
			delete(left, r.Parent)
		}
	}
	for i := range p.out.Runs {
		r := &p.out.Runs[i]
		if r.HasRight && left[change.Pos{Change: r.Change, Off: r.Off + r.Len}] {
			r.HasRight = false
		}
	}
}

// reach is the gap of one hunk over the runs: the places before run from to before run to.
type reach struct {
	change   uint32
	adds     bool
	from, to int
}

// covers finds the covers that are not known, from all gaps over their places.
func (p *part) covers() error {
	if !p.lost {
		return nil
	}
	gaps, err := p.gaps()
	if err != nil {
		return err
	}
	var over []reach
	find := func(c *Cover, upTo int) {
		if *c != unknown {
			return
		}
		var add, del []uint32
		for _, g := range over {
			if g.to >= upTo {
				if g.adds {
					add = append(add, g.change)
				} else {
					del = append(del, g.change)
				}
			}
		}
		*c = p.out.latest(add, del, p.h)
	}
	for i := range len(p.out.Runs) + 1 {
		if len(over) > 0 {
			over = slices.DeleteFunc(over, func(g reach) bool { return g.to < i })
		}
		for len(gaps) > 0 && gaps[0].from == i {
			over = append(over, gaps[0])
			gaps = gaps[1:]
		}
		if i == len(p.out.Runs) {
			find(&p.out.Tail, i)
			break
		}
		find(&p.out.Runs[i].Before, i)
		find(&p.out.Runs[i].Inside, i+1)
	}
	return nil
}

// lostPlaces is the stretches of places whose covers are not known.
func (p *part) lostPlaces() (out []span) {
	add := func(l, r place) {
		if n := len(out); n > 0 && out[n-1].r+1 >= l {
			out[n-1].r = r
			return
		}
		out = append(out, span{l, r})
	}
	for i := range p.out.Runs {
		r := &p.out.Runs[i]
		if r.Before == unknown {
			add(placeIn(i, 0), placeIn(i, 0))
		}
		if r.Inside == unknown && r.Len > 1 {
			add(placeIn(i, 1), placeIn(i, r.Len-1))
		}
	}
	if p.out.Tail == unknown {
		add(placeIn(len(p.out.Runs), 0), placeIn(len(p.out.Runs), 0))
	}
	return out
}

// gaps gives every gap over places with covers that are not known, by where it begins. Runs are cut at gaps' ends first: a
// gap may end where later ones hid it.
func (p *part) gaps() ([]reach, error) {
	hunks, err := p.out.places().meeting(p.lostPlaces(), func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	var ends []change.Pos
	for i := range hunks {
		ends = append(ends, hunks[i].parts[0].L, hunks[i].parts[0].R)
	}
	p.out.cut(ends)
	places := p.out.places()
	var gaps []reach
	for i := range hunks {
		h := &hunks[i]
		s, err := places.span(h.parts[0].L, h.parts[0].R)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, reach{h.change, h.adds(), s.l.run(), s.r.run()})
	}
	slices.SortFunc(gaps, func(a, b reach) int { return cmp.Compare(a.from, b.from) })
	return gaps, nil
}
