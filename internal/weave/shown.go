package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// ApplyShown is Apply, and gives what that does to the text that shows, as edits of it: of each, what it takes the place of, from A0
// to A1 in the text before, and what comes there, from B0 to B1 in what the change inserts. They ascend and may touch. known is
// false where the edits are not known: something was taken back, or conflicts are open.
func (w *Weave) ApplyShown(src Source, hunks []change.Hunk) (edits []Edit, known bool, err error) {
	if n := len(w.Sources); len(w.open) > 0 || n > 0 && w.Sources[n-1].Change >= src.Change {
		return nil, false, w.Apply(src, hunks)
	}
	a := applier{w: w, change: src.Change, hide: true}
	if err := a.apply(Patch{Source: src, Hunks: hunks}); err != nil {
		return nil, false, err
	}
	if w.acts[len(w.acts)-1].solves {
		return nil, false, w.close(hunks)
	}
	if !a.plain {
		return nil, false, nil
	}
	return a.edits(), true, nil
}

// edits walks the weave after a plain change.
func (a *applier) edits() (edits []Edit) {
	at := 0 // in the text before
	add := func(e Edit) {
		if n := len(edits); n > 0 && edits[n-1].A1 == e.A0 {
			switch last := &edits[n-1]; {
			case last.B0 == last.B1:
				last.A1, last.B0, last.B1 = e.A1, e.B0, e.B1
				return
			case e.B0 == e.B1 || last.B1 == e.B0:
				last.A1, last.B1 = e.A1, max(last.B1, e.B1)
				return
			}
		}
		edits = append(edits, e)
	}
	for i := range a.w.Runs {
		r := &a.w.Runs[i]
		switch {
		case r.Change == a.change:
			add(Edit{at, at, int(r.Off), int(r.Off + r.Len)})
		case r.Dead != 0 && a.kills(r.Dead):
			if n := a.hid(r); n > 0 {
				add(Edit{at, at + n, 0, 0})
				at += n
			}
		case r.Shown():
			at += int(r.Len)
		}
	}
	return edits
}

// kills reports whether the change is among deleters. It has the highest number of all.
func (a *applier) kills(by Set) bool {
	m := a.w.Members(by)
	return m[len(m)-1] == a.change
}

// hid is how much of a run showed before the change deleted it. A run may be of several that the change made alike.
func (a *applier) hid(r *Run) (n int) {
	for _, s := range a.hidden {
		if s.Change == r.Change {
			n += max(0, int(min(s.Off+s.Len, r.Off+r.Len))-int(max(s.Off, r.Off)))
		}
	}
	return n
}

// hides notes that a run is about to be deleted which shows. In a weave where deleters alone say what shows, one that others
// deleted too did not.
func (a *applier) hides(r *Run) {
	if !a.hide || !r.Shown() {
		return
	}
	if n := len(a.hidden); n > 0 {
		if last := &a.hidden[n-1]; last.Change == r.Change && last.Off+last.Len == r.Off {
			last.Len += r.Len
			return
		}
	}
	a.hidden = append(a.hidden, change.Stretch{Change: r.Change, Off: r.Off, Len: r.Len})
}

// Patched appends the text that shows after a change: the one before with its edits, of what it inserts.
func Patched(dst, before, inserted []byte, edits []Edit) []byte {
	size := len(before)
	for _, e := range edits {
		size += e.B1 - e.B0 - (e.A1 - e.A0)
	}
	dst = slices.Grow(dst, max(0, size))
	at := 0
	for _, e := range edits {
		dst = append(append(dst, before[at:e.A0]...), inserted[e.B0:e.B1]...)
		at = e.A1
	}
	return append(dst, before[at:]...)
}
