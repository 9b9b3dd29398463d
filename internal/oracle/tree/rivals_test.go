package tree

import (
	"maps"

	"github.com/oxy-vcs/oxy/internal/change"
)

// rivals checks that two different resolutions of one conflict conflict, that two equal ones are one, and that of two files that meet both stay if
// each of two people keeps another.
func (h *history) rivals(s Set) {
	v := h.Look(s)
	ks := v.Conflicts()
	if len(ks) == 0 {
		return
	}
	n := uint32(len(h.Changes))
	defer func() { h.Forget(n) }()
	k := ks[h.Rand.Intn(len(ks))]
	f := v.File(k.Files[len(k.Files)-1])
	if k.Kind == "name" && !k.Dir {
		h.bothStay(v, k)
	}
	one, two := v.Map(), v.Map()
	moves := Moves{}
	switch e := f.Entry(); k.Kind {
	case "text":
		one[f.Path] = Entry{e.Kind, e.Exec, h.blocks(f, "one\n")}
		two[f.Path] = Entry{e.Kind, e.Exec, h.blocks(f, "two\n")}
	case "body":
		if f.Text() != nil {
			two[f.Path] = Entry{change.Binary, e.Exec, "other"}
		} else {
			two[f.Path] = Entry{change.Text, e.Exec, "other\n"}
		}
	case "mode":
		e.Exec = !e.Exec
		two[f.Path] = e
		if e.Kind == change.Link {
			return
		}
	default:
		delete(two, f.Path)
		if k.Kind == "place" || k.Kind == "name" && h.Rand.Intn(2) == 0 {
			moves[f.Path], two["fresh"] = "fresh", e
		}
	}
	a, err := h.Record(s, one, nil, []Conflict{k})
	if err != nil || a == nil {
		h.fault("a conflict can be settled", "%v %v: %v", s.Sorted(), k.Key(), err)
		return
	}
	if h.alike(s, one, k, a); h.found {
		return
	}
	b, err := h.Record(s, two, moves, nil)
	if err != nil || b == nil {
		h.fault("a conflict can be settled", "%v %v: %v", s.Sorted(), k.Key(), err)
		return
	}
	h.seen["rivals"]++
	u := h.Look(s.With(a.Num, b.Num))
	for _, p := range u.Pairs {
		if p[0].Change == a.Num && p[1].Change == b.Num {
			return
		}
	}
	for _, p := range u.TextPairs() {
		if p.Names(a.Num) && p.Names(b.Num) {
			return
		}
	}
	h.fault("two ways to settle a conflict conflict", "%v %v: c%d c%d", s.Sorted(), k.Key(), a.Num, b.Num)
}

// alike checks that who settles a conflict as another did is at one with him.
func (h *history) alike(s Set, want map[string]Entry, k Conflict, a *Change) {
	b, err := h.Record(s, want, nil, []Conflict{k})
	if err != nil || b == nil {
		h.fault("a conflict can be settled", "%v %v: %v", s.Sorted(), k.Key(), err)
		return
	}
	u, v := h.Look(s.With(a.Num, b.Num)), h.Look(s.With(a.Num))
	for _, p := range u.Pairs {
		if p[0].Change == a.Num && p[1].Change == b.Num {
			h.fault("two equal resolutions do not conflict", "%v %v: %v", s.Sorted(), k.Key(), p)
		}
	}
	for _, p := range u.TextPairs() {
		if p.Names(a.Num) && p.Names(b.Num) {
			h.fault("two equal resolutions do not conflict", "%v %v: %v", s.Sorted(), k.Key(), p)
		}
	}
	if !maps.Equal(u.Map(), v.Map()) {
		h.fault("two equal resolutions are one", "%v %v:\n%#v\n%#v", s.Sorted(), k.Key(), u.Map(), v.Map())
	}
	h.Forget(b.Num)
}

// blocks is a text with words in the stead of each block.
func (h *history) blocks(f *Shown, words string) string {
	out := h.NewPage(f.File)
	for _, it := range f.Text().Items {
		if it.Block != nil {
			out.WriteString(words)
		} else {
			out.Add(it)
		}
	}
	return out.String()
}

func (h *history) bothStay(v *View, k Conflict) {
	u := maps.Clone(v.Set)
	for _, x := range k.Files {
		want := v.Map()
		delete(want, v.File(x).Path)
		c, err := h.Record(v.Set, want, nil, nil)
		if err != nil || c == nil {
			h.fault("a conflict can be settled", "%v %v: %v", v.Set.Sorted(), k.Key(), err)
			return
		}
		u[c.Num] = true
	}
	h.seen["rival removals"]++
	if w := h.Look(u); w.File(k.Files[0]) == nil || w.File(k.Files[1]) == nil {
		h.fault("who keeps another file loses neither", "%v %v", v.Set.Sorted(), k.Key())
	}
}
