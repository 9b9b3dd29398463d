package odb

import "github.com/oxy-vcs/oxy/internal/gitbridge/object"

// cache keeps what deltas were applied to, for the next delta is likely to want the same base. All of it lies in one
// ring of bytes, oldest first, so that gigabytes can pass through without the collector hearing of it.
type cache struct {
	ring  []byte
	size  int // that the ring may reach
	head  int // where the next goes
	byKey map[uint64]int32
	slots []slot // a ring too
	first int    // the oldest slot
	used  int    // how many slots hold something
}

// slot is one object in the ring.
type slot struct {
	key      uint64
	pos, len int
	kind     object.Kind
	verified object.ID // the id that its hash was found to be, or zero: an index may give one place to several ids
}

const (
	// cacheShare is the part of the ring that one object may take: one that takes most leaves nothing beside it.
	cacheShare = 2
	// minCached is the size that slots are made for.
	minCached = 2048
	// minRing is what a ring begins with.
	minRing = 1 << 20
)

func newCache(size int) *cache { return &cache{size: size} }

// cacheKey names an entry of a pack. Packs are fewer than 2^16 and shorter than 2^48.
func cacheKey(p *pack, off uint64) uint64 { return p.number<<48 | off }

// get is what is kept under key, valid until the next put.
func (c *cache) get(key uint64) (*slot, []byte) {
	i, found := c.byKey[key]
	if !found {
		return nil, nil
	}
	s := &c.slots[i]
	return s, c.ring[s.pos : s.pos+s.len]
}

// put keeps a copy of b, which must not lie in the ring.
func (c *cache) put(key uint64, kind object.Kind, verified object.ID, b []byte) {
	if len(b) == 0 || len(b) > c.size/cacheShare {
		return
	}
	if c.slots == nil { // a reader of a few loose objects never comes here
		c.slots = make([]slot, max(64, c.size/minCached))
		c.byKey = make(map[uint64]int32, 1024)
	}
	if c.head+len(b) > len(c.ring) && len(c.ring) < c.size {
		c.grow(c.head + len(b))
	}
	if c.head+len(b) > len(c.ring) {
		c.evict(c.head, len(c.ring))
		c.head = 0
	}
	c.evict(c.head, c.head+len(b))
	if c.used == len(c.slots) {
		c.drop()
	}
	i := (c.first + c.used) % len(c.slots)
	c.used++
	c.slots[i] = slot{key: key, pos: c.head, len: len(b), kind: kind, verified: verified}
	c.byKey[key] = int32(i)
	copy(c.ring[c.head:], b)
	c.head += len(b)
}

// grow lengthens the ring, which has never gone round yet: a small repository never needs all of it.
func (c *cache) grow(need int) {
	size := min(c.size, max(2*len(c.ring), minRing, need))
	ring := make([]byte, size)
	copy(ring, c.ring[:c.head])
	c.ring = ring
}

// evict drops the oldest as long as they reach into the ring's bytes from lo to hi.
func (c *cache) evict(lo, hi int) {
	for c.used > 0 {
		s := &c.slots[c.first]
		if s.pos >= hi || s.pos+max(s.len, 1) <= lo {
			return
		}
		c.drop()
	}
}

func (c *cache) drop() {
	s := &c.slots[c.first]
	if c.byKey[s.key] == int32(c.first) {
		delete(c.byKey, s.key)
	}
	c.first = (c.first + 1) % len(c.slots)
	c.used--
}
