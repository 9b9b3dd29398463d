package state

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// Hint is how the trees are found again: the caller keeps its encoding wherever a rename makes it current. A lost hint
// costs a rebuild.
type Hint struct {
	Generation uint64
	Size       uint64 // bytes of the file that are whole
	Roots      Ref    // the newest roots block
	Live       uint64 // bytes in use when they were last counted
}

const (
	hintVersion = 1
	hintSize    = 1 + 4*8 + 4
)

// Encode returns the hint as 37 bytes.
func (h Hint) Encode() []byte {
	buf := append(make([]byte, 0, hintSize), hintVersion)
	for _, v := range [...]uint64{h.Generation, h.Size, uint64(h.Roots), h.Live} {
		buf = binary.LittleEndian.AppendUint64(buf, v)
	}
	return binary.LittleEndian.AppendUint32(buf, uint32(xxh3.Hash(buf)))
}

// DecodeHint reads what Encode wrote; anything else is ErrDamaged.
func DecodeHint(data []byte) (Hint, error) {
	if len(data) != hintSize || data[0] != hintVersion ||
		binary.LittleEndian.Uint32(data[hintSize-4:]) != uint32(xxh3.Hash(data[:hintSize-4])) {
		return Hint{}, fmt.Errorf("%w: the hint of %d bytes", ErrDamaged, len(data))
	}
	v := func(i int) uint64 { return binary.LittleEndian.Uint64(data[1+8*i:]) }
	return Hint{Generation: v(0), Size: v(1), Roots: Ref(v(2)), Live: v(3)}, nil
}
