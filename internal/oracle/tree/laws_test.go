package tree

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// set checks what holds of any set: the order of arrival leaves it; recording what it shows records nothing; every file
// is shown once, no path twice; what was added and never removed is there.
func (h *history) set(s Set) {
	h.seen["sets"]++
	v := h.Look(s)
	if !h.Closed(s) {
		h.fault("sets are closed", "%v", s.Sorted())
	}
	if a, b := v.everything(), h.everythingReceived(s); a != b {
		h.fault("the order of arrival leaves all", "%v\n%v\n\n%v", s.Sorted(), a, b)
	}
	if c, err := h.Record(s, v.Map(), nil, nil); c != nil || err != nil {
		h.fault("recording what shows records nothing", "%v %v", s.Sorted(), err)
		h.Forget(uint32(len(h.Changes)) - 1)
	}
	shown := 0
	for _, f := range v.Files {
		g := v.At(f.Path)
		if g == nil || g.Entry() != f.Entry() || !f.Hidden && g != f {
			h.fault("every file is shown", "%v %v", s.Sorted(), f.File)
		}
		shown += count(!f.Hidden)
		h.seen["twins"] += count(f.Hidden)
	}
	if shown != len(v.byPath) || !Valid(v.Map()) {
		h.fault("a path shows one thing", "%v %v", s.Sorted(), v.Map())
	}
	h.named(v)
	for x, acts := range v.acts {
		removed := slices.ContainsFunc(acts, func(a Act) bool { return a.Reg == Gone && v.live[a.Change] })
		if v.live[x.Change] && !removed && v.File(x) == nil {
			h.fault("what nobody removed is there", "%v %v", s.Sorted(), x)
		}
	}
	ks := v.Conflicts()
	for _, k := range ks {
		h.seen["conflicts "+k.Kind]++
	}
	h.seen["sets with conflicts"] += count(len(ks) > 0)
	h.weaves(s)
}

// named checks that what stands in a register unlike what is shown is named by a conflict or undone, and the other way round.
func (h *history) named(v *View) {
	undone := slices.ContainsFunc(v.Set.Sorted(), func(c uint32) bool { return h.Changes[c].Undoes != None })
	for _, f := range v.Files {
		for _, reg := range registers {
			if n := len(v.divided(f.File, reg)); n > 0 {
				if h.seen["values divided by an undoing"]++; !undone {
					h.fault("only an undoing divides what stands", "%v in %v", f.File, v.Set.Sorted())
				}
			}
		}
	}
	for _, p := range v.Pairs {
		for _, r := range p {
			if !h.Life(p) && h.Changes[r.Change].Undoes == None && !slices.Contains(v.Values(r.File, r.On()), r) {
				h.fault("both sides of a conflict stand", "%v in %v", p, v.Set.Sorted())
			}
		}
	}
}

func (h *history) everythingReceived(s Set) string {
	w := h.received(s)
	all := Set{}
	for i := range w.Changes {
		all[uint32(i)] = true
	}
	return w.Look(all).everything()
}

// weaves checks each weave: no line vanishes without a deleter, and of a line's twins one shows.
func (h *history) weaves(s Set) {
	for _, f := range h.Texts(s) {
		t := h.Text(f).See(s)
		for _, x := range t.Order {
			if len(t.Deleters(x)) > 0 || !t.Live(x.Change) {
				continue
			}
			n := 0
			for _, y := range t.Twins(x) {
				n += count(t.Shows(y))
			}
			if n != 1 {
				h.fault("of a line's twins one shows", "%v in %v: %v", x, s.Sorted(), t.Twins(x))
			}
		}
	}
}

