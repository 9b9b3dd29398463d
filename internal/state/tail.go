package state

import (
	"io"
	"sort"
)

// tail is what was put and is in no mapping. It lies in chunks that are never moved, so that what was put is not copied when more
// comes: trees that stay in memory are a hundred MiB, and grew by half again each time. No block lies in two chunks.
type tail struct {
	chunks []tailChunk
	size   int
}

type tailChunk struct {
	at   int // in the tail
	data []byte
}

// A chunk has room for as much as there is already, within these.
const (
	smallChunk = 4 << 10
	largeChunk = 1 << 20
)

// put appends a block.
func (t *tail) put(head, payload []byte) {
	need := len(head) + len(payload)
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last].data)-len(t.chunks[last].data) < need {
		room := max(need, min(max(t.size, smallChunk), largeChunk))
		t.chunks = append(t.chunks, tailChunk{at: t.size, data: make([]byte, 0, room)})
		last++
	}
	c := &t.chunks[last]
	c.data = append(append(c.data, head...), payload...)
	t.size += need
}

// from gives the chunk that an offset lies in, and where in it.
func (t *tail) from(off uint64) ([]byte, uint64) {
	if off >= uint64(t.size) {
		return nil, 0
	}
	i := sort.Search(len(t.chunks), func(i int) bool { return uint64(t.chunks[i].at) > off }) - 1
	return t.chunks[i].data, off - uint64(t.chunks[i].at)
}

// writeFrom writes what lies from an offset on.
func (t *tail) writeFrom(off int, w io.WriterAt, at int64) error {
	for i := range t.chunks {
		c := &t.chunks[i]
		if off >= c.at+len(c.data) {
			continue
		}
		skip := max(0, off-c.at)
		if _, err := w.WriteAt(c.data[skip:], at+int64(c.at+skip-off)); err != nil {
			return err
		}
	}
	return nil
}
