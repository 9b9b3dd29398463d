package tree

import (
	"slices"
	"strings"
)

// finish finds what the draft depends on, for every act of it:
//   - the owner of its file, and what acts on the same register or on the existence of the file; for a removal, all that acts on it;
//   - for an edit, what its hunks need, and what acts on the body save other edits, unless in an open conflict;
//   - if its file was ever said to be gone, all that acts on the file, for any act on it settles that;
//   - for every file that comes to a path, see claims.
func (d *draft) finish() {
	deps := Set{}
	if d.Undoes != None {
		deps[d.Undoes] = true
	}
	for _, e := range d.Edits {
		t := d.w.texts[e.File]
		deps = deps.Union(t.Needs(t.Render(d.v.Set), t.Changes[d.Num]))
	}
	d.know(Set{})
	for _, a := range d.w.Acts(d.Num) {
		if a.File.Change != d.Num {
			deps[a.File.Change] = true
		}
		everGone := slices.ContainsFunc(d.v.acts[a.File], func(b Act) bool { return b.Dead })
		for _, b := range d.v.acts[a.File] {
			if everGone && !d.w.loose.noRegion || d.needs(a, b) {
				deps[b.Change] = true
			}
		}
	}
	d.know(deps)
	after := d.w.Look(d.v.Set.With(d.Num))
	for _, f := range after.Files {
		if g := d.v.File(f.File); !d.w.loose.noSlot && (g == nil || g.True != f.True) {
			d.claims(f, deps)
		}
	}
	d.know(deps)
}

func (d *draft) know(deps Set) { d.w.know(d.Change, deps) }

// needs reports whether an act of the draft depends on an act on the same file.
func (d *draft) needs(a, b Act) bool {
	switch {
	case a.Dead || b.Dead || a.Reg == Gone || b.Reg == Gone:
		return true
	case a.Reg == Edit && b.Reg == Edit:
		return !d.w.loose.noRivals && slices.ContainsFunc(d.v.Pairs, func(p Pair) bool { return p[0] == b.Ref || p[1] == b.Ref })
	case a.Reg == Edit && d.w.loose.editAlone:
		return false
	}
	return a.On() == b.On()
}

// claims adds what a file that comes to a path depends on: every change that put another file there, above or beneath it,
// or took it away; both sides of an open conflict of places of which one would put a file there; and if a file
// that would stand there is gone, all that makes it so.
func (d *draft) claims(f *Shown, deps Set) {
	at := func(y File, p string) bool {
		return y != f.File && (strings.HasPrefix(p+"/", f.True+"/") || strings.HasPrefix(f.True, p+"/"))
	}
	put := func(r Ref) bool {
		r.Change, _ = d.w.origin(r.Change)
		return r.Reg == Place && at(r.File, d.w.op(r).Path)
	}
	for _, p := range d.v.Pairs {
		if !d.w.loose.noRegion && d.v.File(p[0].File) != nil && !d.w.Life(p) && (put(p[0]) || put(p[1])) {
			deps[p[0].Change], deps[p[1].Change] = true, true
		}
	}
	for y, acts := range d.v.acts {
		away := false
		if d.v.File(y) == nil {
			away = slices.ContainsFunc(d.v.Values(y, Place), put)
		}
		for _, b := range acts {
			if away || put(b.Ref) || slices.ContainsFunc(d.over(b), put) {
				deps[b.Change] = true
			}
		}
	}
}

// over is the values that what an act speaks of replaces.
func (d *draft) over(b Act) []Ref {
	r := b.Ref
	r.Change, _ = d.w.origin(r.Change)
	if o := d.w.op(r); o != nil {
		return o.Over
	}
	return nil
}
