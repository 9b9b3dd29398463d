package revlog

import "encoding/binary"

// inflater decodes zlib streams (RFC 1950, 1951) from one slice into another. Chunks of a few hundred bytes are the rule,
// so what counts is the cost of a stream, not of a byte: nothing is allocated, no window is kept, and tables are built by
// doubling, with one store for each symbol, only as wide as the longest code.
type inflater struct {
	lit   [litTable]uint32
	dist  [distTable]uint32
	pre   [1 << preBits]uint32
	lens  [maxLitCodes + maxDistCodes]uint8
	order [maxLitCodes]uint16
	fixed bool // lit and dist hold the fixed codes

	// What each symbol stands for: table entries that lack only the code's length. Filled when first used.
	ready    bool
	litSyms  [maxLitCodes]uint32
	distSyms [maxDistCodes]uint32
	preSyms  [preCodes]uint32
}

// Widths of the first table of each code, bits, and how many entries it takes with all second tables that a complete code
// of so many symbols of at most 15 bits can need (zlib's enough.c gives 1332 and 402).
const (
	litBits  = 10
	distBits = 8
	preBits  = 7

	litTable  = 2048
	distTable = 512

	maxLitCodes  = 288
	maxDistCodes = 32
	preCodes     = 19
)

// Spare bytes after the output, so that matches are copied eight bytes at a time beyond their end.
const inflateSlack = 258 + 16

