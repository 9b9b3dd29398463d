package tree

import (
	"cmp"
	"slices"
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
		return !b.Dead && a.On() == b.On() && (b.Reg != Edit || v.w.loose.editWrites)
	})
}

// Standing is the acts on a register that no later op settles.
func (v *View) Standing(x File, reg Reg) (out []Act) {
	for _, a := range v.acts[x] {
		if a.Reg == Edit && v.w.loose.editFaint {
			continue
		}
		if a.On() == reg && v.w.Changes[a.Change].Undoes == None && v.live[a.Change] && !v.over(a, false) {
			out = append(out, a)
		}
	}
	return
}

// Values are the acts whose values stand in a register, least hash first; the first is shown. An edit's is that the file is
// text. If none stands, as when the adding of a file is undone yet something of it counts, the file is as it was born.
func (v *View) Values(x File, reg Reg) (out []Ref) {
	for _, a := range v.Standing(x, reg) {
		out = append(out, a.Ref)
	}
	if out == nil {
		out = []Ref{{x.Change, x, reg}}
	}
	slices.SortFunc(out, func(a, b Ref) int { return cmp.Compare(v.w.Changes[a.Change].Hash, v.w.Changes[b.Change].Hash) })
	return
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

// divided lists values that stand in a register unlike the one that is shown, of which no open pair speaks, each once: nothing
// that stands is hidden without a word. They come about by undoings only, as of the edits that a body was
// in conflict with when others were made on them.
func (v *View) divided(x File, reg Reg) (out []Ref) {
	values := v.Values(x, reg)
	said := map[string]bool{v.w.says(values[0]): true}
	for _, p := range v.Pairs {
		if p[0].File == x && p[0].On() == reg && !v.w.Life(p) {
			said[v.w.says(p[0])], said[v.w.says(p[1])] = true, true
		}
	}
	for _, r := range values[1:] {
		if !said[v.w.says(r)] {
			said[v.w.says(r)] = true
			out = append(out, r)
		}
	}
	return
}

// says is what an act on a register speaks of: of an undoing what is undone.
func (w *World) says(r Ref) string {
	r.Change, _ = w.origin(r.Change)
	return w.act(r).eff
}

// Texts are the files of a set; each has a weave, if only an empty one.
func (w *World) Texts(s Set) (out []File) {
	for x := range w.texts {
		if s[x.Change] {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Ord, b.Ord)) })
	return
}
