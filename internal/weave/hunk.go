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

// form is what a hunk does but for the bytes that it inserts: two of one form, with the same bytes, have one effect. Where the
// gap of a hunk that inserts nothing lies is no part of its effect.
func (h *hunk) form() string {
	parts := slices.Clone(h.parts)
	for i := range parts {
		p := &parts[i]
		switch {
		case !h.inserts():
			p.L, p.R = change.Start, change.End
		case i > 0: // where it hangs says all
			if p.Left {
				p.L = change.Start
			}
			p.R = change.End
		}
	}
	return string(change.AppendHunks(nil, parts))
}
