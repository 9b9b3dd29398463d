package weave

import (
	"bytes"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// PatchAt gives what source i did. Its hunks must not be changed.
func (w *Weave) PatchAt(i int) (Patch, error) {
	hunks, err := w.hunksOf(i)
	return Patch{Source: w.Sources[i], Hunks: hunks, Undoes: w.acts[i].undo}, err
}

// Edits tells of source i that it undoes none, and whether it has hunks.
func (w *Weave) Edits(i int) (hunks, ok bool) {
	a := &w.acts[i]
	return len(a.raw) > 0 || len(a.hunks) > 0, a.undo == nil
}

// Equal reports whether two weaves hold the same: whatever is done to both gives the same again.
func (w *Weave) Equal(o *Weave) bool {
	if len(w.Runs) != len(o.Runs) || w.odd != o.odd || !slices.Equal(w.Sources, o.Sources) || !slices.Equal(w.open, o.open) ||
		!slices.EqualFunc(w.twins, o.twins, func(a, b twins) bool { return a.len == b.len && slices.Equal(a.at, b.at) }) ||
		!slices.EqualFunc(w.acts, o.acts, sameAct) {
		return false
	}
	same := map[[2]Set]bool{}
	sameSet := func(a, b Set) bool {
		is, known := same[[2]Set{a, b}]
		if !known {
			is = slices.Equal(w.Members(a), o.Members(b))
			same[[2]Set{a, b}] = is
		}
		return is
	}
	sameCover := func(a, b Cover) bool { return sameSet(a.Add, b.Add) && sameSet(a.Del, b.Del) }
	if !sameCover(w.Tail, o.Tail) {
		return false
	}
	for i := range w.Runs {
		a, b := w.Runs[i], o.Runs[i]
		if !sameSet(a.Dead, b.Dead) || !sameCover(a.Before, b.Before) || !sameCover(a.Inside, b.Inside) {
			return false
		}
		b.Dead, b.Before, b.Inside = a.Dead, a.Before, a.Inside
		if a != b {
			return false
		}
	}
	return true
}

func sameAct(a, b act) bool {
	if a.restores != b.restores || a.solves != b.solves || (a.undo == nil) != (b.undo == nil) || a.undo != nil && *a.undo != *b.undo {
		return false
	}
	return bytes.Equal(a.encoded(), b.encoded())
}

// encoded gives the hunks as they are stored.
func (a *act) encoded() []byte {
	if len(a.hunks) > 0 {
		return change.AppendLocalHunks(nil, a.hunks)
	}
	return a.raw
}
