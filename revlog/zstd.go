package revlog

import "encoding/binary"

// unpacker decodes small zstd frames (RFC 8878) from one slice into another. A frame of a few hundred bytes spends most of
// its time in building tables, so these are built with one store an entry, into memory that stays, and those that the
// format predefines are kept. Long frames are left to the library, whose loops are in assembly.
type unpacker struct {
	huffman     [1 << maxHuffmanBits]uint16 // symbol in the upper byte, length of its code in the lower
	huffmanBits uint
	weights     [256 + 4]uint8
	sorted      [256]uint8 // symbols by weight
	lits        []byte     // decoded literals of a block, and slack after them

	// The tables of literal lengths, offsets and match lengths in use, each either predefined or own.
	use        [3][]fseEntry
	logs       [3]uint8
	own        [3][1 << maxFSEBits]fseEntry
	predefined [3][1 << 6]fseEntry
	ready      bool

	norm  [256]int16
	next  [256]uint16
	cells [1 << maxFSEBits]uint8
	small [1 << 6]fseEntry
	rep   [3]int
}

// fseEntry is a state of a finite-state entropy decoder.
type fseEntry struct {
	base  uint32 // of the value that the state's symbol stands for
	state uint16 // the next one, before bits are added
	bits  uint8  // how many
	extra uint8  // bits to add to base
}

const (
	maxHuffmanBits = 11
	maxFSEBits     = 9
	// unpackSlack is room after output and literals, so that both are copied 16 bytes at a time beyond their end.
	unpackSlack = 32
	// maxUnpack is up to which size frames are decoded here, bytes.
	maxUnpack = 16 << 10
)

// The three tables of a block's sequences.
const (
	tableLiteral = iota
	tableOffset
	tableMatch
)

// unpack appends to dst what a frame holds, at most room bytes. zstdSize has walked the frame's blocks already.
func (u *unpacker) unpack(dst, frame []byte, room int) ([]byte, error) {
	if !u.ready {
		u.predefine()
	}
	descriptor := frame[4]
	at := 5 + int(1-descriptor>>5&1) + int([4]uint8{0, 1, 2, 4}[descriptor&3]) + int([4]uint8{descriptor >> 5 & 1, 2, 4, 8}[descriptor>>6])
	if descriptor&3 != 0 {
		return dst, corrupt("its zstd frame wants a dictionary")
	}
	if descriptor&8 != 0 {
		return dst, corrupt("its zstd frame has a reserved bit set")
	}
	from := len(dst)
	out := reserve(dst, room+unpackSlack)
	out = out[:cap(out)]
	n, end := from, from+room
	u.rep = [3]int{1, 4, 8}
	u.huffmanBits = 0
	u.use = [3][]fseEntry{}
	for last := false; !last; {
		header := uint(frame[at]) | uint(frame[at+1])<<8 | uint(frame[at+2])<<16
		at += 3
		size := int(header >> 3)
		last = header&1 != 0
		switch header >> 1 & 3 {
		case 0:
			if size > end-n {
				return dst, tooLarge(room)
			}
			n += copy(out[n:], frame[at:at+size])
		case 1:
			if size > end-n {
				return dst, tooLarge(room)
			}
			for i := range size {
				out[n+i] = frame[at]
			}
			n += size
			size = 1
		case 2:
			made, err := u.block(out, from, n, end, frame[at:at+size])
			if err != nil {
				return dst, err
			}
			n = made
		default:
			return dst, corrupt("its zstd frame has a block of a reserved kind")
		}
		at += size
	}
	return out[:n], nil
}

func badBlock(what string) error { return corrupt("its zstd frame has %s", what) }

// block decodes a compressed block to out[n:end] and returns where it ends. Matches reach back to from.
func (u *unpacker) block(out []byte, from, n, end int, b []byte) (int, error) {
	lits, b, err := u.literals(b)
	if err != nil {
		return n, err
	}
	count, b, ok := sequenceCount(b)
	if !ok {
		return n, badBlock("a block that ends before its sequences")
	}
	if count > 0 {
		if b, err = u.tables(b); err != nil {
			return n, err
		}
		if n, lits, err = u.sequences(out, from, n, end, count, lits, b); err != nil {
			return n, err
		}
	} else if len(b) > 0 {
		return n, badBlock("bytes after a block's literals")
	}
	if len(lits) > end-n {
		return n, tooLarge(end - from)
	}
	return n + copy(out[n:], lits), nil
}

// sequenceCount reads how many sequences a block has.
func sequenceCount(b []byte) (int, []byte, bool) {
	switch {
	case len(b) == 0:
		return 0, b, false
	case b[0] < 128:
		return int(b[0]), b[1:], true
	case b[0] < 255 && len(b) >= 2:
		return int(b[0]-128)<<8 + int(b[1]), b[2:], true
	case b[0] == 255 && len(b) >= 3:
		return int(b[1]) + int(b[2])<<8 + 0x7f00, b[3:], true
	}
	return 0, b, false
}

