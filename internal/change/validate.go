package change

import (
	"bytes"
	"math"
	"strings"
)

// Validate checks what every unbound change must satisfy whatever it is recorded on. It does not judge names: that
// is package safepath's, at the door.
func (c *Change) Validate() error {
	if len(c.Author.Name) > MaxName || len(c.Author.Email) > MaxName || len(c.Message) > MaxMeta {
		return malformed("a text above its bound")
	}
	for i, f := range c.Extra {
		if f.Key == "" || i > 0 && c.Extra[i-1].Key >= f.Key {
			return malformed("extra field %q is not above the one before", f.Key)
		}
	}
	for i, m := range c.DirMoves {
		if i > 0 && c.DirMoves[i-1].From >= m.From {
			return malformed("directory move of %q is not above the one before", m.From)
		}
	}
	if err := ascending("dependencies", c.Deps); err != nil {
		return err
	}
	if err := ascending("other changes", c.Others); err != nil {
		return err
	}
	for _, id := range c.Others {
		for _, d := range c.Deps {
			if id == d {
				return malformed("%s is named twice", id)
			}
		}
	}
	if !c.Undoes.IsZero() && len(c.DirMoves) > 0 {
		return malformed("it undoes a change and moves directories")
	}
	v := validator{undoes: !c.Undoes.IsZero(), refs: uint32(len(c.Deps) + len(c.Others)), used: make([]bool, len(c.Deps)+len(c.Others)+1)}
	for i := range c.Files {
		if err := v.file(&c.Files[i], uint32(i)); err != nil {
			return err
		}
	}
	for i := range c.Others {
		if !v.used[len(c.Deps)+1+i] {
			return malformed("%s is listed and never named", c.Others[i])
		}
	}
	return nil
}

func ascending(what string, ids []ID) error {
	for i := 1; i < len(ids); i++ {
		if bytes.Compare(ids[i-1][:], ids[i][:]) >= 0 {
			return malformed("its %s are not in order", what)
		}
	}
	return nil
}

type validator struct {
	undoes bool   // the change takes another back
	refs   uint32 // how many changes a ref may name
	used   []bool
}

func (v *validator) ref(r Ref) error {
	if r == Self || r > v.refs {
		return malformed("ref %d among %d", r, v.refs)
	}
	v.used[r] = true
	return nil
}

func (v *validator) file(f *File, i uint32) error {
	if f.IsNew() {
		if f.ID.Ord != i || f.Writes != WritesPlace|WritesMode|WritesBody || len(f.Hunks) > 0 || len(f.Over) > 0 {
			return malformed("file %d is new and not whole", i)
		}
	} else if err := v.ref(f.ID.Change); err != nil {
		return err
	}
	w := f.Writes
	if v.undoes && (f.IsNew() || w != 0 || len(f.Over) > 0) {
		return malformed("file %d has ops in a change that undoes another", i)
	}
	if w&^(WritesPlace|WritesMode|WritesBody|Gone|Keep) != 0 || w&Gone != 0 && w != Gone || w == 0 && len(f.Hunks) == 0 && !v.undoes {
		return malformed("file %d has ops %#x", i, w)
	}
	if w&WritesPlace != 0 && (f.Path == "" || len(f.Path) > MaxPath || strings.IndexByte(f.Path, 0) >= 0) {
		return malformed("file %d has path %q", i, f.Path)
	}
	if f.Kind >= numKinds || w&WritesBody == 0 && f.Kind != Text {
		return malformed("file %d has body kind %d", i, f.Kind)
	}
	if f.Size > MaxContent || (f.Size == 0) != (f.Content == Hash{}) {
		return malformed("file %d has a content of %d bytes and hash %s", i, f.Size, f.Content)
	}
	text := f.Kind == Text
	if text && f.Size > MaxText || !text && len(f.Hunks) > 0 {
		return malformed("file %d is no text of allowed size", i)
	}
	if len(f.Hunks) == 0 && f.Size > 0 && text && !f.IsNew() {
		return malformed("file %d has text that no hunk inserts", i)
	}
	for j, o := range f.Over {
		if o.Reg != WritesPlace && o.Reg != WritesMode && o.Reg != WritesBody {
			return malformed("file %d replaces register %#x", i, o.Reg)
		}
		if err := v.ref(o.Change); err != nil {
			return err
		}
		if j > 0 && !overLess(f.Over[j-1], o) {
			return malformed("file %d: replaced values are not in order", i)
		}
	}
	return v.hunks(f, i)
}

func overLess(a, b Over) bool {
	if a.Reg != b.Reg {
		return a.Reg < b.Reg
	}
	if a.Change != b.Change {
		return a.Change < b.Change
	}
	return a.Ord < b.Ord
}

func (v *validator) hunks(f *File, i uint32) error {
	var inserted uint64
	for j := range f.Hunks {
		h := &f.Hunks[j]
		inserted += uint64(h.InsLen)
		switch {
		case v.undoes && !h.IsGap():
			return malformed("file %d: hunk %d of a change that undoes another is more than a gap", i, j)
		case !v.undoes && (h.IsGap() || h.Gains || h.Left && h.InsLen == 0):
			return malformed("file %d: hunk %d does nothing", i, j)
		}
		if h.L == End || h.R == Start {
			return malformed("file %d: hunk %d has its gap's ends reversed", i, j)
		}
		ends := []Pos{h.L, h.R}
		if h.Left {
			if h.Parent.Change == Edge {
				return malformed("file %d: hunk %d inserts beside the file's edge", i, j)
			}
			ends = append(ends, h.Parent)
		}
		for _, s := range h.Solves {
			ends = append(ends, s.L, s.R)
		}
		for _, p := range ends {
			if p.Change == Edge {
				continue
			}
			if err := v.ref(p.Change); err != nil {
				return err
			}
		}
		if err := v.stretches(h, i); err != nil {
			return err
		}
	}
	if len(f.Hunks) > 0 && inserted != f.Size {
		return malformed("file %d: its hunks insert %d bytes of %d", i, inserted, f.Size)
	}
	return nil
}

func (v *validator) stretches(h *Hunk, i uint32) error {
	for k, s := range h.Del {
		if err := v.stretch(s, i); err != nil {
			return err
		}
		if k > 0 && h.Del[k-1].Change == s.Change && h.Del[k-1].Off+h.Del[k-1].Len == s.Off {
			return malformed("file %d: a deleted stretch is cut in two", i)
		}
	}
	for _, r := range h.Res {
		if err := v.stretch(r.Stretch, i); err != nil {
			return err
		}
		if len(r.By) == 0 {
			return malformed("file %d: it restores what nobody deleted", i)
		}
		for _, by := range r.By {
			if err := v.ref(by); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *validator) stretch(s Stretch, i uint32) error {
	if s.Len == 0 || uint64(s.Off)+uint64(s.Len) > MaxText || s.Off > math.MaxUint32-s.Len {
		return malformed("file %d: a stretch of %d bytes at %d", i, s.Len, s.Off)
	}
	return v.ref(s.Change)
}