// inflate appends to dst what the zlib stream src holds, at most limit bytes. Its checksum is not looked at: the SHA-1 of
// the whole text says more. hint is how long the result probably is.
func (z *inflater) inflate(dst, src []byte, hint, limit int) ([]byte, error) {
	if len(src) < 2+4 {
		return dst, corrupt("its chunk of %d bytes is no zlib stream", len(src))
	}
	if src[0]&15 != 8 || (uint(src[0])<<8|uint(src[1]))%31 != 0 || src[1]&0x20 != 0 {
		return dst, corrupt("its chunk begins with no zlib header")
	}
	if !z.ready {
		z.prepare()
	}
	from := len(dst)
	out := reserve(dst, min(hint, limit)+inflateSlack)
	n := from
	out = out[:cap(out)]
	src = src[2:]
	pos := 0
	var buf uint64 // bits taken from src and not used yet, the next one lowest
	var have uint  // how many of them count; those above are right too, or zero
	for last := false; !last; {
		buf, have, pos = refill(src, buf, have, pos)
		if have < 3 {
			return dst, shortStream()
		}
		last = buf&1 != 0
		kind := buf >> 1 & 3
		buf >>= 3
		have -= 3
		var litW, distW uint
		switch kind {
		case 0:
			// Stored: back to a byte's edge, length, its complement, bytes.
			pos -= int(have / 8)
			buf, have = 0, 0
			if len(src)-pos < 4 {
				return dst, shortStream()
			}
			size := int(binary.LittleEndian.Uint16(src[pos:]))
			if size^0xffff != int(binary.LittleEndian.Uint16(src[pos+2:])) {
				return dst, corrupt("its chunk has a stored block with a wrong length")
			}
			pos += 4
			if len(src)-pos < size {
				return dst, shortStream()
			}
			if n-from+size > limit {
				return dst, tooLarge(limit)
			}
			if len(out)-n < size+inflateSlack {
				out = growOut(out, n, size)
			}
			n += copy(out[n:], src[pos:pos+size])
			pos += size
			continue
		case 1:
			if !z.fixed {
				z.fixedTables()
			}
			litW, distW = 9, 5
		case 2:
			var ok bool
			z.fixed = false
			litW, distW, buf, have, pos, ok = z.dynamicTables(src, buf, have, pos)
			if !ok {
				return dst, corrupt("its chunk has a block with bad codes")
			}
		default:
			return dst, corrupt("its chunk has a block of an unknown kind")
		}
		litMask, distMask := uint64(1)<<litW-1, uint64(1)<<distW-1
	symbols:
		for {
			if len(out)-n < inflateSlack {
				if n-from > limit {
					return dst, tooLarge(limit)
				}
				out = growOut(out, n, n-from)
			}
			if pos+8 <= len(src) {
				buf |= binary.LittleEndian.Uint64(src[pos:]) << (have & 63)
				pos += int((63 - have) >> 3)
				have |= 56
			} else {
				buf, have, pos = refill(src, buf, have, pos)
			}
			e := z.lit[buf&litMask&(litTable-1)]
			if e&entLiteral != 0 {
				// Up to three literals of the 56 bits at hand.
				w := uint(e & 63)
				if w > have {
					return dst, shortStream()
				}
				buf >>= w
				have -= w
				out[n] = byte(e >> 16)
				n++
				e = z.lit[buf&litMask&(litTable-1)]
				if e&entLiteral != 0 {
					w = uint(e & 63)
					if w > have {
						return dst, shortStream()
					}
					buf >>= w
					have -= w
					out[n] = byte(e >> 16)
					n++
					continue
				}
				if have < 48 {
					buf, have, pos = refill(src, buf, have, pos)
				}
			}
			if e&entSpecial != 0 {
				if e&entSub != 0 {
					w := uint(e & 63)
					buf >>= w
					if w > have {
						return dst, shortStream()
					}
					have -= w
					e = z.lit[(uint64(e>>16)+buf&(1<<(e>>8&15)-1))&(litTable-1)]
					if e&entLiteral != 0 {
						w := uint(e & 63)
						if w > have {
							return dst, shortStream()
						}
						buf >>= w
						have -= w
						out[n] = byte(e >> 16)
						n++
						continue
					}
				}
				if e&entSpecial != 0 {
					w := uint(e & 63)
					if e&entEnd == 0 {
						return dst, corrupt("its chunk has a code that stands for nothing")
					}
					if w > have {
						return dst, shortStream()
					}
					buf >>= w
					have -= w
					break symbols
				}
			}
			w := uint(e & 63)
			if w > have {
				return dst, shortStream()
			}
			extra := uint(e >> 8 & 31)
			size := int(e>>16) + int(buf<<(64-w)>>(64-extra)&(1<<extra-1))
			buf >>= w
			have -= w
			if have < 28 {
				buf, have, pos = refill(src, buf, have, pos)
			}
			e = z.dist[buf&distMask&(distTable-1)]
			if e&entSpecial != 0 {
				if e&entSub == 0 {
					return dst, corrupt("its chunk has a distance that stands for nothing")
				}
				w := uint(e & 63)
				if w > have {
					return dst, shortStream()
				}
				buf >>= w
				have -= w
				e = z.dist[(uint64(e>>16)+buf&(1<<(e>>8&15)-1))&(distTable-1)]
				if e&entSpecial != 0 {
					return dst, corrupt("its chunk has a distance that stands for nothing")
				}
			}
			w = uint(e & 63)
			if w > have {
				return dst, shortStream()
			}
			extra = uint(e >> 8 & 31)
			d := int(e>>16) + int(buf<<(64-w)>>(64-extra)&(1<<extra-1))
			buf >>= w
			have -= w
			if d > n-from {
				return dst, corrupt("its chunk refers to before its beginning")
			}
			if d >= 8 {
				s := out[n-d:]
				t := out[n:]
				for i := 0; i < size; i += 8 {
					binary.LittleEndian.PutUint64(t[i:], binary.LittleEndian.Uint64(s[i:]))
				}
			} else {
				for i := n; i < n+size; i++ {
					out[i] = out[i-d]
				}
			}
			n += size
		}
		if n-from > limit {
			return dst, tooLarge(limit)
		}
	}
	pos -= int(have / 8)
	if len(src)-pos != 4 {
		return dst, corrupt("its chunk has %d bytes after the end of its data, want a checksum of 4", len(src)-pos)
	}
	return out[:n], nil
}

func shortStream() error { return corrupt("its chunk ends before its data does") }

// refill takes bytes from src until at least 56 bits are at hand or none are left.
func refill(src []byte, buf uint64, have uint, pos int) (uint64, uint, int) {
	if pos+8 <= len(src) {
		buf |= binary.LittleEndian.Uint64(src[pos:]) << (have & 63)
		pos += int((63 - have) >> 3)
		return buf, have | 56, pos
	}
	buf &= 1<<have - 1
	for have <= 55 && pos < len(src) {
		buf |= uint64(src[pos]) << have
		pos++
		have += 8
	}
	return buf, have, pos
}

// growOut doubles the output so that more bytes and the slack fit.
func growOut(out []byte, n, more int) []byte {
	bigger := make([]byte, 2*len(out)+more+inflateSlack)
	copy(bigger, out[:n])
	return bigger
}
