package weave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/oxy-vcs/oxy/internal/change"
)

// ErrDamaged says that an encoded weave cannot be read. A weave is derived: it can be made again from changes.
var ErrDamaged = errors.New("damaged weave")

// Bits of a run's byte.
const (
	runHead = 1 << iota
	runLeft
	runHasRight
	runDead
	runFollows // it goes on where the run before it ends: change and offset are not written
	runOwn     // both covers are just its own change
	runInside  // the inside is covered by more than its own change
	runChain   // a head on the right of where the run before it ends: its parent is not written
)

// Bits beside a source's ordinal.
const (
	sourceHash = 1 << iota
	sourceUndoes
	sourceRestores
	sourceSolves
	sourceBits = iota
)

// Encode appends the weave's encoding (docs/spec/weave.md).
func (w *Weave) Encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(w.Sources)))
	last := uint32(0)
	for i := range w.Sources {
		b = w.appendSource(b, i, last)
		last = w.Sources[i].Change
	}
	b = binary.AppendUvarint(b, uint64(len(w.sets)))
	for _, m := range w.sets {
		b = appendNumbers(b, m)
	}
	b = appendCover(b, w.Tail)
	b = binary.AppendUvarint(b, uint64(len(w.Runs)))
	var prev Run
	for i := range w.Runs {
		b = w.appendRun(b, &w.Runs[i], &prev)
		prev = w.Runs[i]
	}
	b = w.appendTurned(b)
	b = binary.AppendUvarint(b, uint64(len(w.twins)))
	for _, t := range w.twins {
		b = binary.AppendUvarint(b, uint64(t.len))
		b = binary.AppendUvarint(b, uint64(len(t.at)))
		for _, p := range t.at {
			b = binary.AppendUvarint(b, uint64(p.Change))
			b = binary.AppendUvarint(b, uint64(p.Off))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(w.open)))
	for _, p := range w.open {
		for _, id := range p {
			b = binary.AppendUvarint(b, uint64(id.Change))
			b = binary.AppendUvarint(b, uint64(id.Index))
		}
	}
	return b
}

// appendSource writes where a change's text lies and what the change did.
func (w *Weave) appendSource(b []byte, i int, last uint32) []byte {
	s, a := &w.Sources[i], &w.acts[i]
	b = binary.AppendUvarint(b, uint64(s.Change-last))
	b = binary.AppendUvarint(b, uint64(s.Ord)<<sourceBits|uint64(boolBit(s.Hash != change.Hash{})*sourceHash|
		boolBit(a.undo != nil)*sourceUndoes|boolBit(a.restores)*sourceRestores|boolBit(a.solves)*sourceSolves))
	b = binary.AppendUvarint(b, uint64(s.Size))
	if s.Hash != (change.Hash{}) {
		b = append(b, s.Hash[:]...)
	}
	if a.undo != nil {
		b = binary.AppendUvarint(b, uint64(*a.undo))
	}
	raw := a.encoded()
	b = binary.AppendUvarint(b, uint64(len(raw)))
	return append(b, raw...)
}

// appendNumbers writes ascending numbers.
func appendNumbers(b []byte, m []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	last := uint32(0)
	for _, c := range m {
		b = binary.AppendUvarint(b, uint64(c-last))
		last = c
	}
	return b
}

// appendTurned writes which runs are turned.
func (w *Weave) appendTurned(b []byte) []byte {
	var m []uint32
	for i := range w.Runs {
		if w.Runs[i].Turned {
			m = append(m, uint32(i))
		}
	}
	return appendNumbers(b, m)
}

func (w *Weave) appendRun(b []byte, r, prev *Run) []byte {
	prevEnd := change.Pos{Change: prev.Change, Off: prev.Off + prev.Len}
	if prev.Len == 0 {
		prevEnd = change.Start
	}
	own := w.isOwn(r.Before, r.Change)
	inside := !w.isOwn(r.Inside, r.Change)
	follows := prev.Len > 0 && prevEnd == change.Pos{Change: r.Change, Off: r.Off}
	chain := r.Head && !r.Left && r.Parent == prevEnd
	b = append(b, boolBit(r.Head)*runHead|boolBit(r.Left)*runLeft|boolBit(r.HasRight)*runHasRight|boolBit(r.Dead != 0)*runDead|
		boolBit(follows)*runFollows|boolBit(own)*runOwn|boolBit(inside)*runInside|boolBit(chain)*runChain)
	if !follows {
		b = binary.AppendUvarint(b, uint64(r.Change))
		b = binary.AppendUvarint(b, uint64(r.Off))
	}
	b = binary.AppendUvarint(b, uint64(r.Len))
	if r.Head && !chain {
		if r.Parent == change.Start {
			b = append(b, 0)
		} else {
			b = binary.AppendUvarint(b, uint64(r.Parent.Change)+1)
			b = binary.AppendUvarint(b, uint64(r.Parent.Off))
		}
	}
	if r.Dead != 0 {
		b = binary.AppendUvarint(b, uint64(r.Dead))
	}
	if !own {
		b = appendCover(b, r.Before)
	}
	if inside {
		b = appendCover(b, r.Inside)
	}
	return b
}

func (w *Weave) isOwn(c Cover, ch uint32) bool {
	m := w.Members(c.Add)
	return c.Del == 0 && len(m) == 1 && m[0] == ch
}

func appendCover(b []byte, c Cover) []byte {
	b = binary.AppendUvarint(b, uint64(c.Add))
	return binary.AppendUvarint(b, uint64(c.Del))
}

