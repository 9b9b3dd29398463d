package odb

import "math/bits"

// code is what a table says of the next bits: how many of them are the code (bits 0 to 4), how many extra bits follow
// (5 to 9), marks, and a value: the literal, the least length or distance, or where a further table begins.
type code uint32

const (
	literal    code = 1 << 10
	special    code = 1 << 11 // no length or distance: one of the two below, or no symbol
	subTable   code = 1 << 12
	endOfBlock code = 1 << 13

	extraShift = 5
	valueShift = 16
)

func (c code) value() uint { return uint(c >> valueShift) }
func (c code) extra() uint { return uint(c>>extraShift) & 31 }

const (
	maxLitSyms  = 288
	maxDistSyms = 32
	preSyms     = 19
	maxCode     = 15

	litBits  = 11
	distBits = 8
	preBits  = 7
	// tableSize is the most entries that a table takes, one of 11 bits for 288 symbols with codes of up to 15; zlib's
	// program "enough" finds it by enumeration.
	tableSize = 2342
)

// table finds what a code stands for by the bits under mask. Where the longest code is short, so is the table: one for
// a hundred bytes would cost more to fill than to use.
type table struct {
	mask  uint64
	codes [tableSize]code
}

// Lengths and distances: the least value of each symbol and its extra bits.
var (
	lengthBase = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthMore = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	preOrder   = [preSyms]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

func litCode(sym int) code {
	switch {
	case sym < 256:
		return literal | code(sym)<<valueShift
	case sym == 256:
		return special | endOfBlock
	case sym < 257+len(lengthBase):
		return code(lengthBase[sym-257])<<valueShift | code(lengthMore[sym-257])<<extraShift
	}
	return special
}

func distCode(sym int) code {
	if sym < 4 {
		return code(sym+1) << valueShift
	}
	if sym >= 30 {
		return special
	}
	more := sym/2 - 1
	return code((2+sym&1)<<more+1)<<valueShift | code(more)<<extraShift
}

func preCode(sym int) code { return code(sym) << valueShift }

// makeFixed makes the tables of blocks that bring none.
func (z *inflater) makeFixed() {
	z.fixedLit, z.fixedDist = new(table), new(table)
	var l [maxLitSyms]uint8
	for i := range l {
		switch {
		case i < 144:
			l[i] = 8
		case i < 256:
			l[i] = 9
		case i < 280:
			l[i] = 7
		default:
			l[i] = 8
		}
	}
	z.build(z.fixedLit, litBits, l[:], litCode)
	for i := range maxDistSyms {
		l[i] = 5
	}
	z.build(z.fixedDist, distBits, l[:maxDistSyms], distCode)
}

// readCodes reads the codes that a block brings and makes their tables.
func (z *inflater) readCodes(b *bitReader) error {
	b.fill()
	nLit, nDist, nPre := int(b.take(5))+257, int(b.take(5))+1, int(b.take(4))+4
	if nLit > 286 || nDist > 30 {
		return badStream("too many codes")
	}
	var pre [preSyms]uint8
	for i := range nPre {
		if i%16 == 0 { // 48 bits
			b.fill()
		}
		pre[preOrder[i]] = uint8(b.take(3))
	}
	if !z.build(&z.pre, preBits, pre[:], preCode) {
		return badStream("codes of codes")
	}
	for i := 0; i < nLit+nDist; {
		b.fill()
		c := z.pre.codes[b.bits&z.pre.mask]
		if c&special != 0 || b.over > 8 {
			return badStream("codes")
		}
		b.drop(c)
		sym, n, value := c.value(), 1, uint8(0)
		switch {
		case sym < 16:
			value = uint8(sym)
		case sym == 16:
			if i == 0 {
				return badStream("codes")
			}
			value, n = z.lengths[i-1], 3+int(b.take(2))
		case sym == 17:
			n = 3 + int(b.take(3))
		default:
			n = 11 + int(b.take(7))
		}
		if n > nLit+nDist-i {
			return badStream("codes")
		}
		for range n {
			z.lengths[i] = value
			i++
		}
	}
	if z.lengths[256] == 0 || !z.build(&z.lit, litBits, z.lengths[:nLit], litCode) ||
		!z.build(&z.dist, distBits, z.lengths[nLit:nLit+nDist], distCode) {
		return badStream("codes")
	}
	return nil
}

// build makes the table of a canonical code from the lengths of its symbols. The first entries are found by at most width
// bits; longer codes have tables of their own after them. It is false where the lengths are no complete code; as with
// zlib, a code of one symbol of one bit may lack the other, and one without symbols is never used.
func (z *inflater) build(t *table, width uint, lengths []uint8, of func(sym int) code) bool {
	var count, next [maxCode + 1]int
	for _, l := range lengths {
		count[l]++
	}
	used := len(lengths) - count[0]
	count[0] = 0
	room, sum, longest := 1, 0, uint(1)
	for l := 1; l <= maxCode; l++ {
		next[l] = sum
		sum += count[l]
		room = room<<1 - count[l]
		if room < 0 {
			return false
		}
		if count[l] > 0 {
			longest = uint(l)
		}
	}
	width = min(width, longest)
	t.mask = 1<<width - 1
	if room > 0 {
		if used > 1 || used == 1 && count[1] != 1 {
			return false
		}
		t.codes[0], t.codes[1] = special, special
		for sym, l := range lengths {
			if l == 1 {
				t.codes[0] = of(sym) | 1
			}
		}
		return true
	}
	sorted := z.sorted[:used]
	for sym, l := range lengths {
		if l != 0 {
			sorted[next[l]] = uint16(sym)
			next[l]++
		}
	}
	t.fill(width, sorted, &count, of)
	return true
}

// fill makes the entries from the symbols of a complete code in the order of their codes. Codes are met with their bits
// in reverse, as in the stream; while they are short, the table of one bit more is the table twice.
func (t *table) fill(width uint, sorted []uint16, count *[maxCode + 1]int, of func(sym int) code) {
	table := &t.codes
	word, size, end := uint(0), uint(1), uint(1)<<width
	var sub, subStart uint
	prefix := ^uint(0)
	left := *count
	i := 0
	for l := uint(1); l <= maxCode; l++ {
		if l <= width {
			copy(table[size:2*size], table[:size])
			size *= 2
		}
		for ; left[l] > 0; left[l]-- {
			c := of(int(sorted[i]))
			i++
			if l <= width {
				table[word] = c | code(l)
			} else {
				if word&(1<<width-1) != prefix {
					prefix = word & (1<<width - 1)
					sub = l - width
					for space := left[l]; space < 1<<sub && width+sub < maxCode; {
						sub++
						space = space<<1 + count[width+sub]
					}
					subStart = end
					end += 1 << sub
					table[prefix] = special | subTable | code(subStart)<<valueShift | code(sub)<<extraShift | code(width)
				}
				for at := word >> width; at < 1<<sub; at += 1 << (l - width) {
					table[subStart+at] = c | code(l)
				}
			}
			// The next code: add one from the other end.
			top := bits.Len(^word & (1<<l - 1))
			if top == 0 {
				for ; size < 1<<width; size *= 2 { // the last code: it was short
					copy(table[size:2*size], table[:size])
				}
				return
			}
			word = word&(1<<(top-1)-1) | 1<<(top-1)
		}
	}
}
