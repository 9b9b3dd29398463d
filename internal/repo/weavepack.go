package repo

import (
	"encoding/binary"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// gc stores the weaves of a file anew. All blocks between two that a tree names become one, compressed. The file's latest
// snapshot is the dictionary of the others, which have little that it has not. And where an earlier snapshot is what some records make of
// the weave before it, the records stand in its place, and its text.

// blockSeveral is a block of several: each its length and payload, the oldest first. blockPlain is a snapshot whose text is not
// compressed, as all of the block will be. blockShown is the text that shows at its point of the chain.
const (
	blockSeveral = 3
	blockPlain   = 4
	blockShown   = 5
)

// blocksIn gives what a block holds, the oldest first.
func blocksIn(payload []byte) ([][]byte, error) {
	if len(payload) == 0 {
		return nil, errWeaveBlock
	}
	if payload[0] != blockSeveral {
		return [][]byte{payload}, nil
	}
	var list [][]byte
	for b := payload[1:]; len(b) > 0; {
		n, k := binary.Uvarint(b)
		if k <= 0 || n == 0 || n > uint64(len(b)-k) || b[k] == blockSeveral {
			return nil, errWeaveBlock
		}
		list, b = append(list, b[k:k+int(n)]), b[k+int(n):]
	}
	if len(list) == 0 {
		return nil, errWeaveBlock
	}
	return list, nil
}

// weaveStretch is what lies between two blocks that trees name.
type weaveStretch struct {
	head   state.Ref
	below  *weaveStretch // what it adds to, or none
	blocks [][]byte      // the latest first
	at     state.Ref     // where it is stored anew

	w *weave.Weave // with all of it

	fresh   bool // its latest block is a text that stays
	spaced  bool // its texts are spaced
	textAgo int  // then: blocks since a text
}

// weavePacking packs the weaves of one file.
type weavePacking struct {
	p    *state.WeavePacker
	text func(l *loaded) ([]byte, error) // what a weave shows
	of   map[state.Ref]*weaveStretch
	dict state.Ref
}

// packWeaves is what gc gives to package state.
func (r *Repo) packWeaves(p *state.WeavePacker, heads []state.Ref) error {
	w := weavePacking{p: p, text: func(l *loaded) ([]byte, error) { return r.render(nil, l) }, of: make(map[state.Ref]*weaveStretch, len(heads))}
	for _, h := range heads {
		w.of[h] = &weaveStretch{head: h}
	}
	for _, h := range heads {
		if err := w.read(w.of[h]); err != nil {
			return err
		}
	}
	// Bookmarks differ in few files, and in those by little: of one tree is enough.
	if err := w.fresh(w.of[heads[0]]); err != nil {
		return err
	}
	// The latest snapshot is where the chain of the latest weave begins.
	first := w.of[heads[0]]
	for first.below != nil {
		first = first.below
	}
	if err := w.thin(first); err != nil {
		return err
	}
	for _, h := range heads {
		w.of[h].fewerTexts()
	}
	if first.beginsWithSnapshot() {
		if err := w.put(first); err != nil {
			return err
		}
		if w.rest() >= minDictionary {
			w.dict = first.at
		}
	}
	for _, h := range heads {
		if err := w.put(w.of[h]); err != nil {
			return err
		}
	}
	return nil
}

// minDictionary is how much must be compressed with a dictionary for it to pay: making one ready takes time, writing and reading.
const minDictionary = 2 << 10

// rest is how much is not stored yet.
func (w *weavePacking) rest() (n int) {
	for _, s := range w.of {
		if s.at == 0 {
			for _, b := range s.blocks {
				n += len(b)
			}
		}
	}
	return n
}

// read follows a chain down to where it begins, or to another head.
func (w *weavePacking) read(s *weaveStretch) error {
	for ref := s.head; ref != 0; {
		if other := w.of[ref]; other != nil && ref != s.head {
			s.below = other
			return nil
		}
		prev, payload, err := w.p.Get(ref)
		if err != nil {
			return err
		}
		list, err := blocksIn(payload)
		if err != nil {
			return err
		}
		for i := len(list) - 1; i >= 0; i-- {
			s.blocks = append(s.blocks, list[i])
		}
		ref = prev
	}
	return nil
}

// put stores a stretch, after those that it adds to.
func (w *weavePacking) put(s *weaveStretch) error {
	var chain []*weaveStretch
	for ; s != nil && s.at == 0; s = s.below {
		chain = append(chain, s)
	}
	for _, s := range slices.Backward(chain) {
		var prev state.Ref
		if s.below != nil {
			prev = s.below.at
		}
		payload, err := s.encode()
		if err != nil {
			return err
		}
		if s.at, err = w.p.Put(prev, w.dict, payload); err != nil {
			return err
		}
		w.p.Moved(s.head, s.at)
	}
	return nil
}

func (s *weaveStretch) encode() ([]byte, error) {
	out := []byte{blockSeveral}
	for i := len(s.blocks) - 1; i >= 0; i-- {
		b, err := plainBlock(s.blocks[i])
		if err != nil {
			return nil, err
		}
		if len(s.blocks) == 1 {
			return b, nil
		}
		out = append(binary.AppendUvarint(out, uint64(len(b))), b...)
	}
	return out, nil
}

// plainBlock gives a snapshot with its text as it is, and any other block unchanged.
func plainBlock(b []byte) ([]byte, error) {
	if b[0] != blockSnapshot {
		return b, nil
	}
	var l loaded
	if err := l.snapshot(b, newUnzip); err != nil {
		return nil, weaveBlock(err)
	}
	n, k := binary.Uvarint(b[1:])
	plain := append([]byte{blockPlain}, b[1:1+k+int(n)]...)
	if len(plain)+len(l.text) > change.MaxText {
		return b, nil // whatever is that large stays as it is
	}
	return append(plain, l.text...), nil
}
