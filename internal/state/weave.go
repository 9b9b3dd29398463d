package state

import "fmt"

// maxRefSize is the longest encoding of a ref: 48 bits in a varint, and two bytes.
const maxRefSize = 9

// PutWeave stores an encoded weave, or what was added to the one at prev; prev is 0 for a whole one. At most
// 64 MiB less a few bytes.
func (b *Blocks) PutWeave(prev Ref, payload []byte) (Ref, error) {
	if len(payload) > maxBlock-maxRefSize {
		return 0, fmt.Errorf("store weave: %d bytes, more than %d", len(payload), maxBlock)
	}
	buf := make([]byte, 0, maxRefSize+len(payload))
	return b.put(kindWeave, append(appendRef(buf, prev), payload...)), nil
}

// GetWeave returns what PutWeave stored. The payload is good until Close; do not change it.
func (b *Blocks) GetWeave(ref Ref) (prev Ref, payload []byte, err error) {
	block, err := b.getKind(ref, kindWeave)
	if err != nil {
		return 0, nil, err
	}
	r := reader{buf: block}
	prev = r.refBefore(ref)
	if r.bad {
		return 0, nil, damaged(ref, "is no weave")
	}
	return prev, r.buf, nil
}
