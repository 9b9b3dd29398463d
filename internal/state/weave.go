package state

import (
	"encoding/binary"
	"fmt"
)

// PutWeave stores an encoded weave, or what was added to the one at prev; prev is 0 for a whole one. At most
// 64 MiB less a few bytes.
func (b *Blocks) PutWeave(prev Ref, payload []byte) (Ref, error) {
	if len(payload) > maxBlock-binary.MaxVarintLen64 {
		return 0, fmt.Errorf("store weave: %d bytes, more than %d", len(payload), maxBlock)
	}
	buf := make([]byte, 0, binary.MaxVarintLen64+len(payload))
	buf = binary.AppendUvarint(buf, uint64(prev))
	return b.put(kindWeave, append(buf, payload...)), nil
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
