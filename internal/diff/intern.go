package diff

import "hash/maphash"

// interner gives each line of a middle a number, equal lines the same one. Only a's lines enter the table: a line of
// b that is not in it can match nothing and needs no number.
type interner struct {
	seed   maphash.Seed
	seeded bool
	table  []uint64 // open addressing: the hash's upper half, then the number + 1; 0 is free
	// By number: the line's first occurrence (index in a) and how many a has.
	first []int32
	count []int32
	// Under options that ignore space, what counts of each number's line; its end by number.
	text    []byte
	textEnd []int
	scratch []byte
}

// absent is the number of a line of b that a has not.
const absent = -1

// side is one middle in numbers.
type side struct {
	off []int // where each line begins in the whole content, then the middle's end
	id  []int32
}

// reset forgets all lines and makes room for n of them.
func (t *interner) reset(n int) {
	if !t.seeded {
		// A random seed: nobody can prepare a file whose lines all fall into one slot. Numbers do not depend on it.
		t.seed, t.seeded = maphash.MakeSeed(), true
	}
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	if cap(t.table) < size {
		t.table = make([]uint64, size)
	} else {
		t.table = t.table[:size]
		clear(t.table)
	}
	t.first, t.count = t.first[:0], t.count[:0]
	t.text, t.textEnd = t.text[:0], t.textEnd[:0]
}

// addA numbers a[start:end], whole lines.
func (t *interner) addA(s *side, a []byte, start, end int, opt *Options) {
	s.off, s.id = s.off[:0], s.id[:0]
	exact := !opt.ignoresSpace()
	mask := uint64(len(t.table) - 1)
	for at := start; at < end; {
		next := lineEnd(a[:end], at)
		line := a[at:next]
		if !exact {
			t.scratch = opt.appendComparable(t.scratch[:0], line)
			line = t.scratch
		}
		s.off = append(s.off, at) // first, so that each line before this one has its end
		h := maphash.Bytes(t.seed, line)
		slot := h & mask
		id := int32(absent)
		for ; t.table[slot] != 0; slot = (slot + 1) & mask {
			if e := t.table[slot]; e>>32 == h>>32 && t.is(int32(uint32(e))-1, line, a, s, exact) {
				id = int32(uint32(e)) - 1
				break
			}
		}
		if id < 0 {
			id = int32(len(t.first))
			t.table[slot] = h>>32<<32 | uint64(id+1)
			t.first = append(t.first, int32(len(s.id)))
			t.count = append(t.count, 0)
			if !exact {
				t.text = append(t.text, line...)
				t.textEnd = append(t.textEnd, len(t.text))
			}
		}
		t.count[id]++
		s.id = append(s.id, id)
		at = next
	}
	s.off = append(s.off, end)
}

// is reports whether number id is given to line.
func (t *interner) is(id int32, line, a []byte, s *side, exact bool) bool {
	if !exact {
		from := 0
		if id > 0 {
			from = t.textEnd[id-1]
		}
		return string(t.text[from:t.textEnd[id]]) == string(line)
	}
	f := t.first[id]
	return string(a[s.off[f]:s.off[f+1]]) == string(line)
}

// addB numbers b[start:end] by the table. Where b goes on as a does, the numbers are copied from a without looking
// at the lines: for files that resemble each other that is nearly everywhere.
func (t *interner) addB(s, sa *side, a, b []byte, start, end int, opt *Options) {
	s.off, s.id = s.off[:0], s.id[:0]
	exact := !opt.ignoresSpace()
	mask := uint64(len(t.table) - 1)
	guess := 0 // the line of a that b's next line is likely to equal
	endA := sa.off[len(sa.id)]
	for at := start; at < end; {
		if guess < len(sa.id) {
			base := sa.off[guess]
			same := base + commonPrefix(a[base:endA], b[at:end])
			shift := at - base
			for guess < len(sa.id) && sa.off[guess+1] <= same {
				next := sa.off[guess+1]
				if a[next-1] != '\n' && next+shift != end {
					break // a's last line has no end, and b's goes on
				}
				s.off = append(s.off, sa.off[guess]+shift)
				s.id = append(s.id, sa.id[guess])
				at = next + shift
				guess++
			}
			if at >= end {
				break
			}
		}
		next := lineEnd(b[:end], at)
		line := b[at:next]
		if !exact {
			t.scratch = opt.appendComparable(t.scratch[:0], line)
			line = t.scratch
		}
		h := maphash.Bytes(t.seed, line)
		id := int32(absent)
		for slot := h & mask; t.table[slot] != 0; slot = (slot + 1) & mask {
			if e := t.table[slot]; e>>32 == h>>32 && t.is(int32(uint32(e))-1, line, a, sa, exact) {
				id = int32(uint32(e)) - 1
				break
			}
		}
		if id >= 0 && t.count[id] == 1 {
			guess = int(t.first[id]) + 1
		}
		s.off = append(s.off, at)
		s.id = append(s.id, id)
		at = next
	}
	s.off = append(s.off, end)
}
