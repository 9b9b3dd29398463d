package revlog

import (
	"encoding/binary"
	"math/bits"
)

// The codes of sequences and what they stand for (RFC 8878, 3.1.1.3.2.1.1), and the distributions that are predefined for
// them.
var (
	literalBase   = [36]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	literalExtra  = [36]uint8{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	matchBase     = [53]uint32{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539}
	matchExtra    = [53]uint8{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	literalUsual  = [36]int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}
	matchUsual    = [53]int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}
	offsetUsual   = [29]int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}
	usualLogs     = [3]uint8{6, 5, 6}
	greatestLogs  = [3]uint8{9, 8, 9}
	greatestCodes = [3]int{36, 32, 53}
)

// predefine builds the predefined tables.
func (u *unpacker) predefine() {
	for which, norm := range [3][]int16{literalUsual[:], offsetUsual[:], matchUsual[:]} {
		u.build(u.predefined[which][:1<<usualLogs[which]], norm, uint(usualLogs[which]), which)
	}
	u.ready = true
}

// tables reads the tables of a block's sequences.
func (u *unpacker) tables(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return b, badBlock("a block that ends before its tables")
	}
	modes := b[0]
	b = b[1:]
	for which := range 3 {
		switch modes >> (6 - 2*which) & 3 {
		case 0:
			u.logs[which] = usualLogs[which]
			u.use[which] = u.predefined[which][:1<<usualLogs[which]]
		case 1:
			if len(b) == 0 || int(b[0]) >= greatestCodes[which] {
				return b, badBlock("a repeated code that is none")
			}
			u.own[which][0] = fseEntry{}
			u.own[which][0].means(which, b[0])
			u.use[which], u.logs[which] = u.own[which][:1], 0
			b = b[1:]
		case 2:
			n, log, size, ok := u.distribution(b, uint(greatestLogs[which]), greatestCodes[which])
			if !ok {
				return b, badBlock("a bad distribution of codes")
			}
			b = b[size:]
			u.logs[which], u.use[which] = uint8(log), u.own[which][:1<<log]
			u.build(u.use[which], u.norm[:n], log, which)
		default:
			if u.use[which] == nil {
				return b, badBlock("a table to repeat where there was none")
			}
		}
	}
	if modes&3 != 0 {
		return b, badBlock("a reserved bit set")
	}
	return b, nil
}

// means sets what a symbol stands for.
func (e *fseEntry) means(which int, sym uint8) {
	switch which {
	case tableLiteral:
		e.base, e.extra = literalBase[sym], literalExtra[sym]
	case tableOffset:
		e.base, e.extra = 1<<sym, sym
	default:
		e.base, e.extra = matchBase[sym], matchExtra[sym]
	}
}

// distribution reads how often each symbol of a code occurs, into norm: -1 stands for less than once. It returns how many
// symbols there are, the logarithm of the sum, and how many bytes it took.
func (u *unpacker) distribution(b []byte, greatest uint, codes int) (n int, log uint, size int, ok bool) {
	at := uint(4) // bits read
	peek := func() uint {
		i := int(at / 8)
		if i+4 <= len(b) {
			return uint(binary.LittleEndian.Uint32(b[i:])) >> (at % 8)
		}
		v := uint(0)
		for k := 0; i+k < len(b) && k < 4; k++ {
			v |= uint(b[i+k]) << (8 * k)
		}
		return v >> (at % 8)
	}
	if len(b) == 0 {
		return 0, 0, 0, false
	}
	log = uint(b[0]&15) + 5
	if log > greatest {
		return 0, 0, 0, false
	}
	left := 1<<log + 1 // of the sum, and one
	threshold, width := 1<<log, log+1
	for left > 1 {
		if n >= codes {
			return 0, 0, 0, false
		}
		v := peek()
		most := 2*threshold - 1 - left
		value := int(v) & (threshold - 1)
		if value < most {
			at += width - 1
		} else {
			value = int(v) & (2*threshold - 1)
			if value >= threshold {
				value -= most
			}
			at += width
		}
		value--
		u.norm[n] = int16(value)
		n++
		left -= max(value, -value)
		if value == 0 {
			for {
				zeros := int(peek() & 3)
				at += 2
				if n+zeros > codes {
					return 0, 0, 0, false
				}
				for range zeros {
					u.norm[n] = 0
					n++
				}
				if zeros < 3 {
					break
				}
			}
		}
		for left < threshold {
			width--
			threshold >>= 1
		}
	}
	size = int(at+7) / 8
	return n, log, size, left == 1 && size <= len(b)
}

// build makes the table of a code with the given distribution: the symbols are spread over the states by a fixed step, those of
// less than once at the end; each state of a symbol takes its share of the bits.
func (u *unpacker) build(table []fseEntry, norm []int16, log uint, which int) {
	size := 1 << log
	high := size
	for sym, n := range norm {
		if n == -1 {
			high--
			u.cells[high] = uint8(sym)
			u.next[sym] = 1
		} else {
			u.next[sym] = uint16(n)
		}
	}
	at, step := 0, size>>1+size>>3+3
	for sym, n := range norm {
		for range n {
			u.cells[at] = uint8(sym)
			for at = (at + step) & (size - 1); at >= high; {
				at = (at + step) & (size - 1)
			}
		}
	}
	for i := range table {
		sym := u.cells[i]
		k := u.next[sym]
		u.next[sym]++
		width := log - uint(bits.Len16(k)) + 1
		table[i] = fseEntry{base: uint32(sym), state: k<<(width&15) - uint16(size), bits: uint8(width)}
	}
	if which < 0 { // weights stand for themselves
		return
	}
	for i := range table {
		table[i].means(which, u.cells[i])
	}
}
