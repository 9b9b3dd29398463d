package bucket

import (
	"bytes"
	"encoding/binary"
)

// Move is a name that came to stand for a state: it is told by another that a move before it made, or by nothing.
type Move struct {
	Generation     uint64 // of the root that it made
	State, Base    [32]byte
	BaseGeneration uint64 // of the move that made the base; 0: the base is zeros
}

// Segment is a bundle within a pack.
type Segment struct {
	Bytes uint64
	Moves []Move
}

// Table says which segments a pack has, in their order.
type Table []Segment

// maxTable bounds a table: a pack of a million pushes.
const maxTable = 1 << 30

// Encode writes a table.
func (t Table) Encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(t)))
	at := map[made]int{}
	n, last := 0, uint64(0)
	for i := range t {
		b = binary.AppendUvarint(b, t[i].Bytes)
		b = binary.AppendUvarint(b, uint64(len(t[i].Moves)))
		for _, m := range t[i].Moves {
			b = binary.AppendUvarint(b, m.Generation-last)
			b = append(b, m.State[:]...)
			if j, ok := at[made{m.BaseGeneration, m.Base}]; ok {
				b = binary.AppendUvarint(b, uint64(n-j))
			} else {
				b = append(b, 0)
				b = append(b, m.Base[:]...)
				b = binary.AppendUvarint(b, m.BaseGeneration)
			}
			last, at[made{m.Generation, m.State}] = m.Generation, n
			n++
		}
	}
	return b
}

// DecodeTable reads a table of a pack whose segments have so many bytes, and whose moves are of the generations from and to and between.
func DecodeTable(b []byte, data, from, to uint64) (Table, error) {
	f := fields{b: b}
	var t Table
	var all []made
	last, sum := uint64(0), uint64(0)
	for range f.count(1<<32, 2) {
		s := Segment{Bytes: f.uvarint()}
		sum = f.plus(sum, s.Bytes)
		for range f.count(1<<32, 34) {
			m := Move{Generation: f.plus(last, f.uvarint()), State: f.id()}
			back := f.uvarint()
			switch {
			case back > uint64(len(all)):
				f.bad = true
			case back > 0:
				base := all[uint64(len(all))-back]
				m.Base, m.BaseGeneration = base.state, base.generation
			default:
				m.Base, m.BaseGeneration = f.id(), f.uvarint()
			}
			if m.BaseGeneration >= m.Generation || (m.BaseGeneration == 0) != (m.Base == [32]byte{}) || m.State == [32]byte{} || m.Generation < from || m.Generation > to {
				f.bad = true
			}
			if f.bad {
				break
			}
			last = m.Generation
			all = append(all, made{m.Generation, m.State})
			s.Moves = append(s.Moves, m)
		}
		if f.bad {
			break
		}
		t = append(t, s)
	}
	if f.bad || len(f.b) > 0 || len(all) == 0 || sum != data || last != to || t[0].first() != from {
		return nil, malformed("a table of a pack")
	}
	if !bytes.Equal(t.Encode(), b) {
		return nil, malformed("a table of a pack is not encoded in the one way")
	}
	return t, nil
}

// first is the generation of a segment's first move, 0 if it has none.
func (s *Segment) first() uint64 {
	if len(s.Moves) == 0 {
		return 0
	}
	return s.Moves[0].Generation
}

func (t Table) moves() (n int) {
	for i := range t {
		n += len(t[i].Moves)
	}
	return n
}

func (t Table) from() uint64 { return t[0].first() }

func (t Table) to() (last uint64) {
	for i := range t {
		for _, m := range t[i].Moves {
			last = m.Generation
		}
	}
	return last
}
