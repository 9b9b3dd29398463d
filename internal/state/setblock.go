package state

import (
	"encoding/binary"
	"fmt"
)

// minRunSize is the least that a run takes in a block: a byte each for its distance and its length.
const minRunSize = 2

// PutSet stores a set for StateRoot.Set. One of more than some six million runs is refused.
func (b *Blocks) PutSet(s Set) (Ref, error) {
	payload := appendSet(nil, s)
	if len(payload) > maxBlock {
		return 0, fmt.Errorf("store a set: %d bytes, more than %d", len(payload), maxBlock)
	}
	return b.put(kindSet, payload), nil
}

// Set returns what PutSet stored.
func (b *Blocks) Set(ref Ref) (Set, error) {
	payload, err := b.getKind(ref, kindSet)
	if err != nil {
		return Set{}, fmt.Errorf("read a set: %w", err)
	}
	s, ok := decodeSet(payload)
	if !ok {
		return Set{}, fmt.Errorf("read a set: %w", damaged(ref, "is no set"))
	}
	return s, nil
}

func appendSet(buf []byte, s Set) []byte {
	last := uint32(0)
	for _, r := range s.runs {
		buf = binary.AppendUvarint(buf, uint64(r.first-last))
		buf = binary.AppendUvarint(buf, uint64(r.last-r.first))
		last = r.last
	}
	return buf
}

func decodeSet(payload []byte) (Set, bool) {
	r := reader{buf: payload}
	var runs []run
	if n := len(payload) / minRunSize; n > 0 {
		runs = make([]run, 0, n)
	}
	last := uint64(0)
	for len(r.buf) > 0 {
		gap := uint64(r.uint32())
		first := last + gap
		last = first + uint64(r.uint32())
		if last > 1<<32-1 || gap < 2 && len(runs) > 0 {
			r.fail()
		}
		if r.bad {
			return Set{}, false
		}
		runs = append(runs, run{uint32(first), uint32(last)})
	}
	return Set{runs}, true
}
