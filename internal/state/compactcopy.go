package state

import (
	"math"
	"slices"
)

// What Compact copies block by block, with refs to where it put what was copied before.

// pathLeaf copies a leaf, anew where its entries have refs.
func (c *compactor) pathLeaf(ref Ref, payload []byte) (Ref, error) {
	entries, ok := decodeEntries(ref, payload, c.entries[:0], &c.scratch)
	if !ok {
		return 0, damaged(ref, "is no leaf page")
	}
	c.entries = entries
	refs := false
	for i := range entries {
		if e := &entries[i]; e.Weave != 0 || e.Acts != 0 {
			if err := c.history(&e.Weave, &e.Acts); err != nil {
				return 0, err
			}
			refs = true
		}
	}
	if refs {
		payload = c.pathLeaves.encode(entries)
	}
	return c.to.put(kindPathLeaf, payload), nil
}

// fileLeaf is the same for a leaf by file.
func (c *compactor) fileLeaf(ref Ref, payload []byte) (Ref, error) {
	files, ok := decodeFiles(ref, payload, c.files[:0], &c.scratch)
	if !ok {
		return 0, damaged(ref, "is no leaf page")
	}
	c.files = files
	refs := false
	for i := range files {
		if f := &files[i]; f.weave != 0 || f.acts != 0 {
			if err := c.history(&f.weave, &f.acts); err != nil {
				return 0, err
			}
			refs = true
		}
	}
	if refs {
		payload = c.fileLeaves.encode(files)
	}
	return c.to.put(kindFileLeaf, payload), nil
}

func (c *compactor) vacatedLeaf(ref Ref, payload []byte) (Ref, error) {
	if _, ok := decodeVacancies(ref, payload, nil, &c.scratch); !ok {
		return 0, damaged(ref, "is no leaf page")
	}
	return c.to.put(kindVacatedLeaf, payload), nil
}

// history copies what an entry or a tombstone refers to.
func (c *compactor) history(weave, acts *Ref) (err error) {
	if *weave, err = c.weaves(*weave); err != nil {
		return err
	}
	*acts, err = c.chain(kindActs, *acts, actsAgain)
	return err
}

// chain copies a chain as far as it is not copied yet, the oldest block first. again gives a block's payload as it is to
// be written.
func (c *compactor) chain(kind byte, ref Ref, again func(link) ([]byte, error)) (Ref, error) {
	var links []link
	var at Ref // where the one before in the chain went
	for ref != 0 {
		var known bool
		if at, known = c.moved[ref]; known {
			break
		}
		prev, payload, err := c.from.getLink(kind, ref)
		if err != nil {
			return 0, err
		}
		links = append(links, link{ref, payload})
		at, ref = 0, prev
	}
	for _, l := range slices.Backward(links) {
		payload, err := again(l)
		if err != nil {
			return 0, err
		}
		if at, err = c.to.putLink(kind, at, payload); err != nil {
			return 0, err
		}
		c.moved[l.ref] = at
	}
	return at, c.flush()
}

// weaves is chain for weaves, of which some are packed.
func (c *compactor) weaves(ref Ref) (Ref, error) {
	var links []Ref
	var at Ref
	for ref != 0 {
		var known bool
		if at, known = c.moved[ref]; known {
			break
		}
		prev, err := c.from.weavePrev(ref)
		if err != nil {
			return 0, err
		}
		links = append(links, ref)
		at, ref = 0, prev
	}
	for _, l := range slices.Backward(links) {
		kind, block, err := c.from.get(l)
		if err != nil {
			return 0, err
		}
		if kind == kindPackedWeave {
			at, err = c.packedWeave(l, block, at)
		} else {
			var payload []byte
			if _, payload, err = c.from.getLink(kindWeave, l); err == nil {
				at, err = c.to.putLink(kindWeave, at, payload)
			}
		}
		if err != nil {
			return 0, err
		}
		c.moved[l] = at
	}
	return at, c.flush()
}

// packedWeave copies a packed link, and before it what it has for a dictionary, which is one of those that begin a chain.
func (c *compactor) packedWeave(ref Ref, block []byte, prev Ref) (Ref, error) {
	p, err := decodePacked(ref, block)
	if err != nil {
		return 0, err
	}
	p.prev = prev
	if p.dict != 0 {
		before, err := c.from.weavePrev(p.dict)
		if err != nil {
			return 0, err
		}
		if before != 0 {
			return 0, damaged(ref, "has a dictionary that begins no chain")
		}
		if p.dict, err = c.weaves(p.dict); err != nil {
			return 0, err
		}
	}
	return c.to.putPacked(&p), nil
}

func actsAgain(l link) ([]byte, error) {
	if _, ok := decodeActs(l.payload, nil); !ok {
		return nil, damaged(l.ref, "has no acts")
	}
	return l.payload, nil
}

func (c *compactor) disputesAgain(l link) ([]byte, error) {
	list, ok := decodeDisputes(l.ref, l.payload, nil)
	if !ok {
		return nil, damaged(l.ref, "has no disputes")
	}
	for i := range list {
		if e := list[i].Hidden; e != nil {
			if err := c.history(&e.Weave, &e.Acts); err != nil {
				return nil, err
			}
		}
	}
	payload, _ := appendDisputes(nil, list, math.MaxInt)
	return payload, nil
}

func (c *compactor) set(ref Ref) (Ref, error) {
	if ref == 0 {
		return 0, nil
	}
	if at, ok := c.moved[ref]; ok {
		return at, nil
	}
	payload, err := c.from.getKind(ref, kindSet)
	if err != nil {
		return 0, err
	}
	if _, ok := decodeSet(payload); !ok {
		return 0, damaged(ref, "is no set")
	}
	at := c.to.put(kindSet, payload)
	c.moved[ref] = at
	return at, c.flush()
}
