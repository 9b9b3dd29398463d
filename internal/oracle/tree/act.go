package tree

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Act is one place where a change acts: an op or edit of its own, or of what it undoes.
type Act struct {
	Ref
	Dead bool   // it says that the file does not exist
	Text bool   // it has the file be text, or edits it, or undoes an edit: what such acts mean beside each other the weave says
	eff  string // equal effects are one edit made twice
}

// origin is the change that c, through however many undoings, speaks of, and whether what it did is taken back by c.
func (w *World) origin(c uint32) (of uint32, taken bool) {
	for ; w.Changes[c].Undoes != None; c = w.Changes[c].Undoes {
		taken = !taken
	}
	return c, taken
}

// Acts lists where c acts. An undoing acts where the undone acted: taking back an adding says gone, taking back a removal
// says that the file is there.
func (w *World) Acts(c uint32) (out []Act) {
	b, taken := w.origin(c)
	add := func(a Act) {
		if a.Dead = a.Reg == Gone && !taken || a.File.Change == b && taken; b != c {
			a.eff, a.Text = fmt.Sprint("undo ", w.Changes[c].Undoes), a.Reg == Edit
		}
		out = append(out, a)
	}
	for _, o := range w.Changes[b].Ops {
		add(Act{Ref: Ref{c, o.File, o.Reg}, Text: o.Reg == Body && o.Kind == change.Text, eff: o.effect()})
	}
	for _, e := range w.Changes[b].Edits {
		if w.op(Ref{b, e.File, Body}) == nil { // else that is the act, and the hunks what becomes of the text
			add(Act{Ref: Ref{c, e.File, Edit}, Text: true, eff: text})
		}
	}
	return
}

// text is the effect of an act that has a file be text.
const text = "text"

func (o *Op) effect() string {
	if o.Reg == Body && o.Kind == change.Text {
		return text
	}
	return fmt.Sprintf("%q %v %v %q", o.Path, o.Exec, o.Kind, o.Content)
}

func (w *World) act(r Ref) Act {
	for _, a := range w.Acts(r.Change) {
		if a.Ref == r {
			return a
		}
	}
	panic(fmt.Sprint("no act ", r))
}

// On is the register that an act is on: an edit is on the body.
func (r Ref) On() Reg {
	if r.Reg == Edit {
		return Body
	}
	return r.Reg
}

// aboutLife reports whether two acts differ on whether the file exists; if not, they can differ on a register only.
func aboutLife(a, b Act) bool { return a.Dead != b.Dead }

// clash reports whether two acts conflict if their changes are concurrent: they differ on existence, or give one register
// unlike values. The undoing of a change that the other does not build on clashes with nothing of it, nor do two
// undoings of one.
func (w *World) clash(a, b Act) bool {
	if a.File != b.File {
		return false
	}
	if !aboutLife(a, b) && (a.Dead || a.On() != b.On() || a.Reg == Keep || a.Reg == Gone || a.eff == b.eff || a.Text && b.Text) {
		return false
	}
	if w.loose.editSilent && !aboutLife(a, b) && (a.Reg == Edit || b.Reg == Edit) {
		return false
	}
	ua, ub := w.Changes[a.Change].Undoes, w.Changes[b.Change].Undoes
	if ua != None && (ua == ub || !w.Reaches(b.Change, ua)) {
		return false
	}
	return ub == None || w.Reaches(a.Change, ub)
}
