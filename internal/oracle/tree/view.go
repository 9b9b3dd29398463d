package tree

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// View is what a set shows.
type View struct {
	Set   Set
	Files []*Shown // all that exist, by their order
	// Pairs are the clashing acts of concurrent live changes that nothing later settles, of files that do not exist too.
	Pairs []Pair

	w         *World
	live      Set
	acts      map[File][]Act // of every change, undone ones too
	byPath    map[string]*Shown
	dirs      map[string]bool // the paths with something living beneath them
	conflicts []Conflict      // but those in texts
}

// Pair is two clashing acts; the first is of the change with the smaller number.
type Pair [2]Ref

// Look gives what a set shows.
func (w *World) Look(s Set) *View {
	v := &View{w: w, Set: s, live: w.Live(s), acts: map[File][]Act{}, byPath: map[string]*Shown{}, dirs: map[string]bool{}}
	for _, c := range s.Sorted() {
		for _, a := range w.Acts(c) {
			v.acts[a.File] = append(v.acts[a.File], a)
		}
	}
	v.Pairs = v.open()
	v.findFiles()
	v.giveNames()
	v.findConflicts()
	return v
}

// over reports whether a counting op later than a settles what a says: of existence an op or edit that says otherwise, of a
// register an op on it. An undoing only takes away.
func (v *View) over(a Act, life bool) bool {
	return slices.ContainsFunc(v.acts[a.File], func(b Act) bool {
		c := v.w.Changes[b.Change]
		if !v.live[b.Change] || c.Undoes != None && !v.w.loose.undoSupersedes || !c.stood[a.Change] {
			return false
		}
		if life {
			return aboutLife(a, b)
		}
		return !b.Dead && a.On() == b.On() && (b.Reg != Edit || v.w.loose.editWrites && b.Base != a.Ref && b.Base != a.Base)
	})
}

// Standing is the acts on a register that no later op settles.
func (v *View) Standing(x File, reg Reg) (out []Act) {
	for _, a := range v.acts[x] {
		if a.On() == reg && v.w.Changes[a.Change].Undoes == None && v.live[a.Change] && !v.over(a, false) {
			out = append(out, a)
		}
	}
	return
}

// Values are the ops whose values stand in a register, least hash first; the first is shown. A body that is text stands
// with an edit of it, too, but if it is undone it comes last. If none stands, as when the adding of a file is undone yet something of it counts, the
// file is as it was born: then born is true, and of a body its value is shown and not its weave.
func (v *View) Values(x File, reg Reg) (out []Ref, born bool) {
	for _, a := range v.Standing(x, reg) {
		r := a.Ref
		if a.Reg == Edit {
			if r = a.Base; v.w.loose.baseAlone {
				continue
			}
		}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if out == nil {
		out, born = []Ref{{x.Change, x, reg}}, true
	}
	slices.SortFunc(out, v.before)
	return
}

// before orders what stands in a register: what counts itself, then what only its edits hold; by hash.
func (v *View) before(a, b Ref) int {
	c, d := v.w.Changes[a.Change], v.w.Changes[b.Change]
	return cmp.Or(count(v.live[d.Num])-count(v.live[c.Num]), cmp.Compare(c.Hash, d.Hash))
}

// open lists the conflict pairs that nothing later settles.
func (v *View) open() (out []Pair) {
	for _, as := range v.acts {
		for i, a := range as {
			for _, b := range as[:i] {
				if !v.live[a.Change] || !v.live[b.Change] || !v.w.Concurrent(a.Change, b.Change) || !v.w.clash(a, b) {
					continue
				}
				if life := aboutLife(a, b); !v.over(a, life) && !v.over(b, life) {
					out = append(out, Pair{b.Ref, a.Ref})
				}
			}
		}
	}
	return
}

// Life reports whether a pair differs on whether its file exists.
func (w *World) Life(p Pair) bool { return aboutLife(w.act(p[0]), w.act(p[1])) }

// exists: some counting act says so and no later removal settles it; or it is in dispute, for nothing is hidden by a conflict.
func (v *View) exists(x File) bool {
	for _, a := range v.acts[x] {
		if v.w.Changes[a.Change].Undoes == None && v.live[a.Change] && !a.Dead && !v.over(a, true) {
			return true
		}
	}
	return slices.ContainsFunc(v.Pairs, func(p Pair) bool { return p[0].File == x && v.w.Life(p) })
}

// divided lists the values that stand in a register unlike the one that is shown, count themselves, and of which no open pair
// speaks: nothing that stands is hidden without a word. They come about by undoings only, as of the edits that a body was
// in conflict with when others were made on them.
func (v *View) divided(x File, reg Reg) (out []Ref) {
	values, _ := v.Values(x, reg)
	says := func(r Ref) string { return v.w.op(v.w.value(r)).effect() }
	for _, r := range values[1:] {
		named := slices.ContainsFunc(v.Pairs, func(p Pair) bool {
			return p[0].File == x && p[0].On() == reg && !v.w.Life(p) && (says(p[0]) == says(r) || says(p[1]) == says(r))
		})
		if v.live[r.Change] && says(r) != says(values[0]) && !named {
			out = append(out, r)
		}
	}
	return
}

// value is the op that gives a register what an act speaks of: of an undoing what is undone, of an edit its base.
func (w *World) value(r Ref) Ref {
	if r.Reg == Edit {
		return w.act(r).Base
	}
	r.Change, _ = w.origin(r.Change)
	return r
}

// Bases lists the bodies of a set that are text, standing or not.
func (w *World) Bases(s Set) (out []Ref) {
	for base := range w.texts {
		if s[base.Change] {
			out = append(out, base)
		}
	}
	slices.SortFunc(out, func(a, b Ref) int { return cmp.Or(cmp.Compare(a.Change, b.Change), w.compare(a.File, b.File)) })
	return
}

// render shows the text of a base in a set.
func (w *World) render(base Ref, s Set) *oracle.State { return w.texts[base].Render(s) }
