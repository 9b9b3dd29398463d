package revlog

import (
	"encoding/binary"
	"math/bits"
)

func shortLiterals() error { return badBlock("a block that ends inside its literals") }

func badCode() error { return badBlock("a bad code of literals") }

// literals decodes the literals of a block and returns them, with slack after them, and what of the block is left.
func (u *unpacker) literals(b []byte) (lits, rest []byte, err error) {
	if len(b) == 0 {
		return nil, b, shortLiterals()
	}
	kind, format := b[0]&3, b[0]>>2&3
	if kind < 2 {
		size, head := int(b[0]>>3), 1
		switch {
		case format == 1 && len(b) >= 2:
			size, head = int(binary.LittleEndian.Uint16(b)>>4), 2
		case format == 3 && len(b) >= 3:
			size, head = int(b[0]>>4)|int(b[1])<<4|int(b[2])<<12, 3
		case format&1 == 1:
			return nil, b, shortLiterals()
		}
		b = b[head:]
		if size > maxZstdBlock || len(b) < 1 && (kind == 1 || size > 0) || kind == 0 && len(b) < size {
			return nil, b, shortLiterals()
		}
		u.lits = reserve(u.lits[:0], size+unpackSlack)[:size+unpackSlack]
		if kind == 0 {
			copy(u.lits, b[:size])
			return u.lits[:size], b[size:], nil
		}
		for i := range size {
			u.lits[i] = b[0]
		}
		return u.lits[:size], b[1:], nil
	}
	head, width := 3, uint(10)
	if format >= 2 {
		head, width = int(format)+2, uint(4*int(format)+6)
	}
	if len(b) < head {
		return nil, b, shortLiterals()
	}
	var word [8]byte
	copy(word[:], b[:head])
	v := binary.LittleEndian.Uint64(word[:]) >> 4
	size, packed := int(v&(1<<width-1)), int(v>>width&(1<<width-1))
	b = b[head:]
	if size > maxZstdBlock || packed > len(b) {
		return nil, b, shortLiterals()
	}
	stream, rest := b[:packed], b[packed:]
	if kind == 2 {
		if stream, err = u.tree(stream); err != nil {
			return nil, b, err
		}
	} else if u.huffmanBits == 0 {
		return nil, b, badBlock("literals without a code")
	}
	u.lits = reserve(u.lits[:0], size+unpackSlack)[:size+unpackSlack]
	out := u.lits[:size]
	if format == 0 {
		if !u.stream(out, stream) {
			return nil, b, badBlock("literals that do not decode")
		}
		return out, rest, nil
	}
	// Four streams of a quarter each, the last one shorter; the first three say how long they are.
	if len(stream) < 6 {
		return nil, b, shortLiterals()
	}
	quarter := (size + 3) / 4
	if 3*quarter > size {
		return nil, b, badBlock("too few literals for four streams")
	}
	if !u.streams(out, quarter, stream) {
		return nil, b, badBlock("literals that do not decode")
	}
	return out, rest, nil
}

// stream decodes one stream of literals.
func (u *unpacker) stream(out, b []byte) bool {
	var r backBits
	return r.begin(b) && u.rest(out, &r)
}

// rest decodes what is left of a stream.
func (u *unpacker) rest(out []byte, r *backBits) bool {
	shift := 64 - u.huffmanBits
	table := &u.huffman
	i := 0
	for len(out)-i >= 4 && r.used <= 64 {
		r.fill()
		w, n := r.word<<(r.used&63), r.used
		o := out[i : i+4 : i+4]
		for k := range o {
			e := table[w>>(shift&63)&(1<<maxHuffmanBits-1)]
			o[k] = byte(e >> 8)
			w <<= e & 15
			n += uint(e & 15)
		}
		r.used = n
		i += 4
	}
	r.fill()
	for ; i < len(out); i++ {
		e := table[r.word<<r.used>>shift&(1<<maxHuffmanBits-1)]
		out[i] = byte(e >> 8)
		r.used += uint(e & 15)
	}
	return r.exhausted()
}

