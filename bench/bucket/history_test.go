package bucket

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/bucket"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

const (
	packSize    = 2300 << 10 // what eight packs of eight packs come to, and more
	pieceSize   = 16 << 20
	segmentSize = 256 << 10
	prefix      = "team"
)

// history is a bucket as years of pushes leave it: packs of a little over 2 MiB, in segments of 256 KiB.
type history struct {
	t     *testing.T
	rnd   *rand.Rand
	s     *storage
	root  bucket.Root
	main  [32]byte
	count uint64 // changes of main
	words []string
	past  map[string][32]byte // of main, by how long ago
	at    map[[32]byte]uint64 // their generations
}

func newHistory(t *testing.T) *history {
	h := &history{t: t, rnd: rand.New(rand.NewPCG(1, 1)), s: &storage{objects: map[string]object{}}, past: map[string][32]byte{}, at: map[[32]byte]uint64{}}
	h.root = bucket.Root{First: "main", Swept: uint64(time.Now().Unix())}
	for range 4000 {
		w := make([]byte, 3+h.rnd.IntN(9))
		for i := range w {
			w[i] = byte('a' + h.rnd.IntN(26))
		}
		h.words = append(h.words, string(w))
	}
	return h
}

func random32(rnd *rand.Rand) (id [32]byte) {
	for i := 0; i < 32; i += 8 {
		binary.LittleEndian.PutUint64(id[i:], rnd.Uint64())
	}
	return id
}

// text is what people write: words, some more often than others.
func (h *history) text(rnd *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		b = append(append(b, h.words[rnd.IntN(1+rnd.IntN(len(h.words)))]...), ' ')
	}
	return b[:n]
}

// send writes one change: a message, ids of changes that it builds on, and ten lines.
func (h *history) send(w *sync.Writer, rnd *rand.Rand) (change.ID, error) {
	id := change.ID(random32(rnd))
	meta := h.text(rnd, 80+rnd.IntN(120))
	dep := random32(rnd)
	body := append(dep[:], h.text(rnd, 200+rnd.IntN(600))...)
	return id, w.Change(&sync.Change{ID: id, Meta: meta, Body: body, Change: &change.Change{}}, nil)
}

// grow adds pushes of a few changes each until there are n more changes. What they hold is kept only if real.
func (h *history) grow(n int, real bool) {
	for n > 0 {
		n = h.pack(n, real)
	}
}

// pack adds one pack, and gives how many changes are left to add.
func (h *history) pack(n int, real bool) int {
	var data bytes.Buffer
	var table bucket.Table
	size := uint64(0)
	for size < packSize && n > 0 {
		var moves []bucket.Move
		from := data.Len()
		w, err := sync.NewWriter(&data, sync.Zstd)
		if err != nil {
			h.t.Fatal(err)
		}
		check(h.t, w.Bundle(false))
		for begin := w.Sent(); (real && w.Sent()-begin < 3*segmentSize || !real && len(moves) < segmentSize/bytesAPush) && n > 0; {
			u := &sync.Update{Kind: sync.Bookmark, Name: "main", Base: h.main, State: random32(h.rnd)}
			for range min(1+h.rnd.IntN(4), n) {
				id := change.ID(random32(h.rnd))
				if real {
					id, err = h.send(w, h.rnd)
					check(h.t, err)
				}
				u.Added = append(u.Added, id)
			}
			n -= len(u.Added)
			if real {
				check(h.t, w.Update(u))
			}
			h.root.Generation++
			moves = append(moves, bucket.Move{Generation: h.root.Generation, State: u.State, Base: h.main, BaseGeneration: h.at[h.main]})
			delete(h.at, h.main)
			h.main = u.State
			h.at[h.main] = h.root.Generation
			h.count += uint64(len(u.Added))
		}
		check(h.t, w.Close())
		s := bucket.Segment{Bytes: uint64(data.Len() - from), Moves: moves}
		if !real {
			data.Truncate(from)
			s.Bytes = segmentSize
		}
		size += s.Bytes
		table = append(table, s)
	}
	encoded := table.Encode()
	p := bucket.Pack{From: table[0].Moves[0].Generation, To: h.root.Generation, Data: size, Table: uint64(len(encoded)), Check: xxh3.Hash(encoded)}
	r := random32(h.rnd)
	copy(p.Key[:], r[:])
	h.root.Packs = append(h.root.Packs, p)
	o := object{data: append(data.Bytes(), encoded...), modified: time.Now().Add(-30 * 24 * time.Hour)}
	if !real {
		o.hole = int64(size)
	}
	h.split(p.Key, o)
	return n
}

// split puts an object down in pieces.
func (h *history) split(key bucket.Key, o object) {
	total := o.hole + int64(len(o.data))
	for i, at := 0, int64(0); at < total; i, at = i+1, at+pieceSize {
		end := min(at+pieceSize, total)
		part := object{modified: o.modified, hole: max(min(o.hole, end)-at, 0)}
		part.data = o.data[max(at, o.hole)-o.hole : max(end, o.hole)-o.hole]
		h.s.objects[fmt.Sprintf("%s/packs/%s/%d", prefix, key, i)] = part
	}
}

// bytesAPush is what a push of two or three changes takes in a large segment; the test holds it against what they took.
const bytesAPush = 830

// finish names main and others, and writes the root.
func (h *history) finish(names int) {
	h.root.Names = []bucket.Name{{Kind: sync.Bookmark, Name: "main", State: h.main, Len: h.count, Generation: h.at[h.main]}}
	for i := range names {
		h.root.Names = append(h.root.Names, bucket.Name{Kind: sync.Bookmark, Name: fmt.Sprintf("people/%06d/topic", i), State: h.main, Len: h.count, Generation: h.at[h.main]})
	}
	h.s.objects[prefix+"/root"] = object{data: h.root.Encode(), etag: "grown", modified: time.Now()}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
