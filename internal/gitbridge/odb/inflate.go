package odb

import (
	"encoding/binary"
	"fmt"
)

// inflater undoes zlib from memory into memory of a known size, which is all that packs need: no window is kept and no
// byte is handed out twice, so it takes less than half the time of a decompressor for streams. The checksum at the end
// is not looked at, for the object's hash is. The zero value is ready.
type inflater struct {
	lengths   [maxLitSyms + maxDistSyms]uint8
	sorted    [maxLitSyms]uint16
	lit, dist table
	pre       table
	fixedLit  *table // made when first met
	fixedDist *table
}

// bitReader takes bits from the front of a stream. Beyond its end come zeros, which are counted.
type bitReader struct {
	src  []byte
	pos  int
	bits uint64
	n    uint // how many bits are in bits
	over int  // bytes taken beyond the end
}

// fill makes at least 56 bits ready.
func (b *bitReader) fill() {
	if b.pos+8 <= len(b.src) {
		b.bits |= binary.LittleEndian.Uint64(b.src[b.pos:]) << (b.n & 63)
		b.pos += int(63-b.n) >> 3
		b.n |= 56
		return
	}
	for b.n < 56 {
		if b.pos < len(b.src) {
			b.bits |= uint64(b.src[b.pos]) << (b.n & 63)
			b.pos++
		} else {
			b.over++
		}
		b.n += 8
	}
}

func (b *bitReader) take(n uint) uint {
	v := uint(b.bits & (1<<(n&63) - 1))
	b.bits >>= n & 63
	b.n -= n
	return v
}

// spent tells whether bits beyond the end have been used.
func (b *bitReader) spent() bool { return b.over*8 > int(b.n) }

func badStream(what string) error {
	return fmt.Errorf("%w: compressed bytes: %s", ErrCorrupt, what)
}

// zlib fills dst from a stream at the front of src, which may say more.
func (z *inflater) zlib(dst, src []byte) error {
	n, err := z.zlibPart(dst, src)
	if err == nil && n < len(dst) {
		err = badStream("fewer than were promised")
	}
	return err
}

// zlibPart fills dst as far as the stream goes.
func (z *inflater) zlibPart(dst, src []byte) (int, error) {
	if len(src) < 2 || src[0]&15 != 8 || (uint(src[0])<<8|uint(src[1]))%31 != 0 || src[1]&32 != 0 {
		return 0, fmt.Errorf("%w: not a zlib stream", ErrCorrupt)
	}
	b := bitReader{src: src, pos: 2}
	at := 0
	for last := false; !last && at < len(dst); {
		b.fill()
		last = b.take(1) == 1
		var err error
		switch b.take(2) {
		case 0:
			at, err = b.stored(dst, at)
		case 1:
			if z.fixedLit == nil {
				z.makeFixed()
			}
			b, at, err = block(b, dst, at, z.fixedLit, z.fixedDist)
		case 2:
			if err = z.readCodes(&b); err == nil {
				b, at, err = block(b, dst, at, &z.lit, &z.dist)
			}
		default:
			err = badStream("block of no kind")
		}
		if err == nil && b.spent() {
			err = badStream("cut short")
		}
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// stored copies a block that is not compressed.
func (b *bitReader) stored(dst []byte, at int) (int, error) {
	b.take(b.n & 7)
	pos := b.pos - int(b.n>>3) + b.over
	if pos+4 > len(b.src) {
		return at, badStream("cut short")
	}
	n := int(binary.LittleEndian.Uint16(b.src[pos:]))
	if ^uint16(n) != binary.LittleEndian.Uint16(b.src[pos+2:]) {
		return at, badStream("length of a stored block")
	}
	pos += 4
	if n > len(b.src)-pos {
		return at, badStream("cut short")
	}
	copied := copy(dst[at:], b.src[pos:pos+n])
	b.pos, b.bits, b.n, b.over = pos+n, 0, 0, 0
	return at + copied, nil
}

// block decodes one block and returns where dst has been filled to. The reader comes and goes by value, so that it
// lives in registers.
func block(b bitReader, dst []byte, at int, lit, dist *table) (bitReader, int, error) {
	litMask, distMask := lit.mask, dist.mask
	for {
		b.fill()
		c := lit.codes[b.bits&litMask]
		if c&literal != 0 { // two literals and a peek fit in what one filling gives
			if at >= len(dst) {
				return b, at, nil
			}
			b.drop(c)
			dst[at] = byte(c >> valueShift)
			at++
			c = lit.codes[b.bits&litMask]
			if c&literal != 0 {
				if at >= len(dst) {
					return b, at, nil
				}
				b.drop(c)
				dst[at] = byte(c >> valueShift)
				at++
				continue
			}
			b.fill()
		}
		if c&special != 0 {
			if c&subTable != 0 {
				c = lit.codes[c.value()+uint(b.bits>>litBits)&(1<<c.extra()-1)]
			}
			if c&literal != 0 {
				if at >= len(dst) {
					return b, at, nil
				}
				b.drop(c)
				dst[at] = byte(c >> valueShift)
				at++
				continue
			}
			if c&special != 0 {
				if c&endOfBlock == 0 {
					return b, at, badStream("code of no symbol")
				}
				b.drop(c)
				return b, at, nil
			}
		}
		// A length takes 20 bits at most and a distance 28: together what one filling gives.
		b.drop(c)
		length := int(c.value() + b.take(c.extra()))
		c = dist.codes[b.bits&distMask]
		if c&special != 0 {
			if c&subTable == 0 {
				return b, at, badStream("code of no distance")
			}
			c = dist.codes[c.value()+uint(b.bits>>distBits)&(1<<c.extra()-1)]
			if c&special != 0 {
				return b, at, badStream("code of no distance")
			}
		}
		b.drop(c)
		back := int(c.value() + b.take(c.extra()))
		if back > at {
			return b, at, badStream("distance before the start")
		}
		if at+length+8 <= len(dst) && back >= 8 {
			// Words may reach beyond the match: what follows is written later.
			from, to := dst[at-back:at+length+8-back], dst[at:at+length+8]
			for i := 0; i < length; i += 8 {
				binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
			}
			at += length
			continue
		}
		length = min(length, len(dst)-at)
		for from := at - back; length > 0; {
			n := copy(dst[at:at+min(length, at-from)], dst[from:])
			at += n
			length -= n
		}
		if at == len(dst) {
			return b, at, nil
		}
	}
}

// drop takes the bits of a code.
func (b *bitReader) drop(c code) {
	n := uint(c & 31)
	b.bits >>= n
	b.n -= n
}
