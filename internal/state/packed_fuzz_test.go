package state

import (
	"testing"
)

// FuzzPackedWeave: what says that it is a packed weave is unpacked to the length that it names, or refused.
func FuzzPackedWeave(f *testing.F) {
	f.Add([]byte{0, 0, 3, 1, 2, 3}, []byte(nil))
	f.Add([]byte{0, 0, 5, 0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00, 0x29, 0x00, 0x00, 'h', 'e', 'l', 'l', 'o'}, []byte("dictionary"))
	f.Fuzz(func(t *testing.T, block, dict []byte) {
		p, err := decodePacked(1<<20, block)
		if err != nil {
			return
		}
		if p.prev.offset() >= 1<<20 || p.dict.offset() >= 1<<20 {
			t.Fatalf("it follows %d, with %d", p.prev, p.dict)
		}
		if p.raw > 1<<20 {
			p.raw = 1 << 20 // what a block that long would be takes too long here
		}
		if len(dict) == 0 {
			dict = nil
		}
		if out, err := unpack(p, dict); err == nil && len(out) != p.raw {
			t.Fatalf("%d bytes of %d", len(out), p.raw)
		}
	})
}