// edited checks that a record shows what was written, conflicts with nothing that it was recorded on, in no closed part
// either, and settles exactly what it says.
func (h *history) edited(e Event) {
	if e.Err != nil {
		h.fault("a map without half blocks is recorded", "%v: %v", e.Want, e.Err)
		return
	}
	v := h.Look(e.Before)
	if len(e.After) == len(e.Before) {
		if !maps.Equal(v.Map(), e.Want) {
			h.fault("an edit is recorded", "%v: %v -> %v", e.Before.Sorted(), v.Map(), e.Want)
		}
		return
	}
	c := h.anyHash(e)
	w := h.Look(e.After)
	h.seen["records"]++
	h.seen["edits"] += len(c.Edits)
	if !maps.Equal(w.Map(), e.Want) {
		h.fault("a record shows what was written", "%v moves %v\n%#v\nwant %#v\ngot  %#v", e.Before.Sorted(), e.Moves, v.Map(), e.Want, w.Map())
	}
	touched := map[File]bool{}
	for _, a := range h.Acts(c.Num) {
		touched[a.File] = true
	}
	for _, k := range w.conflicts {
		if !v.has(k.Key()) {
			h.fault("a fresh record conflicts with nothing", "%v new %v", e.Before.Sorted(), k.Key())
		}
	}
	for _, k := range e.Settle {
		if k.Kind != "text" && w.has(k.Key()) {
			h.fault("a resolution closes what it settles", "%v %v", e.Before.Sorted(), k.Key())
		}
		h.seen["settled "+k.Kind]++
	}
	for _, k := range v.conflicts {
		if k.Kind != "name" && !settles(k, c, w) != w.has(k.Key()) {
			h.fault("a resolution closes exactly what it settles", "%v %v", e.Before.Sorted(), k.Key())
		}
		if k.Kind == "name" && !slices.ContainsFunc(k.Files, func(x File) bool { return touched[x] }) && !k.Dir && !w.has(k.Key()) {
			h.fault("a resolution closes exactly what it settles", "%v %v", e.Before.Sorted(), k.Key())
		}
	}
	open := textSet(w.TextPairs())
	for _, p := range v.TextPairs() {
		if open[p] == h.Text(p.File).Changes[c.Num].Named(p.Pair) {
			h.fault("a resolution closes exactly the pairs that it solves", "%v", p)
		}
	}
	h.part(e, c, c.Past, touched)
	h.part(e, c, h.Part(e.Before, 2).Union(c.Past), touched)
	h.independent(e.After, c)
}

// settles reports whether a fresh record decides a conflict of one file: one on a register by writing it, one on existence by
// whatever it does to the file.
func settles(k Conflict, c *Change, after *View) bool {
	x := k.Files[0]
	if after.File(x) == nil {
		return true
	}
	return slices.ContainsFunc(c.Ops, func(o Op) bool { return o.File == x && (k.Kind == "life" || kinds[o.Reg] == k.Kind) }) ||
		k.Kind == "life" && slices.ContainsFunc(c.Edits, func(e TextEdit) bool { return e.File == x })
}

// anyHash records anew what was just recorded: all but its hash is as it was.
func (h *history) anyHash(e Event) *Change {
	c := h.Changes[e.Change]
	told := func(c *Change) string {
		ops := slices.Clone(c.Ops)
		slices.SortFunc(ops, func(a, b Op) int { return strings.Compare(fmt.Sprint(a.File, a.Reg), fmt.Sprint(b.File, b.Reg)) })
		for i := range ops {
			ops[i].Over = nil
		}
		out := fmt.Sprint(ops, c.Deps)
		for _, e := range c.Edits {
			out += fmt.Sprint(e.File)
			for _, g := range e.Hunks {
				out += fmt.Sprint(*g)
			}
		}
		return out
	}
	was, shown, hash := told(c), h.Look(e.After).everything(), c.Hash
	h.Forget(e.Change)
	c, err := h.Record(e.Before, e.Want, e.Moves, e.Settle)
	if err != nil || c == nil || told(c) != was {
		h.fault("what is recorded does not depend on its hash", "%v\n%v\n%v", e.Before.Sorted(), was, told(c))
	}
	if h.SetHash(e.Change, hash); h.Look(e.After).everything() != shown {
		h.fault("what is recorded does not depend on its hash", "%v", e.Before.Sorted())
	}
	return c
}

// part checks a fresh record in a closed part of what it was recorded on.
func (h *history) part(e Event, c *Change, of Set, touched map[File]bool) {
	u := of.With(c.Num)
	v, whole := h.Look(u), h.Look(e.After)
	h.named(v)
	for _, p := range v.Pairs {
		if p[0].Change == c.Num || p[1].Change == c.Num {
			h.fault("a fresh record conflicts with nothing of a part", "%v of %v: %v", u.Sorted(), e.Before.Sorted(), p)
		}
	}
	for _, p := range v.TextPairs() {
		if p.Names(c.Num) {
			h.fault("a fresh record conflicts with nothing of a part", "%v of %v: %v", u.Sorted(), e.Before.Sorted(), p)
		}
	}
	before := h.Look(u.Minus(Set{c.Num: true}))
	for _, k := range v.conflicts {
		same := func(o Conflict) bool { return o.Kind == k.Kind && o.Files[0] == k.Files[0] }
		if slices.Contains(slices.Collect(maps.Values(kinds)), k.Kind) && !slices.ContainsFunc(before.conflicts, same) {
			h.fault("a fresh record conflicts with nothing of a part", "%v of %v: %v", u.Sorted(), e.Before.Sorted(), k.Key())
		}
		if k.Kind != "name" || !touched[k.Files[len(k.Files)-1]] || before.has(k.Key()) || whole.has(k.Key()) {
			continue
		}
		if !k.Dir {
			if f, g := before.File(k.Files[0]), before.File(k.Files[1]); f != nil && g != nil && f.True == g.True {
				h.seen["twins of a part that an edit tells apart"]++
				continue
			}
		}
		h.fault("a fresh record meets no name of a part", "%v of %v c%d: %v", u.Sorted(), e.Before.Sorted(), c.Num, k.Key())
	}
}

