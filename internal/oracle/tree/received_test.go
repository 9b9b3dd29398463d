package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// received is the world of a replica that came by a set in some order that dependencies allow.
func (h *history) received(s Set) *World {
	var order []uint32
	in := Set{}
	for len(in) < len(s) {
		var ready []uint32
		for _, c := range s.Sorted() {
			if !in[c] && in.Holds(h.Changes[c].Past) {
				ready = append(ready, c)
			}
		}
		c := ready[h.Rand.Intn(len(ready))]
		in[c] = true
		order = append(order, c)
	}
	to := oracle.Numbers(order)
	file := func(x File) File { return File{to[x.Change], x.Ord} }
	w := NewWorld(nil)
	w.loose = h.loose
	for i, c := range order {
		o := h.Changes[c]
		n := &Change{Num: uint32(i), Hash: o.Hash, Undoes: to[o.Undoes], Past: o.Past.Renumbered(to), stood: o.stood.Renumbered(to)}
		for _, p := range o.Ops {
			p.File = file(p.File)
			n.Ops = append(n.Ops, p)
		}
		for _, e := range o.Edits {
			n.Edits = append(n.Edits, TextEdit{file(e.File), nil})
		}
		w.Changes = append(w.Changes, n)
	}
	for _, x := range h.Texts(s) {
		w.texts[file(x)] = h.texts[x].Received(order)
	}
	return w
}

// everything is all that a view says, with hashes for numbers.
func (v *View) everything() string {
	var out []string
	ref := func(r Ref) string {
		return fmt.Sprintf("%06x %s %c", v.w.Changes[r.Change].Hash, v.w.ID(r.File), r.Reg)
	}
	both := func(a, b string) string { return min(a, b) + " - " + max(a, b) }
	for p, e := range v.Map() {
		out = append(out, fmt.Sprintf("%s %v", p, e))
	}
	for _, k := range v.Conflicts() {
		var files, refs []string
		for _, x := range k.Files {
			files = append(files, v.w.ID(x))
		}
		for _, r := range k.Refs {
			refs = append(refs, ref(r))
		}
		slices.Sort(refs)
		out = append(out, fmt.Sprint(k.Kind, files, k.Dir, refs))
	}
	for _, p := range v.Pairs {
		out = append(out, both(ref(p[0]), ref(p[1])))
	}
	for _, p := range v.TextPairs() {
		act := func(a oracle.Act) string { return fmt.Sprintf("%06x.%d", v.w.Changes[a.Change].Hash, a.Hunk) }
		out = append(out, v.w.ID(p.File)+both(act(p.Pair[0]), act(p.Pair[1])))
	}
	for _, f := range v.w.Texts(v.Set) {
		s := v.w.ID(f)
		for _, x := range v.w.texts[f].Order(v.Set) {
			s += fmt.Sprintf(" %06x.%d", v.w.Changes[x.Change].Hash, x.Off)
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// state is what a person sees and what is open.
func (v *View) state() string {
	out := fmt.Sprint(v.Map())
	for _, k := range v.Conflicts() {
		out += "\n" + k.Key()
	}
	return out
}
