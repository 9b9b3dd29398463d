package state

import "encoding/binary"

// Root is what finds a tree in its blocks.
type Root struct {
	Paths Ref // the root page by path, 0 for an empty tree
	Files Ref // the root page by file identity, 0 for none
	// Vacated is the root page of the paths that files were taken away from, 0 for none.
	Vacated Ref
	// Disputes is the last block of the files that are not plain, 0 for none.
	Disputes Ref
	Count    uint64 // entries
	Bytes    uint64 // the sum of their sizes
}

// StateRoot says that a state's tree is stored.
type StateRoot struct {
	State  uint32
	Root   Root
	Set    Ref  // the set of its changes, 0 where that is not kept
	Manual bool // asked for by a person, not kept at an interval
}

// rootChain is what was read of the chain of roots blocks so far: newest first, and it only goes further down when
// a state is asked for that has not come by.
type rootChain struct {
	seen  map[uint32]int // state to index in order
	order []StateRoot    // newest first, each state once
	next  Ref
}

// PutRoot records that a state's tree is stored. A later one for the same state takes the place of an earlier.
func (b *Blocks) PutRoot(r StateRoot) {
	b.last = b.put(kindRoots, appendRoots(nil, r, b.last))
	b.chain = rootChain{next: b.last}
}

// Root returns the stored tree of a state, if there is one. The latest is found at once; others by going back through
// those that were stored after it, which is done once.
func (b *Blocks) Root(state uint32) (StateRoot, bool, error) {
	for {
		if i, ok := b.chain.seen[state]; ok {
			return b.chain.order[i], true, nil
		}
		if more, err := b.readRoots(); err != nil || !more {
			return StateRoot{}, false, err
		}
	}
}

// Roots lists the stored trees, the latest first. The slice is b's own: do not change it.
func (b *Blocks) Roots() ([]StateRoot, error) {
	for {
		if more, err := b.readRoots(); err != nil || !more {
			return b.chain.order, err
		}
	}
}

// readRoots goes one block further down the chain and reports whether there was one.
func (b *Blocks) readRoots() (bool, error) {
	c := &b.chain
	if c.next == 0 {
		return false, nil
	}
	payload, err := b.getKind(c.next, kindRoots)
	if err != nil {
		return false, err
	}
	r, prev, ok := decodeRoots(payload, c.next)
	if !ok {
		return false, damaged(c.next, "is no roots block")
	}
	if c.seen == nil {
		c.seen = make(map[uint32]int)
	}
	if _, known := c.seen[r.State]; !known {
		c.seen[r.State] = len(c.order)
		c.order = append(c.order, r)
	}
	c.next = prev
	return true, nil
}

func appendRoots(buf []byte, r StateRoot, prev Ref) []byte {
	manual := byte(0)
	if r.Manual {
		manual = 1
	}
	buf = binary.AppendUvarint(append(buf, manual), uint64(r.State))
	for _, ref := range [...]Ref{r.Root.Paths, r.Root.Files, r.Root.Vacated, r.Root.Disputes, r.Set} {
		buf = appendRef(buf, ref)
	}
	buf = binary.AppendUvarint(binary.AppendUvarint(buf, r.Root.Count), r.Root.Bytes)
	return appendRef(buf, prev)
}

func decodeRoots(payload []byte, self Ref) (s StateRoot, prev Ref, ok bool) {
	r := reader{buf: payload}
	manual := r.byte()
	s = StateRoot{
		State: r.uint32(),
		Root: Root{
			Paths: r.refBefore(self), Files: r.refBefore(self), Vacated: r.refBefore(self), Disputes: r.refBefore(self),
		},
		Set:    r.refBefore(self),
		Manual: manual == 1,
	}
	s.Root.Count, s.Root.Bytes = r.uvarint(), r.uvarint()
	prev = r.refBefore(self)
	return s, prev, !r.bad && len(r.buf) == 0 && manual <= 1
}
