package bucket

import "encoding/binary"

// fields takes fields off the front. After the first that is not there everything reads as zero and bad is set.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) bytes(n uint64) []byte {
	if n > uint64(len(f.b)) {
		f.b, f.bad = nil, true
		return nil
	}
	b := f.b[:n:n]
	f.b = f.b[n:]
	return b
}

func (f *fields) byte() byte {
	if b := f.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (f *fields) uvarint() uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 || n > 1 && f.b[n-1] == 0 {
		f.b, f.bad = nil, true
		return 0
	}
	f.b = f.b[n:]
	return v
}

// count is a number of things that take at least size bytes each, so that it promises no more than there is.
func (f *fields) count(limit, size uint64) uint64 {
	n := f.uvarint()
	if n > limit || n > uint64(len(f.b))/size {
		f.b, f.bad = nil, true
		return 0
	}
	return n
}

func (f *fields) id() (id [32]byte) {
	copy(id[:], f.bytes(32))
	return id
}

func (f *fields) fixed() uint64 {
	if b := f.bytes(8); len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (f *fields) text(limit uint64) string {
	n := f.uvarint()
	if n > limit {
		f.b, f.bad = nil, true
		return ""
	}
	return string(f.bytes(n))
}

// plus adds what would not fit into 63 bits only in a lie.
func (f *fields) plus(a, b uint64) uint64 {
	if a > 1<<62 || b > 1<<62 {
		f.b, f.bad = nil, true
		return 0
	}
	return a + b
}
