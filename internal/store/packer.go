package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
)

func hashOf(b []byte) change.Hash { return blake3.Sum256(b) }

// placeSize is how much a packer gathers before it writes: a write call for each frame would cost more than copying.
const placeSize = 1 << 20

// Packer puts contents. Each goroutine takes its own: it compresses there, and what it has packed is written beside
// what others write.
type Packer struct {
	tx    *Tx
	table []byte // of the small contents gathered
	raw   []byte // the small contents
	out   []byte // finished frames, without checksums
	refs  []frameRef
}

// frameRef is a finished frame in a packer, whose records wait for its place.
type frameRef struct {
	off    int
	kind   frameKind
	states []stateRef
}

// Packer returns a new packer. Commit flushes it.
func (tx *Tx) Packer() *Packer {
	p := &Packer{tx: tx}
	tx.mu.Lock()
	tx.packers = append(tx.packers, p)
	tx.mu.Unlock()
	return p
}

// claim reports whether a content must be put: no one else has, here or earlier.
func (tx *Tx) claim(h change.Hash) (bool, error) {
	if _, ok := tx.s.findBlob(h); ok {
		return false, nil
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.over {
		return false, ErrDone
	}
	if _, ok := tx.claimed[h]; ok || tx.err != nil {
		return false, tx.err
	}
	tx.claimed[h] = struct{}{}
	return true, nil
}

// Put adds a content, unless the store has it. The hash is the caller's word for data, which is not kept.
func (p *Packer) Put(h change.Hash, data []byte) error {
	if len(data) > maxBlob {
		return p.putLarge(h, data)
	}
	mine, err := p.tx.claim(h)
	if err != nil || !mine {
		return err
	}
	if len(data) < smallBlob {
		p.table = binary.LittleEndian.AppendUint32(append(p.table, h[:]...), uint32(len(data)))
		p.raw = append(p.raw, data...)
		if len(p.raw) < packSize && len(p.table) < maxBlobItems*blobItem {
			return nil
		}
		p.pack()
		return p.placeIfFull()
	}
	var start int
	p.out, start = beginFrame(p.out)
	p.out = binary.LittleEndian.AppendUint32(append(p.out, h[:]...), uint32(len(data)))
	p.endBlobs(start, 1, data)
	return p.placeIfFull()
}

func (p *Packer) putLarge(h change.Hash, data []byte) error {
	if _, ok := p.tx.s.findBlob(h); ok {
		return nil
	}
	got, _, err := p.putChunks(bytes.NewReader(data))
	if err == nil && got != h {
		err = p.tx.failWith(fmt.Errorf("store content %s: %w", h, errBlobHash))
	}
	return err
}

// pack makes a frame of the small contents gathered.
func (p *Packer) pack() {
	if len(p.table) == 0 {
		return
	}
	var start int
	p.out, start = beginFrame(p.out)
	p.out = append(p.out, p.table...)
	p.endBlobs(start, len(p.table)/blobItem, p.raw)
	p.table, p.raw = p.table[:0], p.raw[:0]
}

func (p *Packer) endBlobs(start, items int, contents []byte) {
	p.out = endFrame(p.out, start, kindBlobs, 0, items, contents)
	p.refs = append(p.refs, frameRef{off: start, kind: kindBlobs})
}

func (p *Packer) placeIfFull() error {
	if len(p.out) < placeSize {
		return nil
	}
	return p.place()
}

// Flush writes what was put, not yet durably. Commit does it, too.
func (p *Packer) Flush() error {
	p.pack()
	return p.place()
}

// place gives the finished frames their places and writes them.
func (p *Packer) place() error {
	if len(p.out) == 0 {
		return p.tx.usable()
	}
	w, err := p.tx.reserve(p)
	if err != nil {
		return err
	}
	for _, r := range p.refs {
		size := sizeOf(p.out[r.off:])
		seal(p.out[r.off:r.off+size], p.tx.batch.logID, w.at+place(r.off))
	}
	_, err = w.file.WriteAt(p.out, int64(w.at.off()))
	if err != nil {
		return p.tx.failWith(fmt.Errorf("write %s: %w", p.tx.t.log.display(w.at.segment()), err))
	}
	p.tx.early.wrote(w, len(p.out))
	p.out, p.refs = p.out[:0], p.refs[:0]
	return nil
}

// sizeOf returns the length of a frame that this process made.
func sizeOf(b []byte) int {
	h := header{stored: binary.LittleEndian.Uint32(b[20:])}
	return int(h.size())
}

// reserve gives a packer's frames their place and records them in the batch, in the order of their places.
func (tx *Tx) reserve(p *Packer) (w written, err error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.over {
		return w, ErrDone
	}
	if tx.err != nil {
		return w, tx.err
	}
	if tx.at.off() >= tx.s.segmentMax || tx.at == tx.t.log.packed.end && tx.at.off() >= tx.s.sealMin {
		if err := tx.nextSegment(); err != nil {
			tx.err = err
			return w, err
		}
	}
	w = written{tx.file, tx.at}
	for _, r := range p.refs {
		if err := tx.batch.addRef(p.out[r.off:], r, tx.at+place(r.off)); err != nil {
			tx.err = err
			return w, err
		}
	}
	tx.at += place(len(p.out))
	return w, nil
}

// addRef takes the records of a frame that this process made. They are checked like those of a log that is read: what
// this refuses could not be read back.
func (b *batch) addRef(buf []byte, r frameRef, p place) error {
	if r.kind == kindStates {
		for i := range r.states {
			b.addState(&r.states[i].State, p, r.states[i].off)
		}
		return nil
	}
	h, err := parseHeader(buf)
	if err != nil {
		return err
	}
	return b.addFrame(splitFrame(buf[:h.size()], h), p)
}

// nextSegment goes on in a new file. The caller holds mu.
func (tx *Tx) nextSegment() error {
	n := tx.at.segment() + 1
	if n-tx.t.log.first >= maxSegments || n > maxSegmentNumber {
		return errFull
	}
	name := segmentName(tx.s.dir, n)
	f, err := tx.s.fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return fmt.Errorf("begin a segment: %w", err)
	}
	tx.older = append(tx.older, tx.file)
	tx.file = f
	if _, err := f.WriteAt(segmentFrame(n, tx.batch.logID, tx.at.off()), 0); err != nil {
		return fmt.Errorf("begin a segment: %w", err)
	}
	// A synced file under a lost name is lost.
	if err := tx.s.fsys.SyncDir(filepath.Join(tx.s.dir, "log")); err != nil {
		return fmt.Errorf("begin a segment: %w", err)
	}
	tx.at = placeAt(n, segmentStart)
	return nil
}
