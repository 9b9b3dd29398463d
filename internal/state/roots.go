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

// rootChain is what is known of the chain of roots blocks: those that were put since it was opened, and those before, which
// are read only as far down as it takes to find a state.
type rootChain struct {
	put  []StateRoot    // oldest first
	read []StateRoot    // newest first, and older than those that were put
	ages map[uint32]int // of a state's latest: 1 + its index in put, or -1 - its index in read; the later the greater
	next Ref            // to read
}

func (c *rootChain) at(age int) StateRoot {
	if age > 0 {
		return c.put[age-1]
	}
	return c.read[-1-age]
}

// PutRoot records that a state's tree is stored. A later one for the same state takes the place of an earlier.
func (b *Blocks) PutRoot(r StateRoot) {
	b.last = b.put(kindRoots, appendRoots(nil, r, b.last))
	c := &b.chain
	if c.ages == nil {
		c.ages = make(map[uint32]int)
	}
	c.put = append(c.put, r)
	c.ages[r.State] = len(c.put)
}

// Root returns the stored tree of a state, if there is one. The latest is found at once; others by going back through
// those that were stored after it, which is done once.
func (b *Blocks) Root(state uint32) (StateRoot, bool, error) {
	for {
		if age, ok := b.chain.ages[state]; ok {
			return b.chain.at(age), true, nil
		}
		if more, err := b.readRoots(); err != nil || !more {
			return StateRoot{}, false, err
		}
	}
}

// Roots lists the stored trees, the latest first, each state once.
func (b *Blocks) Roots() ([]StateRoot, error) {
	for more := true; more; {
		var err error
		if more, err = b.readRoots(); err != nil {
			return nil, err
		}
	}
	c := &b.chain
	all := make([]StateRoot, 0, len(c.ages))
	for age := len(c.put); age >= -len(c.read); age-- {
		if age != 0 && c.ages[c.at(age).State] == age {
			all = append(all, c.at(age))
		}
	}
	return all, nil
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
	if c.ages == nil {
		c.ages = make(map[uint32]int)
	}
	if _, known := c.ages[r.State]; !known {
		c.read = append(c.read, r)
		c.ages[r.State] = -len(c.read)
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
