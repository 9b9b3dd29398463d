package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// hunk is one hunk of the algebra: its parts, the first of which holds its gap.
type hunk struct {
	change uint32
	index  int    // among the change's hunks
	off    uint32 // where its text begins in what the change inserted
	parts  []change.Hunk
	gains  bool // it brought lines back, of an undoing change, or added the file, perhaps without lines
	undo   *uint32
}

// eachHunk calls f with the hunks of source i.
func (w *Weave) eachHunk(i int, f func(h hunk)) error {
	parts, err := w.hunksOf(i)
	if err != nil {
		return err
	}
	n, off := hunk{change: w.Sources[i].Change, undo: w.acts[i].undo}, uint32(0)
	adding := i == 0 && w.acts[i].hunks == nil && n.undo == nil
	for len(parts) > 0 {
		k := 1
		for k < len(parts) && parts[k].R == parts[0].R {
			k++
		}
		n.off, n.parts = off, parts[:k]
		n.gains = adding || n.parts[0].Gains
		f(n)
		for j := range n.parts {
			off += n.parts[j].InsLen
		}
		n.index++
		parts = parts[k:]
	}
	return nil
}

func (h *hunk) adds() bool {
	return h.gains || slices.ContainsFunc(h.parts, func(p change.Hunk) bool { return p.Adds() })
}

func (h *hunk) inserts() bool {
	return slices.ContainsFunc(h.parts, func(p change.Hunk) bool { return p.InsLen > 0 })
}

// sameForm reports whether two hunks do the same but for the bytes that they insert: with the same bytes, they have one
// effect. Where the gap of a hunk that inserts nothing lies is no part of its effect.
func sameForm(a, b *hunk) bool {
	if len(a.parts) != len(b.parts) || a.inserts() != b.inserts() {
		return false
	}
	for i := range a.parts {
		p, q := &a.parts[i], &b.parts[i]
		switch {
		case p.InsLen != q.InsLen || p.Left != q.Left || p.Left && p.Parent != q.Parent:
			return false
		case !slices.Equal(p.Del, q.Del) || !slices.EqualFunc(p.Res, q.Res, sameRestore) || !slices.Equal(p.Solves, q.Solves):
			return false
		case !a.inserts():
		case i == 0 && (p.L != q.L || p.R != q.R), i > 0 && !p.Left && p.L != q.L: // where it hangs says all
			return false
		}
	}
	return true
}

func sameRestore(a, b change.Restore) bool { return a.Stretch == b.Stretch && slices.Equal(a.By, b.By) }

// formKey is equal for hunks of one form.
type formKey struct {
	l, r, parent change.Pos
	inserts      uint32
}

func (h *hunk) formKey() formKey {
	p := &h.parts[0]
	return formKey{p.L, p.R, p.Parent, p.InsLen}
}
