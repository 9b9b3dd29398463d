package state

import (
	"crypto/sha512"
	"fmt"

	"github.com/gtank/ristretto255"

	"github.com/oxy-vcs/oxy/internal/change"
)

// setHashDomain keeps the points of this use apart from those of any other: a collision found elsewhere says nothing
// here.
const setHashDomain = "oxy state id v1\x00"

// SetHash is the id of a set of changes: the sum of a point of the group ristretto255 for each change id. The order of
// adding does not matter and a member can be taken away. To find two sets of one sum is as hard as the discrete
// logarithm, where a plain sum of hashes falls to a birthday tree. The zero value is the empty set; values may be copied.
type SetHash struct {
	sum  ristretto255.Element
	used bool // a zero Element is no point at all, so the empty set is told apart here
}

// Add puts a change into the set that h stands for. The caller sees to it that no change is added twice.
func (h *SetHash) Add(id change.ID) {
	p := pointOf(id)
	h.init()
	h.sum.Add(&h.sum, &p)
}

// Remove takes a change that was added away again.
func (h *SetHash) Remove(id change.ID) {
	p := pointOf(id)
	h.init()
	h.sum.Subtract(&h.sum, &p)
}

// Join adds the members of o, which shares none with h: a large set is summed in parts on several cores.
func (h *SetHash) Join(o SetHash) {
	h.init()
	o.init()
	h.sum.Add(&h.sum, &o.sum)
}

// Bytes is the canonical encoding of the sum, the state id. The empty set's is all zero.
func (h SetHash) Bytes() (id [32]byte) {
	h.init()
	h.sum.Encode(id[:0])
	return id
}

// ParseSetHash reads a state id back, so that a stored one can grow. It refuses bytes that no sum has.
func ParseSetHash(id [32]byte) (SetHash, error) {
	var h SetHash
	if err := h.sum.Decode(id[:]); err != nil {
		return SetHash{}, fmt.Errorf("read state id %x: %w", id, err)
	}
	h.used = true
	return h, nil
}

func (h *SetHash) init() {
	if !h.used {
		h.sum.Zero()
		h.used = true
	}
}

func pointOf(id change.ID) (p ristretto255.Element) {
	var in [len(setHashDomain) + len(id)]byte
	copy(in[:], setHashDomain)
	copy(in[len(setHashDomain):], id[:])
	wide := sha512.Sum512(in[:])
	p.FromUniformBytes(wide[:])
	return p
}
