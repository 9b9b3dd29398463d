package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// segmentSize is where a segment is full: the frame that passes it is the last. Places have 32 bits of offset, which
// leaves room for the largest frame after it.
const segmentSize = 1 << 30

// sealMin is from how many bytes on what was packed stays a file of its own: commits go on in the segment after it, so that a
// clone on the same disk may link it. Smaller ones are copied as fast as another file is made.
const sealMin = 8 << 20

// maxSegment is what a segment's file may hold at most.
const maxSegment = 1<<32 - 1

// remapMin is how much a segment must have grown before it is mapped anew; until then what is new is read. It grows
// with the segment, so that a process which lives long holds few mappings.
const remapMin = 1 << 20

// log reads the segments. Only what is committed is mapped: no writer ever truncates that.
type log struct {
	fsys   vfs.FS
	dir    string
	id     uint64
	first  uint32        // the segment that it begins with
	based  bool          // which is a base
	start  place         // of the first frame after the segment's own
	packed standing      // where the log stands behind what the base holds; at start without one
	drops  uint32        // how often what it holds was numbered anew
	end    atomic.Uint64 // the place after the last op that is committed

	mu   sync.Mutex // guards growing of segs and mapping
	segs atomic.Pointer[[]*segment]
}

// segment is one open file of the log.
type segment struct {
	name     string
	number   uint32
	file     vfs.File
	full     atomic.Int64 // its length once the log has gone on, or 0
	mapped   atomic.Pointer[[]byte]
	mappings []vfs.Mapping // all that were made; slices of the older ones may still be in use
}

// name is the file of a segment.
func (l *log) name(n uint32) string {
	if n == l.first && l.based {
		return logName(l.dir, n, baseSuffix)
	}
	return segmentName(l.dir, n)
}

