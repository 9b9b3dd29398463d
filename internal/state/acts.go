package state

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Act is what one change did to a file's registers or existence: the change and the file's ordinal in it; of a change
// that undoes, the ordinal in the change that was undone first.
type Act struct{ Change, Ord uint32 }

// minActSize is the least that an act takes in a block: a byte for each number.
const minActSize = 2

// PutActs stores what was done to a file after what prev has; prev is 0 where nothing was done before. Without acts it
// is prev that is returned.
func (b *Blocks) PutActs(prev Ref, acts []Act) (Ref, error) {
	if len(acts) == 0 {
		return prev, nil
	}
	ref, err := b.putLink(kindActs, prev, appendActs(nil, acts))
	if err != nil {
		return 0, fmt.Errorf("store acts: %w", err)
	}
	return ref, nil
}

// Acts returns the whole chain that ends with ref, in the order in which it was put; nothing for 0.
func (b *Blocks) Acts(ref Ref) ([]Act, error) {
	links, err := b.links(kindActs, ref)
	if err != nil {
		return nil, fmt.Errorf("read acts: %w", err)
	}
	total := uint64(0)
	for _, l := range links {
		n, ok := countActs(l.payload)
		if !ok {
			return nil, fmt.Errorf("read acts: %w", damaged(l.ref, "has no number of acts"))
		}
		total += n
	}
	acts := make([]Act, 0, total)
	for _, l := range slices.Backward(links) {
		var ok bool
		if acts, ok = decodeActs(l.payload, acts); !ok {
			return nil, fmt.Errorf("read acts: %w", damaged(l.ref, "has no acts"))
		}
	}
	return acts, nil
}

func appendActs(buf []byte, acts []Act) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(acts)))
	for _, a := range acts {
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(a.Change)), uint64(a.Ord))
	}
	return buf
}

// countActs says how many acts a block has, never more than its bytes have room for: the bound of what is allocated.
func countActs(payload []byte) (uint64, bool) {
	r := reader{buf: payload}
	n := r.uvarint()
	return n, !r.bad && n > 0 && n <= uint64(len(r.buf)/minActSize)
}

// decodeActs appends the acts of one block.
func decodeActs(payload []byte, acts []Act) ([]Act, bool) {
	if _, ok := countActs(payload); !ok {
		return acts, false
	}
	r := reader{buf: payload}
	for range r.uvarint() {
		acts = append(acts, Act{Change: r.uint32(), Ord: r.uint32()})
		if r.bad {
			return acts, false
		}
	}
	return acts, len(r.buf) == 0
}
