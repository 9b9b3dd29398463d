package history

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

// numbers gives ids numbers in the order they come. A map of Go would take five times the memory of a million ids.
type numbers struct {
	size  int    // of an id
	ids   []byte // in the order of numbers
	table []uint32
	seed  [2]uint64 // odd; ids are chosen by whoever made the history, and must not be able to meet in one place
}

func newNumbers(f object.Format) *numbers {
	return &numbers{size: f.Size(), table: make([]uint32, 1024), seed: [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}}
}

func (n *numbers) len() int { return len(n.ids) / n.size }

// id is the id with a number.
func (n *numbers) id(i uint32) (id object.ID) {
	copy(id[:], n.ids[int(i)*n.size:int(i+1)*n.size])
	return id
}

// number is the number of an id, and whether it is new.
func (n *numbers) number(id object.ID) (uint32, bool) {
	if 2*n.len() >= len(n.table) {
		n.grow()
	}
	at := n.place(id[:])
	for ; n.table[at] != 0; at = (at + 1) & (len(n.table) - 1) {
		i := n.table[at] - 1
		if string(n.ids[int(i)*n.size:int(i+1)*n.size]) == string(id[:n.size]) {
			return i, false
		}
	}
	i := uint32(n.len())
	n.ids = append(n.ids, id[:n.size]...)
	n.table[at] = i + 1
	return i, true
}

func (n *numbers) place(id []byte) int {
	a, b := binary.LittleEndian.Uint64(id), binary.LittleEndian.Uint64(id[8:])
	h := (a^n.seed[1])*n.seed[0] ^ (b+n.seed[0])*n.seed[1]
	h ^= h >> 32
	return int(h*n.seed[0]>>20) & (len(n.table) - 1)
}

func (n *numbers) grow() {
	n.table = make([]uint32, 2*len(n.table))
	for i := range n.len() {
		at := n.place(n.ids[i*n.size:])
		for n.table[at] != 0 {
			at = (at + 1) & (len(n.table) - 1)
		}
		n.table[at] = uint32(i) + 1
	}
}