func boolBit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// Decode reads what Encode wrote.
func Decode(b []byte) (*Weave, error) {
	d := decoder{b: bytes.Clone(b)} // the hunks stay encoded until they are wanted
	w := &Weave{}
	n := d.count(4)
	w.Sources, w.acts = make([]Source, n), make([]act, n)
	last := uint32(0)
	for i := range w.Sources {
		d.source(w, i, last)
		last = w.Sources[i].Change
	}
	w.sets = make([][]uint32, d.count(2))
	for i := range w.sets {
		w.sets[i] = d.numbers()
	}
	w.Tail = d.cover(w)
	w.Runs = make([]Run, d.count(2))
	var prev Run
	for i := range w.Runs {
		d.run(w, &w.Runs[i], &prev)
		prev = w.Runs[i]
	}
	for _, i := range d.numbers() {
		if int(i) >= len(w.Runs) || w.Runs[i].Turned {
			d.bad = true
			break
		}
		w.Runs[i].Turned = true
	}
	w.twins = make([]twins, d.count(6))
	for i := range w.twins {
		d.twins(w, &w.twins[i])
	}
	w.odd = w.odd || len(w.twins) > 0
	w.open = make([]Pair, d.count(4))
	for i := range w.open {
		for k := range w.open[i] {
			id := HunkID{d.uint32(), d.uint32()}
			if _, ok := w.source(id.Change); !ok {
				d.bad = true
			}
			w.open[i][k] = id
		}
		if i > 0 && comparePairs(w.open[i-1], w.open[i]) >= 0 {
			d.bad = true
		}
	}
	if len(d.b) > 0 {
		d.bad = true
	}
	if d.bad {
		return nil, ErrDamaged
	}
	return w, nil
}

func (d *decoder) source(w *Weave, i int, last uint32) {
	s, a := &w.Sources[i], &w.acts[i]
	s.Change = last + d.uint32()
	if i > 0 && s.Change <= last {
		d.bad = true
	}
	ord := d.uvarint()
	s.Ord, s.Size = uint32(ord>>sourceBits), d.uint32()
	if ord>>sourceBits > math.MaxUint32 {
		d.bad = true
	}
	if ord&sourceHash != 0 {
		copy(s.Hash[:], d.bytes(uint64(len(s.Hash))))
	}
	if ord&sourceUndoes != 0 {
		undone := d.uint32()
		a.undo = &undone
	}
	a.restores, a.solves = ord&sourceRestores != 0, ord&sourceSolves != 0
	w.odd = w.odd || a.restores || a.undo != nil
	if raw := d.bytes(d.uvarint()); len(raw) > 0 {
		a.raw = raw
	}
}

func (d *decoder) twins(w *Weave, t *twins) {
	t.len = d.uint32()
	t.at = make([]change.Pos, d.count(2))
	for i := range t.at {
		p := change.Pos{Change: d.uint32(), Off: d.uint32()}
		if s, ok := w.Source(p.Change); !ok || uint64(p.Off)+uint64(t.len) > uint64(s.Size) {
			d.bad = true
		}
		t.at[i] = p
	}
	if t.len == 0 || len(t.at) < 2 {
		d.bad = true
	}
}

func (d *decoder) run(w *Weave, r, prev *Run) {
	if len(d.b) == 0 {
		d.bad = true
		return
	}
	flags := d.b[0]
	d.b = d.b[1:]
	r.Head, r.Left, r.HasRight = flags&runHead != 0, flags&runLeft != 0, flags&runHasRight != 0
	if flags&runFollows != 0 {
		r.Change, r.Off = prev.Change, prev.Off+prev.Len
	} else {
		r.Change, r.Off = d.uint32(), d.uint32()
	}
	r.Len = d.uint32()
	if r.Len == 0 || uint64(r.Off)+uint64(r.Len) > math.MaxUint32 {
		d.bad = true
	}
	switch {
	case !r.Head:
	case flags&runChain != 0:
		r.Parent = change.Pos{Change: prev.Change, Off: prev.Off + prev.Len}
		if prev.Len == 0 {
			r.Parent = change.Start
		}
	default:
		if c := d.uvarint(); c == 0 {
			r.Parent = change.Start
		} else {
			r.Parent = change.Pos{Change: uint32(c - 1), Off: d.uint32()}
		}
	}
	if flags&runDead != 0 {
		r.Dead = d.set(w)
	}
	if flags&runOwn != 0 {
		r.Before = Cover{Add: w.single(r.Change)}
	} else {
		r.Before = d.cover(w)
	}
	if flags&runInside != 0 {
		r.Inside = d.cover(w)
	} else {
		r.Inside = Cover{Add: w.single(r.Change)}
	}
}

// decoder reads from b; after the first fault it gives zeros and bad stays set.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.bad = true
	}
	return uint32(v)
}

// count reads how many items of at least size bytes follow.
func (d *decoder) count(size int) int {
	v := d.uvarint()
	if v > uint64(len(d.b)/size) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(v)
}

// bytes gives the next n bytes of what is decoded, not a copy.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

// numbers reads what appendNumbers wrote.
func (d *decoder) numbers() []uint32 {
	m := make([]uint32, d.count(1))
	last := uint32(0)
	for i := range m {
		m[i] = last + d.uint32()
		if i > 0 && m[i] <= last {
			d.bad = true
		}
		last = m[i]
	}
	return m
}

func (d *decoder) set(w *Weave) Set {
	v := d.uvarint()
	if v > uint64(len(w.sets)) {
		d.bad = true
		return 0
	}
	return Set(v)
}

func (d *decoder) cover(w *Weave) Cover { return Cover{d.set(w), d.set(w)} }

func (w *Weave) String() string {
	s := ""
	for _, r := range w.Runs {
		s += fmt.Sprintf("[%d %d+%d %v]", r.Change, r.Off, r.Len, w.Members(r.Dead))
	}
	return s
}
