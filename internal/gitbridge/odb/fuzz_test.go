package odb

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"hash"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

func sha1New() hash.Hash { return sha1.New() }

func FuzzEntry(f *testing.F) {
	base := append(head(3, 3), deflate([]byte("abc"))...)
	f.Add(base, uint16(0))
	delta := append(append(head(offsetDelta, 5), byte(len(base))), deflate([]byte{3, 3, 0x91, 0, 3})...)
	f.Add(append(bytes.Clone(base), delta...), uint16(len(base)))
	f.Add(append(head(refDelta, 3), make([]byte, 30)...), uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, off uint16) {
		r, p, _ := hostile(b)
		r.db.opt.MaxObject = 1 << 20
		for range 2 { // the second time from the cache
			kind, out, err := r.unpack(p, packHeader+uint64(off), nil)
			if err == nil && (kind < object.CommitKind || kind > object.TagKind || len(out) > 1<<20) {
				t.Fatalf("a %s of %d bytes", kind, len(out))
			}
		}
	})
}

// follow is a delta followed as the words of its format say, bit by bit.
func follow(base, ops []byte) (out []byte, ok bool) {
	for len(ops) > 0 {
		c := ops[0]
		ops = ops[1:]
		if c < 0x80 {
			if c == 0 || int(c) > len(ops) {
				return nil, false
			}
			out, ops = append(out, ops[:c]...), ops[c:]
			continue
		}
		var arg [7]byte
		for i := range arg {
			if c>>i&1 == 1 {
				if len(ops) == 0 {
					return nil, false
				}
				arg[i], ops = ops[0], ops[1:]
			}
		}
		off := uint64(binary.LittleEndian.Uint32(arg[:4]))
		n := uint64(arg[4]) | uint64(arg[5])<<8 | uint64(arg[6])<<16
		if n == 0 {
			n = 0x10000
		}
		if off+n > uint64(len(base)) || len(out) > 1<<22 {
			return nil, false
		}
		out = append(out, base[off:off+n]...)
	}
	return out, true
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte("abcdef"), []byte{0x91, 1, 2, 3, 'x', 'y', 'z'})
	f.Add(make([]byte, 0x10000), []byte{0x80, 0xb0, 2, 1, 0x80})
	f.Fuzz(func(t *testing.T, base, ops []byte) {
		want, ok := follow(base, ops)
		dst := make([]byte, len(want))
		err := applyDelta(dst, base, ops)
		if ok != (err == nil) && len(want) > 0 || ok && !bytes.Equal(dst, want) {
			t.Fatalf("%x of %d bytes: %v, want %x, %v", ops, len(base), err, want, ok)
		}
		if ok && deltaResult(ops) != uint64(len(want)) {
			t.Fatalf("%x makes %d bytes, not %d", ops, len(want), deltaResult(ops))
		}
		deltaResult(ops)
		deltaSizes(ops)
	})
}

func FuzzIndex(f *testing.F) {
	v1 := make([]byte, fanoutSize, 2000)
	for i := range 256 {
		binary.BigEndian.PutUint32(v1[4*i:], 1)
	}
	v1 = append(v1, make([]byte, 24+40)...)
	f.Add(v1, false)
	v2 := append([]byte("\xfftOc\x00\x00\x00\x02"), v1[:fanoutSize]...)
	f.Add(append(v2, make([]byte, 20+4+4+8+40)...), false)
	f.Fuzz(func(t *testing.T, b []byte, long bool) {
		format := object.SHA1
		if long {
			format = object.SHA256
		}
		x, err := parseIndex(b, format)
		if err != nil {
			return
		}
		for i := range min(x.count, 1000) {
			x.find(x.name(i))
			x.offset(i)
		}
		x.find(bytes.Repeat([]byte{0xff}, format.Size()))
		x.find(make([]byte, format.Size()))
	})
}
