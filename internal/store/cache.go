package store

import "sync"

// How much is kept of frames that were decompressed: enough for neighbours read by a few goroutines each in its own
// directory, and for what wrote the lines of a file, which is changes from all of a history.
const (
	cachedFrames = 128
	cachedBytes  = 32 << 20
)

// frameCache holds the frames read last that have many items.
type frameCache struct {
	mu      sync.Mutex
	entries map[place]*cachedFrame
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
	have   int          // how many bytes of the contents are there
	loaded []byte       // they
	fields packedFields // of a CHANGES frame, once one of them was read

	// Whoever reads many contents of a large tree would make garbage of a megabyte for each: what is decompressed goes
	// into room that is used again once the frame has lost its place and nobody reads from it. The cache's lock guards these.
	readers int
	size    int  // counted in the cache's bytes
	out     bool // lost its place
	room    *[]byte
}

// rooms are of a frame of changes, of one of contents, and of the largest: each is made for all of it, since one for a
// little would be made again for the next.
var rooms [3]sync.Pool

var roomSizes = [len(rooms)]int{packedRecords + packedRecords/2, packedBlobs, maxRaw}

func roomClass(size int) int {
	for class, most := range roomSizes {
		if size <= most {
			return class
		}
	}
	return len(rooms) - 1
}

// roomFor returns room for so many bytes.
func roomFor(size int) *[]byte {
	class := roomClass(size)
	if room, ok := rooms[class].Get().(*[]byte); ok && cap(*room) >= size {
		return room
	}
	room := make([]byte, 0, max(size, roomSizes[min(class, 1)]))
	return &room
}

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
		c.room = roomFor(int(f.raw))
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
	if e := c.entries[p]; e != nil {
		e.used = c.clock
		e.readers++
		return e
	}
	e := &cachedFrame{at: p, used: c.clock, readers: 1}
	if c.entries == nil {
		c.entries = make(map[place]*cachedFrame, cachedFrames)
	}
	c.entries[p] = e
	if len(c.entries) > cachedFrames {
		c.dropOldest(e)
	}
	return e
}

// dropOldest takes away the entry that was unused for longest, but for one, and reports whether there was any. The caller holds mu.
func (c *frameCache) dropOldest(but *cachedFrame) bool {
	var old *cachedFrame
	for _, e := range c.entries {
		if e != but && (old == nil || e.used < old.used) {
			old = e
		}
	}
	if old == nil {
		return false
	}
	delete(c.entries, old.at)
	c.bytes -= old.size
	old.out = true
	old.giveBack()
	return true
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
	for c.bytes > cachedBytes && c.dropOldest(e) {
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
		rooms[roomClass(cap(*e.room))].Put(e.room)
		e.room, e.loaded, e.frame, e.fields = nil, nil, frame{}, packedFields{}
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
