package change

import (
	"encoding/binary"
	"math"
)

// Derived data keeps hunks in a form of its own: a hunk mostly acts close behind the one before, and on lines of the same
// change, so each place is told by its distance from the last one. It is a quarter as long as what is hashed, and no hash
// is made of it.

// What the low two bits of a place say.
const (
	placeNear  = 0 // above them the distance in bytes, zigzag, in the same change
	placeOther = 1 // above them the offset; the distance to the other change's number follows, zigzag
	placeEdge  = 2 // above them the edge
	placeBits  = 2
)

// follower goes from place to place.
type follower struct{ at Pos }

func (f *follower) move(p Pos, size uint32) {
	switch {
	case p == Start:
		f.at.Off = 0
	case p.Change != Edge:
		f.at = Pos{p.Change, p.Off + size}
	}
}

// AppendLocalHunks appends the hunks of one file, at least one, for DecodeLocalHunks.
func AppendLocalHunks(b []byte, hunks []Hunk) []byte {
	b = binary.AppendUvarint(b, uint64(len(hunks)))
	var f follower
	for i := range hunks {
		h := &hunks[i]
		b = append(b, hunkFlags(h))
		b = f.appendPos(b, h.L, 0)
		if len(h.Del) > 0 {
			b = binary.AppendUvarint(b, uint64(len(h.Del)))
			for _, s := range h.Del {
				b = f.appendStretch(b, s)
			}
		}
		b = f.appendPos(b, h.R, 0)
		if h.InsLen > 0 {
			b = binary.AppendUvarint(b, uint64(h.InsLen))
		}
		if h.Left {
			b = f.appendPos(b, h.Parent, 0)
		}
		if len(h.Res) > 0 {
			b = binary.AppendUvarint(b, uint64(len(h.Res)))
			for _, r := range h.Res {
				b = f.appendStretch(b, r.Stretch)
				b = binary.AppendUvarint(b, uint64(len(r.By)))
				for _, d := range r.By {
					b = binary.AppendVarint(b, int64(d)-int64(r.Change))
				}
			}
		}
		if len(h.Solves) > 0 {
			b = binary.AppendUvarint(b, uint64(len(h.Solves)))
			for _, s := range h.Solves {
				b = f.appendPos(b, s.L, 0)
				b = f.appendPos(b, s.R, 0)
			}
		}
	}
	return b
}

func (f *follower) appendStretch(b []byte, s Stretch) []byte {
	return binary.AppendUvarint(f.appendPos(b, Pos{s.Change, s.Off}, s.Len), uint64(s.Len))
}

// appendPos writes a place, and goes on from size bytes behind it.
func (f *follower) appendPos(b []byte, p Pos, size uint32) []byte {
	switch p.Change {
	case Edge:
		b = append(b, byte(p.Off)<<placeBits|placeEdge)
	case f.at.Change:
		d := int64(p.Off) - int64(f.at.Off)
		b = binary.AppendUvarint(b, uint64(d<<1^d>>63)<<placeBits|placeNear)
	default:
		b = binary.AppendUvarint(b, uint64(p.Off)<<placeBits|placeOther)
		b = binary.AppendVarint(b, int64(p.Change)-int64(f.at.Change))
	}
	f.move(p, size)
	return b
}

// DecodeLocalHunks reads what AppendLocalHunks wrote and gives the rest of b.
func DecodeLocalHunks(b []byte) ([]Hunk, []byte, error) {
	d := decoder{b: b}
	hunks := make([]Hunk, some(&d, 3))
	var f follower
	for i := range hunks {
		f.hunk(&d, &hunks[i])
	}
	return hunks, d.b, d.err
}

func (f *follower) hunk(d *decoder, h *Hunk) {
	flags := d.byte()
	h.Gains, h.Left = flags&hunkGains != 0, flags&hunkLeft != 0
	h.L = f.pos(d)
	if flags&hunkDeletes != 0 {
		h.Del = make([]Stretch, some(d, 2))
		for i := range h.Del {
			h.Del[i] = f.stretch(d)
		}
	}
	h.R = f.pos(d)
	if flags&hunkInserts != 0 {
		h.InsLen = d.uint32()
	}
	if h.Left {
		h.Parent = f.pos(d)
	}
	if flags&hunkRestores != 0 {
		h.Res = make([]Restore, some(d, 3))
		for i := range h.Res {
			r := &h.Res[i]
			r.Stretch = f.stretch(d)
			r.By = make([]Ref, d.count(1))
			for j := range r.By {
				r.By[j] = near(d, r.Change, d.varint())
			}
		}
	}
	if flags&hunkSolves != 0 {
		h.Solves = make([]Span, some(d, 2))
		for i := range h.Solves {
			h.Solves[i] = Span{f.pos(d), f.pos(d)}
		}
	}
}

// some reads how many items follow, at least one.
func some(d *decoder, size int) int {
	n := d.count(size)
	if n == 0 {
		d.fail("a list without an item")
	}
	return n
}

func (f *follower) stretch(d *decoder) Stretch {
	p := f.pos(d)
	s := Stretch{p.Change, p.Off, d.uint32()}
	f.move(p, s.Len)
	return s
}

func (f *follower) pos(d *decoder) (p Pos) {
	v := d.uvarint()
	up := v >> placeBits
	switch v & (1<<placeBits - 1) {
	case placeNear:
		p = Pos{f.at.Change, near(d, f.at.Off, int64(up>>1)^-int64(up&1))}
	case placeOther:
		if up > math.MaxUint32 {
			d.fail("number %d is above 32 bits", up)
		}
		p = Pos{near(d, f.at.Change, d.varint()), uint32(up)}
		if p.Change == Edge {
			d.fail("a change with the number of an edge")
		}
	case placeEdge:
		p = Pos{Edge, uint32(up)}
		if p != Start && p != End {
			d.fail("an edge that no file has")
		}
	default:
		d.fail("a place of an unknown form")
	}
	f.move(p, 0)
	return p
}

// near is the number at a distance from another.
func near(d *decoder, from uint32, by int64) uint32 {
	v := int64(from) + by
	if by > math.MaxUint32 || by < -math.MaxUint32 || v < 0 || v > math.MaxUint32 {
		d.fail("a distance that leads beyond 32 bits")
		return 0
	}
	return uint32(v)
}
