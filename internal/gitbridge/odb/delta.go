package odb

import "fmt"

// A delta begins with the sizes of base and result, as little-endian base-128 numbers; then come instructions: copy
// from the base, or insert the bytes that follow.

// deltaSizes reads the two sizes and returns the instructions.
func deltaSizes(delta []byte) (base, result uint64, ops []byte, err error) {
	if base, delta, err = deltaSize(delta); err != nil {
		return 0, 0, nil, err
	}
	result, ops, err = deltaSize(delta)
	return base, result, ops, err
}

func deltaSize(b []byte) (n uint64, rest []byte, err error) {
	for i, c := range b {
		if i > 8 {
			break
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:], nil
		}
	}
	return 0, nil, fmt.Errorf("%w: delta without a size", ErrCorrupt)
}

// applyDelta follows the instructions from base into dst, which has the size of the result.
func applyDelta(dst, base, ops []byte) error {
	at := 0
	for i := 0; i < len(ops); {
		c := ops[i]
		i++
		if c&0x80 == 0 {
			n := int(c)
			if n == 0 || n > len(ops)-i || n > len(dst)-at {
				return badDelta()
			}
			copy(dst[at:at+n], ops[i:i+n])
			i += n
			at += n
			continue
		}
		var off, n uint32
		if len(ops)-i >= 7 { // room for every byte: no check for each
			if c&1 != 0 {
				off = uint32(ops[i])
				i++
			}
			if c&2 != 0 {
				off |= uint32(ops[i]) << 8
				i++
			}
			if c&4 != 0 {
				off |= uint32(ops[i]) << 16
				i++
			}
			if c&8 != 0 {
				off |= uint32(ops[i]) << 24
				i++
			}
			if c&16 != 0 {
				n = uint32(ops[i])
				i++
			}
			if c&32 != 0 {
				n |= uint32(ops[i]) << 8
				i++
			}
			if c&64 != 0 {
				n |= uint32(ops[i]) << 16
				i++
			}
		} else {
			for bit := range 7 {
				if c&(1<<bit) == 0 {
					continue
				}
				if i == len(ops) {
					return badDelta()
				}
				if bit < 4 {
					off |= uint32(ops[i]) << (8 * bit)
				} else {
					n |= uint32(ops[i]) << (8 * (bit - 4))
				}
				i++
			}
		}
		if n == 0 {
			n = 0x10000
		}
		from, size := uint64(off), uint64(n)
		if from+size > uint64(len(base)) || size > uint64(len(dst)-at) {
			return badDelta()
		}
		copy(dst[at:], base[from:from+size])
		at += int(n)
	}
	if at != len(dst) {
		return badDelta()
	}
	return nil
}

func badDelta() error { return fmt.Errorf("%w: delta does not fit its base or its result", ErrCorrupt) }

// deltaResult adds up what the instructions make, without making it: a few bytes can claim gigabytes.
func deltaResult(ops []byte) (total uint64) {
	for i := 0; i < len(ops); {
		c := ops[i]
		i++
		if c&0x80 == 0 {
			total += uint64(c)
			i += int(c)
			continue
		}
		n := uint32(0)
		for bit := range 7 {
			if c&(1<<bit) == 0 {
				continue
			}
			if i == len(ops) {
				return total
			}
			if bit >= 4 {
				n |= uint32(ops[i]) << (8 * (bit - 4))
			}
			i++
		}
		if n == 0 {
			n = 0x10000
		}
		total += uint64(n)
	}
	return total
}
