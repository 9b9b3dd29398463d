package state

import "fmt"

// PutWeave stores an encoded weave, or what was added to the one at prev; prev is 0 for a whole one. At most
// 64 MiB less a few bytes.
func (b *Blocks) PutWeave(prev Ref, payload []byte) (Ref, error) {
	ref, err := b.putLink(kindWeave, prev, payload)
	if err != nil {
		return 0, fmt.Errorf("store weave: %w", err)
	}
	return ref, nil
}

// GetWeave returns what PutWeave stored. The payload is good until Close; do not change it.
func (b *Blocks) GetWeave(ref Ref) (prev Ref, payload []byte, err error) {
	return b.weaveLink(ref, false)
}
