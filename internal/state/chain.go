package state

import "fmt"

// Weaves, acts and disputes are chains: each block begins with a ref to the one that it adds to, or none. What is
// added costs only itself.

// maxRefSize is the longest encoding of a ref: 48 bits in a varint, and two bytes.
const maxRefSize = 9

// link is a block of a chain without the ref to the one before it.
type link struct {
	ref     Ref
	payload []byte
}

// putLink adds a block to the chain that ends with prev; 0 begins one.
func (b *Blocks) putLink(kind byte, prev Ref, payload []byte) (Ref, error) {
	if len(payload) > maxBlock-maxRefSize {
		return 0, fmt.Errorf("%d bytes, more than %d", len(payload), maxBlock-maxRefSize)
	}
	buf := make([]byte, 0, maxRefSize+len(payload))
	return b.put(kind, append(appendRef(buf, prev), payload...)), nil
}

// getLink returns what putLink stored.
func (b *Blocks) getLink(kind byte, ref Ref) (prev Ref, payload []byte, err error) {
	block, err := b.getKind(ref, kind)
	if err != nil {
		return 0, nil, err
	}
	r := reader{buf: block}
	prev = r.refBefore(ref)
	if r.bad {
		return 0, nil, damaged(ref, "is no part of a chain")
	}
	return prev, r.buf, nil
}

// links returns all of a chain, its last block first. It ends, as each block lies before the one that names it.
func (b *Blocks) links(kind byte, ref Ref) ([]link, error) {
	var all []link
	for ref != 0 {
		prev, payload, err := b.getLink(kind, ref)
		if err != nil {
			return nil, err
		}
		all = append(all, link{ref, payload})
		ref = prev
	}
	return all, nil
}