// sequences carries out a block's sequences: so many literals, then so many bytes from so far back.
func (u *unpacker) sequences(out []byte, from, n, end, count int, lits, b []byte) (int, []byte, error) {
	var r backBits
	if !r.begin(b) {
		return n, lits, badBlock("sequences that do not end")
	}
	ll, of, ml := u.use[tableLiteral], u.use[tableOffset], u.use[tableMatch]
	sl, so, sm := r.next(uint(u.logs[tableLiteral])), r.next(uint(u.logs[tableOffset])), r.next(uint(u.logs[tableMatch]))
	for i := range count {
		l, o, m := ll[sl], of[so], ml[sm]
		r.fill()
		value := int(o.base) + int(r.next(uint(o.extra)))
		if o.extra > 16 {
			r.fill()
		}
		length := int(m.base) + int(r.next(uint(m.extra)))
		run := int(l.base) + int(r.next(uint(l.extra)))
		offset := 0
		switch {
		case value > 3:
			offset = value - 3
			u.rep = [3]int{offset, u.rep[0], u.rep[1]}
		default:
			if run == 0 {
				value++
			}
			switch value {
			case 1:
				offset = u.rep[0]
			case 2:
				offset = u.rep[1]
				u.rep[0], u.rep[1] = offset, u.rep[0]
			case 3:
				offset = u.rep[2]
				u.rep = [3]int{offset, u.rep[0], u.rep[1]}
			default:
				offset = u.rep[0] - 1
				u.rep = [3]int{offset, u.rep[0], u.rep[1]}
			}
		}
		if i < count-1 {
			r.fill()
			sl = uint64(l.state) + r.next(uint(l.bits))
			sm = uint64(m.state) + r.next(uint(m.bits))
			so = uint64(o.state) + r.next(uint(o.bits))
		}
		if run > len(lits) {
			return n, lits, badBlock("too few literals")
		}
		if run+length > end-n {
			return n, lits, tooLarge(end - from)
		}
		if run <= 16 {
			// Beyond both there is slack.
			s := lits[:16]
			copy16(out[n:], s)
		} else {
			copy(out[n:], lits[:run])
		}
		lits = lits[run:]
		n += run
		if offset <= 0 || offset > n-from {
			return n, lits, badBlock("a match from before its beginning")
		}
		if offset >= 16 {
			for k := 0; k < length; k += 16 {
				copy16(out[n+k:], out[n+k-offset:])
			}
		} else {
			for k := n; k < n+length; k++ {
				out[k] = out[k-offset]
			}
		}
		n += length
	}
	if !r.exhausted() {
		return n, lits, badBlock("sequences that end too early or too late")
	}
	return n, lits, nil
}

func copy16(to, from []byte) {
	a, b := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:16])
	binary.LittleEndian.PutUint64(to, a)
	binary.LittleEndian.PutUint64(to[8:16], b)
}

// backBits reads bits from the end of a slice to its beginning, the highest first. Beyond the beginning they are 0.
type backBits struct {
	b    []byte
	at   int    // where word begins in b
	word uint64 // eight bytes, or fewer in the lower part
	used uint   // of word, from its highest bit; more than 64: beyond the beginning
}

// begin finds the mark after the last bit: the highest bit that is set in the last byte.
func (r *backBits) begin(b []byte) bool {
	n := len(b)
	if n == 0 || b[n-1] == 0 {
		return false
	}
	r.b = b
	if n >= 8 {
		r.at = n - 8
		r.word = binary.LittleEndian.Uint64(b[r.at:])
		r.used = 0
	} else {
		r.at, r.word = 0, 0
		for i, c := range b {
			r.word |= uint64(c) << (8 * i)
		}
		r.used = uint(8-n) * 8
	}
	for mark := b[n-1]; ; mark <<= 1 {
		r.used++
		if mark&0x80 != 0 {
			return true
		}
	}
}

// fill has at least 57 bits at hand, if so many are left.
func (r *backBits) fill() {
	step := int(r.used >> 3)
	if r.at >= step {
		r.at -= step
		r.used &= 7
	} else {
		r.used -= uint(r.at) * 8
		r.at = 0
	}
	if len(r.b) >= r.at+8 {
		r.word = binary.LittleEndian.Uint64(r.b[r.at:])
	}
}

// take reads n bits, at most 56 at once.
func (r *backBits) take(n uint) uint64 {
	v := r.word << r.used >> 1 >> (63 - n)
	r.used += n
	return v
}

// next is take where it is no matter what bits beyond the beginning are, since reading them is an error that is found in the end.
func (r *backBits) next(n uint) uint64 {
	v := r.word << (r.used & 63) >> 1 >> ((63 - n) & 63)
	r.used += n
	return v
}

// exhausted reports whether all bits were read and no more.
func (r *backBits) exhausted() bool {
	return r.at == 0 && r.used == 64 || r.at > 0 && r.used == 64+uint(r.at)*8
}

// beyond reports whether more bits were read than there are.
func (r *backBits) beyond() bool { return r.used > 64+uint(r.at)*8 }