// streams decodes four streams, each of a quarter of the literals. They are taken together, since each waits for its own last
// symbol and none for the others'.
func (u *unpacker) streams(out []byte, quarter int, b []byte) bool {
	var r [4]backBits
	at := 6
	for i := range r {
		length := len(b) - at
		if i < 3 {
			length = int(binary.LittleEndian.Uint16(b[2*i:]))
		}
		if length < 0 || length > len(b)-at || !r[i].begin(b[at:at+length]) {
			return false
		}
		at += length
	}
	o0, o1, o2, o3 := out[:quarter], out[quarter:2*quarter], out[2*quarter:3*quarter], out[3*quarter:]
	shift := (64 - u.huffmanBits) & 63
	table := &u.huffman
	const mask = 1<<maxHuffmanBits - 1
	i := 0
	// Four symbols of each take at most 44 of the 57 bits at hand.
	for ; i+4 <= len(o3); i += 4 {
		r[0].fill()
		r[1].fill()
		r[2].fill()
		r[3].fill()
		n0, n1, n2, n3 := r[0].used, r[1].used, r[2].used, r[3].used
		w0, w1, w2, w3 := r[0].word<<(n0&63), r[1].word<<(n1&63), r[2].word<<(n2&63), r[3].word<<(n3&63)
		p0, p1, p2, p3 := (*[4]byte)(o0[i:]), (*[4]byte)(o1[i:]), (*[4]byte)(o2[i:]), (*[4]byte)(o3[i:])
		for k := range 4 {
			e0, e1, e2, e3 := table[w0>>shift&mask], table[w1>>shift&mask], table[w2>>shift&mask], table[w3>>shift&mask]
			p0[k], p1[k], p2[k], p3[k] = byte(e0>>8), byte(e1>>8), byte(e2>>8), byte(e3>>8)
			w0, w1, w2, w3 = w0<<(e0&15), w1<<(e1&15), w2<<(e2&15), w3<<(e3&15)
			n0, n1, n2, n3 = n0+uint(e0&15), n1+uint(e1&15), n2+uint(e2&15), n3+uint(e3&15)
		}
		r[0].used, r[1].used, r[2].used, r[3].used = n0, n1, n2, n3
	}
	return u.rest(o0[i:], &r[0]) && u.rest(o1[i:], &r[1]) && u.rest(o2[i:], &r[2]) && u.rest(o3[i:], &r[3])
}

// tree reads the code of literals: weights of the symbols from 0 on, of which the last one is what is missing to a whole.
func (u *unpacker) tree(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return b, badCode()
	}
	n, size := 0, int(b[0])
	b = b[1:]
	if size >= 128 {
		n = size - 127
		size = (n + 1) / 2
		if size > len(b) {
			return b, badCode()
		}
		for i := range n {
			u.weights[i] = b[i/2] >> (4 - 4*(i&1)) & 15
		}
	} else {
		if size > len(b) {
			return b, badCode()
		}
		var ok bool
		if n, ok = u.packedWeights(b[:size]); !ok {
			return b, badCode()
		}
	}
	if n > 255 || !u.spread(n) {
		return b, badCode()
	}
	return b[size:], nil
}

