package odb

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

func newHash(f object.Format) hash.Hash {
	if f == object.SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// largeOffset is the first offset that has no room in four bytes, of which one bit marks the large ones.
const largeOffset = 1 << 31

// index makes the pack's index, version 2.
func (w *PackWriter) index(pack []byte) []byte {
	slices.SortFunc(w.entries, func(a, b packed) int { return bytes.Compare(a.id[:], b.id[:]) })
	size := w.format.Size()
	b := make([]byte, 0, 8+fanoutSize+len(w.entries)*(size+8)+2*size)
	b = append(b, "\xfftOc\x00\x00\x00\x02"...)
	n := 0
	for first := range 256 {
		for n < len(w.entries) && int(w.entries[n].id[0]) == first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for i := range w.entries {
		b = append(b, w.entries[i].id[:size]...)
	}
	for i := range w.entries {
		b = binary.BigEndian.AppendUint32(b, w.entries[i].crc)
	}
	var large []byte
	for i := range w.entries {
		off := w.entries[i].off
		if off >= largeOffset {
			large = binary.BigEndian.AppendUint64(large, off)
			off = largeOffset | uint64(len(large)/8-1)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(off))
	}
	b = append(append(b, large...), pack...)
	h := newHash(w.format)
	h.Write(b)
	return h.Sum(b)
}
