package repo

import (
	"encoding/binary"
	"slices"
)

// What is read most are the weaves of the latest trees. gc puts what shows there beside them, so that who blames such a file reads
// of changes only who made them, and where many records lie behind the snapshot, a snapshot of now. Both take little: the text is in what
// they are compressed with.
const (
	// freshMost is up to what length: what lies between two trees is one block.
	freshMost = 16 << 20
	// freshText is from how many records since a text on: each costs a reader a frame of changes.
	freshText = 4
	// A snapshot is made where so many records lie behind the last, and weigh so large a share of it.
	freshRecords = 32
	freshShare   = 16
)

// fresh makes what is read of a stretch's weave quick to read. Where its text cannot be had, it stays as it is.
func (w *weavePacking) fresh(s *weaveStretch) error {
	var chain [][]byte
	for t := s; t != nil; t = t.below {
		chain = append(chain, t.blocks...)
	}
	if chain[0][0] == blockShown {
		s.fresh = true // of the last time
		return nil
	}
	since := 0 // records since the snapshot: a text between them may be dropped as too close behind another
	for _, b := range chain {
		if isSnapshot(b) {
			break
		}
		if b[0] != blockShown {
			since++
		}
	}
	if since < freshText {
		return nil
	}
	l, err := build(nil, chain, newUnzip)
	if err != nil {
		return err
	}
	if l.text == nil { // it would be stored once more: nothing that it is compressed with has it
		return nil
	}
	if len(l.w.Open()) > 0 || l.w.Size() == 0 || l.w.Size() > freshMost {
		return nil
	}
	text, err := w.text(l)
	if err != nil || uint64(len(text)) != l.w.Size() {
		return nil
	}
	if l.length >= freshRecords && l.weight > l.base/freshShare {
		enc := l.w.Encode(nil)
		b := append(binary.AppendUvarint([]byte{blockPlain}, uint64(len(enc))), enc...)
		s.blocks, s.below = [][]byte{append(b, text...)}, nil
		return nil
	}
	s.blocks = slices.Insert(s.blocks, 0, append([]byte{blockShown}, text...))
	s.fresh = true
	return nil
}
