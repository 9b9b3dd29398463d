package state

import (
	"encoding/binary"

	"github.com/oxy-vcs/oxy/internal/change"
)

// reader takes values off the front of a payload. After a value that is cut short, out of range or longer than needed
// it is bad, and whatever it returns means nothing.
type reader struct {
	buf []byte
	bad bool
}

func (r *reader) fail() {
	r.bad, r.buf = true, nil
}

func (r *reader) byte() byte {
	if len(r.buf) == 0 {
		r.fail()
		return 0
	}
	v := r.buf[0]
	r.buf = r.buf[1:]
	return v
}

func (r *reader) uvarint() uint64 {
	if len(r.buf) > 0 && r.buf[0] < 0x80 { // most are
		v := r.buf[0]
		r.buf = r.buf[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.buf)
	if n <= 0 || r.buf[n-1] == 0 { // a last byte of 0 adds nothing: there is a shorter way to say it
		r.fail()
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *reader) uint32() uint32 {
	v := r.uvarint()
	if v > 1<<32-1 {
		r.fail()
	}
	return uint32(v)
}

// refBefore reads a ref that is 0 or lies before the block's own: no cycle can be built from those.
func (r *reader) refBefore(self Ref) Ref {
	offset := r.uvarint()
	if offset == 0 {
		return 0
	}
	high := r.bytes(2)
	if offset >= self.offset() || r.bad {
		r.fail()
		return 0
	}
	return Ref(offset | uint64(binary.LittleEndian.Uint16(high))<<refOffsetBits)
}

// flaggedRef reads a ref that is there only if a flag says so, and then is not 0.
func (r *reader) flaggedRef(self Ref, there bool) (ref Ref) {
	if there {
		if ref = r.refBefore(self); ref == 0 {
			r.fail()
		}
	}
	return ref
}

func appendRef(buf []byte, ref Ref) []byte {
	buf = binary.AppendUvarint(buf, ref.offset())
	if ref != 0 {
		buf = binary.LittleEndian.AppendUint16(buf, uint16(ref>>refOffsetBits))
	}
	return buf
}

func (r *reader) fileID() change.FileID {
	return change.FileID{Change: r.uint32(), Ord: r.uint32()}
}

// bytes returns the next n bytes of the payload itself.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.buf)) {
		r.fail()
		return nil
	}
	v := r.buf[:n]
	r.buf = r.buf[n:]
	return v
}

func appendFileID(buf []byte, id change.FileID) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(buf, uint64(id.Change)), uint64(id.Ord))
}
