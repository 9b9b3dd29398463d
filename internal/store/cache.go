package store

import "sync"

// How much is kept of frames that were decompressed: enough for neighbours read by a few goroutines each in its own
// directory.
const (
	cachedFrames = 32
	cachedBytes  = 24 << 20
)

// frameCache holds the frames read last that have many items.
type frameCache struct {
	mu      sync.Mutex
	entries [cachedFrames]*cachedFrame
	bytes   int // of what the entries have decompressed
	clock   uint64
}

type cachedFrame struct {
	at   place
	used uint64

	mu     sync.Mutex // held by whoever loads more of it, and copies what may still grow
	begun  bool
	frame  frame // as stored
	err    error
	have   int    // how many bytes of the contents are there
	loaded []byte // they

	// Whoever reads many contents of a large tree would make garbage of a megabyte for each: what is decompressed goes
	// into room that is used again once the frame has lost its place and nobody reads from it. The cache's lock guards these.
	readers int
	size    int  // counted in the cache's bytes
	out     bool // lost its place
	room    *[]byte
}

var frameRoom = sync.Pool{New: func() any { return new([]byte) }}

// begin reads the frame itself. The caller holds c.mu, as for load.
func (c *cachedFrame) begin(s *Store) error {
	if !c.begun {
		c.begun = true
		c.frame, c.err = s.frame(c.at)
	}
	return c.err
}

// load sees to it that the first need bytes of the contents are there. Who wants one content of a frame mostly wants no other:
// at first only what lies before its end is decompressed, and all with the second that lies behind.
func (c *cachedFrame) load(s *Store, need int) error {
	if err := c.begin(s); err != nil || c.loaded != nil && need <= c.have {
		return err
	}
	f := &c.frame
	if f.codec == codecRaw {
		c.loaded, c.have = f.stored, len(f.stored)
		return nil
	}
	if c.room == nil {
		c.room = frameRoom.Get().(*[]byte)
		if cap(*c.room) < int(f.raw) { // for all of it, and for most others: room for a little would be made again for each frame
			*c.room = make([]byte, 0, max(f.raw, packedBlobs))
		}
	} else {
		need = int(f.raw)
	}
	b, err := decompressPrefix((*c.room)[:0], f.stored, int(f.raw), need)
	if err != nil {
		c.err = s.damaged(c.at, err)
		return c.err
	}
	*c.room, c.loaded, c.have = b, b, len(b)
	s.frames.grew(c, len(b))
	return nil
}

// whole is the frame with all of its contents.
func (c *cachedFrame) whole(s *Store) (frame, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(s); err != nil {
		return frame{}, err
	}
	if err := c.load(s, int(c.frame.raw)); err != nil {
		return frame{}, err
	}
	f := c.frame
	f.codec, f.stored = codecRaw, c.loaded
	return f, nil
}

// appendItem appends the content of r.
func (c *cachedFrame) appendItem(dst []byte, s *Store, r blobRecord) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(s); err != nil {
		return dst, err
	}
	from, to, err := itemSpan(c.frame, r)
	if err != nil {
		return dst, s.damaged(r.at, err)
	}
	if err := c.load(s, to); err != nil {
		return dst, err
	}
	if to > c.have {
		return dst, s.damaged(r.at, errBlob)
	}
	return append(dst, c.loaded[from:to]...), nil
}

// get returns the entry for the frame at p, making room for it in place of the one unused for longest. Whoever calls release
// after it may read from it until then, who does not for good.
func (c *frameCache) get(p place) *cachedFrame {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	oldest := 0
	for i, e := range c.entries {
		if e == nil {
			oldest = i
			break
		}
		if e.at == p {
			e.used = c.clock
			e.readers++
			return e
		}
		if e.used < c.entries[oldest].used {
			oldest = i
		}
	}
	e := &cachedFrame{at: p, used: c.clock, readers: 1}
	c.drop(oldest)
	c.entries[oldest] = e
	return e
}

// drop takes away the entry at i. The caller holds mu.
func (c *frameCache) drop(i int) {
	old := c.entries[i]
	if old == nil {
		return
	}
	c.entries[i] = nil
	c.bytes -= old.size
	old.out = true
	old.giveBack()
}

// grew takes notice that an entry has so many bytes now, and makes room for them in place of others.
func (c *frameCache) grew(e *cachedFrame, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.out {
		return
	}
	c.bytes += size - e.size
	e.size = size
	for c.bytes > cachedBytes {
		oldest := -1
		for i, o := range c.entries {
			if o != nil && o != e && (oldest < 0 || o.used < c.entries[oldest].used) {
				oldest = i
			}
		}
		if oldest < 0 {
			return
		}
		c.drop(oldest)
	}
}

func (c *frameCache) release(e *cachedFrame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.readers--
	e.giveBack()
}

// giveBack is called with the cache's lock held.
func (e *cachedFrame) giveBack() {
	if e.out && e.readers == 0 && e.room != nil {
		frameRoom.Put(e.room)
		e.room, e.loaded, e.frame = nil, nil, frame{}
	}
}

// frame reads and checks the frame at p. A place means the same for as long as the store is open, in whichever log.
func (s *Store) frame(p place) (frame, error) { return s.logOf(p).frame(p) }

// logOf returns the log that has p: segments are numbered on from one log to the next.
func (s *Store) logOf(p place) *log {
	logs := *s.logs.Load()
	i := len(logs) - 1
	for i > 0 && p.segment() < logs[i].first {
		i--
	}
	return logs[i]
}

// cached is frame for those with many items. It comes with its contents decompressed.
func (s *Store) cached(p place) (frame, error) {
	return s.frames.get(p).whole(s)
}

// holder is the frame that has a record: in a base one with many, which is cached, otherwise one of its own.
func (s *Store) holder(p place) (frame, error) {
	if l := s.logOf(p); p < l.packed.end && l.based {
		return s.cached(p)
	}
	return s.frame(p)
}
