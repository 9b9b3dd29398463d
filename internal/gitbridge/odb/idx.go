package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

// index is a pack's index, version 1 or 2, over its mapped bytes.
type index struct {
	b       []byte
	size    int // of an id
	count   uint32
	version int
	fanout  []byte // 256 numbers
	names   []byte // version 2: ids; version 1: a number and an id each
	offsets []byte // version 2: 4 bytes each
	large   []byte // version 2: 8 bytes each
	pack    []byte // the pack's checksum
}

const fanoutSize = 256 * 4

// parseIndex checks an index's form, its counts against its length and its fan-out. That ids are in order is not
// checked: an id that is then not found is missing, and what is found is proved by its hash.
func parseIndex(b []byte, f object.Format) (*index, error) {
	x := &index{b: b, size: f.Size(), version: 1, fanout: b}
	if len(b) >= 8 && string(b[:4]) == "\xfftOc" {
		if v := binary.BigEndian.Uint32(b[4:]); v != 2 {
			return nil, fmt.Errorf("%w: version %d of an index", ErrUnsupported, v)
		}
		x.version, x.fanout = 2, b[8:]
	}
	if len(x.fanout) < fanoutSize+2*x.size {
		return nil, fmt.Errorf("%w: index of %d bytes", ErrCorrupt, len(b))
	}
	body := x.fanout[fanoutSize : len(x.fanout)-2*x.size]
	x.pack = b[len(b)-2*x.size : len(b)-x.size]
	x.fanout = x.fanout[:fanoutSize]
	for i := range 256 {
		n := binary.BigEndian.Uint32(x.fanout[4*i:])
		if n < x.count {
			return nil, fmt.Errorf("%w: fan-out of the index falls", ErrCorrupt)
		}
		x.count = n
	}
	n := uint64(x.count)
	if x.version == 1 {
		if uint64(len(body)) != n*uint64(4+x.size) {
			return nil, fmt.Errorf("%w: index of %d objects has %d bytes", ErrCorrupt, n, len(b))
		}
		x.names = body
		return x, nil
	}
	// An id, a CRC and an offset each, and at most one large offset each but one.
	fixed := n * uint64(x.size+4+4)
	if uint64(len(body)) < fixed || (uint64(len(body))-fixed)%8 != 0 || uint64(len(body))-fixed > 8*n {
		return nil, fmt.Errorf("%w: index of %d objects has %d bytes", ErrCorrupt, n, len(b))
	}
	x.names = body[:n*uint64(x.size)]
	x.offsets = body[n*uint64(x.size+4) : fixed]
	x.large = body[fixed:]
	return x, nil
}

// name is the id at rank i, which must be below count.
func (x *index) name(i uint32) []byte {
	if x.version == 1 {
		at := int(i) * (4 + x.size)
		return x.names[at+4 : at+4+x.size]
	}
	return x.names[int(i)*x.size : int(i+1)*x.size]
}

// offset is where in the pack the object of rank i lies; false where a large offset is not there.
func (x *index) offset(i uint32) (uint64, bool) {
	if x.version == 1 {
		return uint64(binary.BigEndian.Uint32(x.names[int(i)*(4+x.size):])), true
	}
	off := binary.BigEndian.Uint32(x.offsets[4*int(i):])
	if off>>31 == 0 {
		return uint64(off), true
	}
	at := 8 * uint64(off&^(1<<31))
	if at+8 > uint64(len(x.large)) {
		return 0, false
	}
	return binary.BigEndian.Uint64(x.large[at:]), true
}

// find is the rank of an id.
func (x *index) find(id []byte) (uint32, bool) {
	lo, hi := uint32(0), binary.BigEndian.Uint32(x.fanout[4*int(id[0]):])
	if id[0] > 0 {
		lo = binary.BigEndian.Uint32(x.fanout[4*int(id[0])-4:])
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch c := bytes.Compare(id, x.name(mid)); {
		case c == 0:
			return mid, true
		case c < 0:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return 0, false
}