// segment returns an open segment, or an error that is fs.ErrNotExist when there is none.
func (l *log) segment(n uint32) (*segment, error) {
	i := n - l.first // of a number below, a huge one
	if segs := l.segs.Load(); segs != nil && uint64(i) < uint64(len(*segs)) {
		if s := (*segs)[i]; s != nil {
			return s, nil
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var segs []*segment
	if p := l.segs.Load(); p != nil {
		segs = *p
	}
	if i >= maxSegments || n > maxSegmentNumber {
		return nil, fmt.Errorf("open segment %d: %w", n, fs.ErrNotExist)
	}
	if int(i) < len(segs) && segs[i] != nil {
		return segs[i], nil
	}
	name := l.name(n)
	f, err := l.fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	s := &segment{name: name, number: n, file: f}
	grown := make([]*segment, max(len(segs), int(i)+1))
	copy(grown, segs)
	grown[i] = s
	l.segs.Store(&grown)
	return s, nil
}

// maxSegments bounds the log: 64 TiB.
const maxSegments = 1 << 16

// forget closes the segments from n on, whose files are about to be removed. Nothing of them was ever committed.
func (l *log) forget(n uint32) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.segs.Load()
	i := int(n - l.first)
	if p == nil || len(*p) <= i {
		return nil
	}
	var errs []error
	for _, s := range (*p)[i:] {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	kept := (*p)[:i:i]
	l.segs.Store(&kept)
	return errors.Join(errs...)
}

func (l *log) close() error { return l.forget(l.first) }

func (s *segment) close() error {
	var errs []error
	for _, m := range s.mappings {
		errs = append(errs, m.Close())
	}
	return errors.Join(append(errs, s.file.Close())...)
}

// committed returns how many bytes from the segment's start hold committed frames.
func (l *log) committed(s *segment) int64 {
	end := place(l.end.Load())
	switch {
	case s.number > end.segment():
		return 0
	case s.number == end.segment():
		return int64(end.off())
	}
	if n := s.full.Load(); n > 0 {
		return n
	}
	n, err := s.size() // final: the log has gone on to the next segment
	if err != nil {
		return 0
	}
	s.full.Store(n)
	return n
}

func (s *segment) size() (int64, error) {
	var st vfs.Stat
	err := s.file.Stat(&st)
	return st.Size, err
}

// bytes returns n bytes from off: a view of the mapping, or else read.
func (l *log) bytes(s *segment, off int64, n int) ([]byte, error) {
	if m := s.mapped.Load(); m != nil && off+int64(n) <= int64(len(*m)) {
		return (*m)[off : off+int64(n) : off+int64(n)], nil
	}
	committed := l.committed(s)
	if off+int64(n) <= committed {
		if m := l.remap(s, committed); off+int64(n) <= int64(len(m)) {
			return m[off : off+int64(n) : off+int64(n)], nil
		}
	}
	// A damaged header may claim more than there is: ask before making room for it.
	if size, err := s.size(); err != nil {
		return nil, err
	} else if size < off+int64(n) {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	got, err := s.file.ReadAt(b, off)
	if got == n {
		return b, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// remap maps what is committed where that pays, and returns what is mapped. Where mapping fails the caller reads.
func (l *log) remap(s *segment, committed int64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	var now []byte
	if m := s.mapped.Load(); m != nil {
		now = *m
		if grown := committed - int64(len(now)); grown < max(remapMin, int64(len(now))/4) {
			return now
		}
	}
	m, err := s.file.Map(committed)
	if err != nil {
		return now
	}
	b := m.Bytes()
	s.mappings = append(s.mappings, m)
	s.mapped.Store(&b)
	return b
}

// frame reads and checks the frame at p. Its slices stay valid until the store is closed.
func (l *log) frame(p place) (frame, error) {
	s, err := l.segment(p.segment())
	if err != nil {
		return frame{}, l.unreadable(p, err)
	}
	b, err := l.bytes(s, int64(p.off()), headerSize)
	if err != nil {
		return frame{}, l.unreadable(p, err)
	}
	h, err := parseHeader(b)
	if err != nil {
		return frame{}, l.damaged(p, err)
	}
	if b, err = l.bytes(s, int64(p.off()), int(h.size())); err != nil {
		return frame{}, l.unreadable(p, err)
	}
	if err := checkFrame(b, h, l.id, p); err != nil {
		return frame{}, l.damaged(p, err)
	}
	return splitFrame(b, h), nil
}

// segmentFrame makes the frame that begins segment n.
func segmentFrame(n uint32, logID uint64, lenBefore uint32) []byte {
	b, start := beginFrame(nil)
	b = binary.LittleEndian.AppendUint64(b, logID)
	b = binary.LittleEndian.AppendUint64(b, uint64(lenBefore))
	b = endFrame(b, start, kindSegment, 0, int(n), nil)
	seal(b, logID, placeAt(n, 0))
	return b
}

// baseFrame makes the frame that begins a base, which tells where the log stands behind what is packed.
func baseFrame(n uint32, logID uint64, packed standing, drops uint32) []byte {
	b, start := beginFrame(nil)
	b = binary.LittleEndian.AppendUint64(b, logID)
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(packed.op))
	b = binary.LittleEndian.AppendUint64(b, uint64(packed.end))
	b = packed.n.append(b)
	b = binary.LittleEndian.AppendUint32(b, drops)
	b = endFrame(b, start, kindSegment, flagBase, int(n), nil)
	seal(b, logID, placeAt(n, 0))
	return b
}

// Where the first frame after a segment's own lies.
const (
	segmentStart = headerSize + segmentTable
	baseStart    = headerSize + baseTable
)

// segmentHead is what the frame that begins a segment tells.
type segmentHead struct {
	id     uint64
	before uint64   // length of the segment before
	packed standing // of a base
	drops  uint32   // of a base
}

var (
	errSegment = errors.New("the segment does not begin with its number")
	errBase    = errors.New("the base does not say what it holds")
)

// readSegmentFrame reads the frame that begins segment n.
func (l *log) readSegmentFrame(n uint32) (h segmentHead, err error) {
	p := placeAt(n, 0)
	f, err := l.frame(p)
	if err != nil {
		return h, err
	}
	base := n == l.first && l.based
	if f.kind != kindSegment || f.items != n || len(f.stored) != 0 || (f.flags == flagBase) != base {
		return h, l.damaged(p, errSegment)
	}
	le := binary.LittleEndian
	h.id, h.before = le.Uint64(f.table), le.Uint64(f.table[8:])
	if !base {
		return h, nil
	}
	h.packed = standing{op: place(le.Uint64(f.table[16:])), end: place(le.Uint64(f.table[24:])), n: parseCounts(f.table[32:])}
	h.drops = le.Uint32(f.table[52:])
	if h.before != 0 || h.packed.n[opsCol] == 0 ||
		h.packed.op < placeAt(n, baseStart) || h.packed.end <= h.packed.op {
		return h, l.damaged(p, errBase)
	}
	return h, nil
}
