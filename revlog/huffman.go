package revlog

// An entry of a decoding table: in the low byte how many bits to take (of the code and, for a length or distance, of what
// follows it), then the number of extra bits, marks, and in the upper half the literal, or the base of length or distance, or
// where the second table begins.
const (
	entLiteral = 1 << 15
	entSpecial = 1 << 14 // a second table, the end of the block, or no code
	entSub     = 1 << 13
	entEnd     = 1 << 12

	entInvalid = entSpecial
)

var (
	lengthBase  = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	preOrder    = [preCodes]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

// prepare fills the tables of symbols.
func (z *inflater) prepare() {
	for sym := range z.litSyms {
		switch {
		case sym < 256:
			z.litSyms[sym] = uint32(sym)<<16 | entLiteral
		case sym == 256:
			z.litSyms[sym] = entSpecial | entEnd
		case sym < 257+len(lengthBase):
			extra := uint32(lengthExtra[sym-257])
			z.litSyms[sym] = uint32(lengthBase[sym-257])<<16 | extra<<8 | extra
		default:
			z.litSyms[sym] = entInvalid
		}
	}
	for sym := range z.distSyms {
		switch {
		case sym < 4:
			z.distSyms[sym] = uint32(sym+1) << 16
		case sym < 30:
			extra := uint32(sym/2 - 1)
			z.distSyms[sym] = (uint32(2+sym&1)<<extra+1)<<16 | extra<<8 | extra
		default:
			z.distSyms[sym] = entInvalid
		}
	}
	for sym := range z.preSyms {
		z.preSyms[sym] = uint32(sym) << 16
	}
	z.ready = true
}

// buildTable fills table for the canonical code of the given lengths and returns the width of its first part, bits. It
// reports false for a code that is over-subscribed or incomplete; of one symbol or none, an incomplete code is allowed.
func (z *inflater) buildTable(table []uint32, lens []uint8, syms []uint32, width uint) (uint, bool) {
	var count [16]int
	for _, l := range lens {
		count[l&15]++
	}
	longest := uint(15)
	for longest > 0 && count[longest] == 0 {
		longest--
	}
	if longest == 0 { // no code: any use is an error
		table[0], table[1] = entInvalid|1, entInvalid|1
		return 1, true
	}
	var next [16]int
	space := 0 // how much of the code space is taken, in units of the longest code
	used := 0
	for l := uint(1); l <= longest; l++ {
		next[l] = used
		used += count[l]
		space += count[l] << (longest - l)
	}
	order := &z.order
	for sym, l := range lens {
		if l != 0 {
			order[next[l&15]] = uint16(sym)
			next[l&15]++
		}
	}
	if space != 1<<longest {
		if space > 1<<longest || longest != 1 {
			return 0, false
		}
		table[0], table[1] = syms[order[0]]+1, entInvalid|1
		return 1, true
	}
	width = min(width, longest)
	// Codes in order of length, bits reversed since the stream gives the first bit lowest.
	code, k, size := uint(0), 0, 1
	for l := uint(1); l <= width; l++ {
		copy(table[size:2*size], table[:size])
		size *= 2
		for range count[l] {
			table[code] = syms[order[k]] + uint32(l)
			k++
			code = nextReversed(code, l)
		}
	}
	// Longer codes: a second table for each first part, as wide as the codes that begin so need.
	mask, prefix := uint(1)<<width-1, ^uint(0)
	start, free, subBits := 0, size, uint(0)
	for l := width + 1; l <= longest; l++ {
		for ; count[l] > 0; count[l]-- {
			if code&mask != prefix {
				prefix = code & mask
				subBits = l - width
				for left := 1 << subBits; width+subBits < longest; left <<= 1 {
					if left -= count[width+subBits]; left <= 0 {
						break
					}
					subBits++
				}
				start = free
				if free += 1 << subBits; free > len(table) {
					return 0, false
				}
				table[prefix] = uint32(start)<<16 | entSpecial | entSub | uint32(subBits)<<8 | uint32(width)
			}
			e := syms[order[k]] + uint32(l-width)
			for i := code >> width; i < 1<<subBits; i += 1 << (l - width) {
				table[start+int(i)] = e
			}
			k++
			code = nextReversed(code, l)
		}
	}
	return width, true
}

// nextReversed adds one to a code of l bits that is kept with its first bit lowest. After the last code of a length the
// next length's first is the same bits with a zero appended, so nothing is to be done there.
func nextReversed(code, l uint) uint {
	bit := uint(1) << (l - 1)
	for code&bit != 0 {
		bit >>= 1
	}
	if bit == 0 {
		return 0
	}
	return code&(bit-1) | bit
}

// fixedTables builds the codes that a block of kind 1 uses.
func (z *inflater) fixedTables() {
	lens := z.lens[:maxLitCodes]
	for i := range lens {
		switch {
		case i < 144, i >= 280:
			lens[i] = 8
		case i < 256:
			lens[i] = 9
		default:
			lens[i] = 7
		}
	}
	z.buildTable(z.lit[:], lens, z.litSyms[:], litBits)
	lens = z.lens[:maxDistCodes]
	for i := range lens {
		lens[i] = 5
	}
	z.buildTable(z.dist[:], lens, z.distSyms[:], distBits)
	z.fixed = true
}

// dynamicTables reads the codes of a block of kind 2.
func (z *inflater) dynamicTables(src []byte, buf uint64, have uint, pos int) (litW, distW uint, _ uint64, _ uint, _ int, ok bool) {
	buf, have, pos = refill(src, buf, have, pos)
	if have < 14 {
		return 0, 0, buf, have, pos, false
	}
	lits, dists, pres := int(buf&31)+257, int(buf>>5&31)+1, int(buf>>10&15)+4
	buf >>= 14
	have -= 14
	if lits > 286 || dists > 30 {
		return 0, 0, buf, have, pos, false
	}
	var preLens [preCodes]uint8
	for i := range pres {
		if have < 3 {
			if buf, have, pos = refill(src, buf, have, pos); have < 3 {
				return 0, 0, buf, have, pos, false
			}
		}
		preLens[preOrder[i]] = uint8(buf & 7)
		buf >>= 3
		have -= 3
	}
	preW, ok := z.buildTable(z.pre[:], preLens[:], z.preSyms[:], preBits)
	if !ok {
		return 0, 0, buf, have, pos, false
	}
	mask := uint64(1)<<preW - 1
	lens := z.lens[:lits+dists]
	for i := 0; i < len(lens); {
		if have < 14 {
			buf, have, pos = refill(src, buf, have, pos)
		}
		e := z.pre[buf&mask&(1<<preBits-1)]
		w := uint(e & 63)
		if w > have || e&entSpecial != 0 {
			return 0, 0, buf, have, pos, false
		}
		buf >>= w
		have -= w
		sym := e >> 16
		if sym < 16 {
			lens[i] = uint8(sym)
			i++
			continue
		}
		var value uint8
		var times int
		var extra uint
		switch sym {
		case 16:
			if i == 0 {
				return 0, 0, buf, have, pos, false
			}
			value, times, extra = lens[i-1], 3, 2
		case 17:
			times, extra = 3, 3
		default:
			times, extra = 11, 7
		}
		if extra > have {
			return 0, 0, buf, have, pos, false
		}
		times += int(buf & (1<<extra - 1))
		buf >>= extra
		have -= extra
		if times > len(lens)-i {
			return 0, 0, buf, have, pos, false
		}
		for range times {
			lens[i] = value
			i++
		}
	}
	if lens[256] == 0 {
		return 0, 0, buf, have, pos, false
	}
	litW, ok = z.buildTable(z.lit[:], lens[:lits], z.litSyms[:], litBits)
	if !ok {
		return 0, 0, buf, have, pos, false
	}
	distW, ok = z.buildTable(z.dist[:], lens[lits:], z.distSyms[:], distBits)
	return litW, distW, buf, have, pos, ok
}