// spread makes the table of the code whose first n symbols have the weights given; the last one's is what is missing to a whole. Hardly
// anything of it can be foreseen by the processor, so it branches as little as it can: symbols are counted and sorted by their weights, zeros
// included, in four stretches side by side, since each step of one waits for the step before; then those of one weight follow each other.
func (u *unpacker) spread(n int) bool {
	quarter := n/4 + 1 // so that 4*quarter is more than n
	weights := u.weights[:4*quarter]
	for i := n; i < len(weights); i++ {
		weights[i] = 0
	}
	w0, w1, w2, w3 := weights[:quarter], weights[quarter:][:quarter], weights[2*quarter:][:quarter], weights[3*quarter:][:quarter]
	var counts [16][4]uint16
	all := uint8(0)
	for i, w := range w0 {
		x, y, z := w1[i], w2[i], w3[i]
		all |= w | x | y | z
		counts[w&15][0]++
		counts[x&15][1]++
		counts[y&15][2]++
		counts[z&15][3]++
	}
	sum := uint32(0)
	for w := 1; w <= maxHuffmanBits; w++ {
		c := &counts[w]
		sum += (uint32(c[0]) + uint32(c[1]) + uint32(c[2]) + uint32(c[3])) << (w - 1)
	}
	for w := maxHuffmanBits + 1; w < len(counts); w++ {
		if counts[w] != [4]uint16{} {
			return false
		}
	}
	width := uint(bits.Len32(sum))
	left := uint32(1)<<width - sum
	if sum == 0 || all > 15 || width > maxHuffmanBits || left&(left-1) != 0 {
		return false
	}
	last := bits.Len32(left)
	q := n / quarter
	weights[n] = uint8(last)
	counts[0][q]--
	counts[last][q]++
	// Where in the sorted symbols those of each weight begin: of weight 0, whose place is no matter, and 1 first.
	var starts [maxHuffmanBits + 2]uint16
	at := uint16(0)
	for w := range starts[:maxHuffmanBits+1] {
		starts[w] = at
		c := &counts[w]
		for k, n := range c {
			c[k] = at
			at += n
		}
	}
	starts[maxHuffmanBits+1] = at
	sorted := &u.sorted
	for i, w := range w0 {
		x, y, z := w1[i], w2[i], w3[i]
		a, b, c, d := &counts[w&15][0], &counts[x&15][1], &counts[y&15][2], &counts[z&15][3]
		sorted[*a&255], sorted[*b&255], sorted[*c&255], sorted[*d&255] = uint8(i), uint8(i+quarter), uint8(i+2*quarter), uint8(i+3*quarter)
		*a++
		*b++
		*c++
		*d++
	}
	// Codes of the least weight, the longest, come first.
	table := u.huffman[:1<<width]
	for w := uint(1); w <= width; w++ {
		symbols := u.sorted[starts[w]:starts[w+1]]
		length := uint16(width + 1 - w)
		switch w {
		case 1:
			for i, sym := range symbols {
				table[i] = uint16(sym)<<8 | length
			}
			table = table[len(symbols):]
		case 2:
			for _, sym := range symbols {
				e := uint16(sym)<<8 | length
				table[0], table[1] = e, e
				table = table[2:]
			}
		default:
			for _, sym := range symbols {
				e := uint16(sym)<<8 | length
				for range 1 << (w - 3) {
					table[0], table[1], table[2], table[3] = e, e, e, e
					table = table[4:]
				}
			}
		}
	}
	u.huffmanBits = width
	return true
}

// packedWeights decodes weights that are compressed themselves, by two states that take turns until the bits end.
func (u *unpacker) packedWeights(b []byte) (int, bool) {
	codes, log, size, ok := u.distribution(b, 6, 256)
	if !ok {
		return 0, false
	}
	table := u.small[:1<<log]
	u.build(table, u.norm[:codes], log, -1)
	var r backBits
	if !r.begin(b[size:]) {
		return 0, false
	}
	first, second := r.take(log), r.take(log)
	if r.beyond() {
		return 0, false
	}
	mask := uint64(1)<<log - 1
	n := 0
	// As long as eight bytes lie before the word, four weights' bits, at most 24, are there for certain.
	for ; r.at >= 8 && n < 248; n += 4 {
		r.fill()
		e := table[first&mask]
		f := table[second&mask]
		first = uint64(e.state) + r.next(uint(e.bits))
		second = uint64(f.state) + r.next(uint(f.bits))
		u.weights[n], u.weights[n+1] = uint8(e.base), uint8(f.base)
		e = table[first&mask]
		f = table[second&mask]
		first = uint64(e.state) + r.next(uint(e.bits))
		second = uint64(f.state) + r.next(uint(f.bits))
		u.weights[n+2], u.weights[n+3] = uint8(e.base), uint8(f.base)
	}
	for ; n < 254; n += 2 {
		r.fill()
		e := table[first&mask]
		u.weights[n] = uint8(e.base)
		first = uint64(e.state) + r.take(uint(e.bits))
		if r.beyond() {
			u.weights[n+1] = uint8(table[second&mask].base)
			return n + 2, true
		}
		e = table[second&mask]
		u.weights[n+1] = uint8(e.base)
		second = uint64(e.state) + r.take(uint(e.bits))
		if r.beyond() {
			u.weights[n+2] = uint8(table[first&mask].base)
			return n + 3, true
		}
	}
	return 0, false
}