// independent checks that an add beside c, or an edit of what c did not touch, does not depend on it.
func (h *history) independent(s Set, c *Change) {
	v := h.Look(s)
	touched, left := map[File]bool{}, map[string]bool{} // left: paths at which c took a file away
	for _, o := range c.Ops {
		touched[o.File] = true
		for _, r := range o.Over {
			if r.Reg == Place {
				left[h.op(r).Path] = true
			}
		}
	}
	for _, e := range c.Edits {
		touched[e.File] = true
	}
	p := "unique"
	if len(v.dirs) > 0 {
		p = h.one(slices.Sorted(maps.Keys(v.dirs))) + "/unique"
	}
	for q := p; q != ""; q = dirname(q) {
		if left[q] {
			return
		}
	}
	want := v.Map()
	want[p] = Entry{Content: "1\n"}
	for _, f := range v.Files {
		if f.calm() && !f.Hidden && len(f.Twins) == 0 && f.Path == f.True && !touched[f.File] && h.Rand.Intn(2) == 0 {
			n := f.Entry()
			n.Content = "other\n" + n.Content
			want[f.Path] = n
			break
		}
	}
	d, err := h.Record(s, want, nil, nil)
	if err != nil || d == nil {
		h.fault("an edit is recorded", "%v", err)
		return
	}
	h.seen["independent"]++
	if d.Past[c.Num] {
		h.fault("what is apart is independent", "%v: c%d needs c%d", s.Sorted(), d.Num, c.Num)
	}
	h.Forget(d.Num)
}

// unrecorded checks that only those conflicts open again that what was taken away had to do with, and of the pairs in texts
// exactly those that it closed.
func (h *history) unrecorded(e Event) {
	h.seen["unrecords"]++
	before, after := h.Look(e.Before), h.Look(e.After)
	if h.Changes[e.Change].Undoes != None || !before.live[e.Change] {
		return
	}
	c := h.Changes[e.Change]
	for _, k := range after.conflicts {
		acts := slices.ContainsFunc(h.Acts(c.Num), func(a Act) bool { return slices.Contains(k.Files, a.File) })
		if !k.Dir && !before.has(k.Key()) && !acts {
			h.fault("only what it closed opens again", "%v without %d", k.Key(), e.Change)
		}
	}
	was := textSet(before.TextPairs())
	for _, p := range after.TextPairs() {
		if named := h.Text(p.File).Changes[e.Change].Named(p.Pair); !was[p] && !named {
			h.fault("only what it closed opens again", "%v without %d", p, e.Change)
		}
	}
}

// rolledBack checks that an undoing conflicts with nothing, and that of a change that nothing builds on, undone, nothing is there.
func (h *history) rolledBack(e Event) {
	h.seen["rollbacks"]++
	u := h.Changes[e.Change]
	v := h.Look(e.After)
	for _, p := range v.Pairs {
		if p[0].Change == u.Num || p[1].Change == u.Num {
			h.fault("a fresh undoing conflicts with nothing", "%v %v", e.Before.Sorted(), p)
		}
	}
	for _, p := range v.TextPairs() {
		if p.Names(u.Num) {
			h.fault("a fresh undoing conflicts with nothing", "%v %v", e.Before.Sorted(), p)
		}
	}
	if slices.Contains(h.Free(e.Before), u.Undoes) {
		h.seen["undone alone"]++
		if a, b := v.state(), h.Look(e.Before.Minus(Set{u.Undoes: true})).state(); a != b {
			h.fault("undone is not there", "%d in %v:\n%v\nwant\n%v", u.Undoes, e.Before.Sorted(), a, b)
		}
	}
}

// undoings checks the same beside anything else: with what builds on neither, a change and its undoing show nothing.
func (h *history) undoings(s Set) {
	for c := range s {
		p := h.Changes[c].Undoes
		if p == None {
			continue
		}
		rest := Set{}
		for x := range s {
			if x == p || x == c || !h.Reaches(x, p) && !h.Reaches(x, c) {
				rest[x] = true
			}
		}
		gone := rest.Minus(Set{p: true, c: true})
		if !h.Closed(rest) || !h.Closed(gone) {
			continue
		}
		h.seen["undone beside others"]++
		if a, b := h.Look(rest).state(), h.Look(gone).state(); a != b {
			h.fault("undone is not there, whatever else is", "%d by %d in %v:\n%v\nwant\n%v", p, c, rest.Sorted(), a, b)
		}
	}
}

func textSet(ps []TextPair) map[TextPair]bool {
	out := map[TextPair]bool{}
	for _, p := range ps {
		out[p] = true
	}
	return out
}
