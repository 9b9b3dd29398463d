package store

import "sync"

// cachedFrames is how many decompressed frames are kept: 16 MiB of packed ones, enough for neighbours read by a few
// goroutines each in its own directory.
const cachedFrames = 32

// frameCache holds the frames read last that have many items.
type frameCache struct {
	mu      sync.Mutex
	entries [cachedFrames]*cachedFrame
	clock   uint64
}

type cachedFrame struct {
	at    place
	used  uint64
	once  sync.Once
	frame frame // with its contents decompressed
	err   error

	// Whoever reads many contents of a large tree would make garbage of half a megabyte for each: what is decompressed goes
	// into room that is used again once the frame has lost its place and nobody reads from it.
	readers int
	out     bool // lost its place
	room    *[]byte
}

var frameRoom = sync.Pool{New: func() any { return new([]byte) }}

func (c *cachedFrame) load(s *Store) {
	f, err := s.frame(c.at)
	if err != nil {
		c.err = err
		return
	}
	contents := f.stored
	if f.codec != codecRaw {
		c.room = frameRoom.Get().(*[]byte)
		*c.room, err = decompress((*c.room)[:0], f.stored, int(f.raw))
		contents = *c.room
	}
	if err != nil {
		c.err = s.damaged(c.at, err)
		return
	}
	f.codec, f.stored = codecRaw, contents
	c.frame = f
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
	if old := c.entries[oldest]; old != nil {
		old.out = true
		old.giveBack()
	}
	c.entries[oldest] = e
	return e
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
		e.room, e.frame = nil, frame{}
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
	c := s.frames.get(p)
	c.once.Do(func() { c.load(s) })
	return c.frame, c.err
}

// holder is the frame that has a record: in a base one with many, which is cached, otherwise one of its own.
func (s *Store) holder(p place) (frame, error) {
	if l := s.logOf(p); p < l.packed.end && l.based {
		return s.cached(p)
	}
	return s.frame(p)
}
