package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Fault is damage that Audit found.
type Fault struct {
	File    string // within the repository's directory
	Off     int64  // in bytes: where the frame or the record begins
	Len     int64  // of a damaged stretch of the log, up to the next frame that is sound; 0 where that is not known
	Derived bool   // the log says what must stand there, so nothing is lost
	Err     error
}

// Audited counts what Audit looked at.
type Audited struct {
	Bytes  int64 // of the log
	Frames uint64
	Blobs  uint64 // contents whose hash was proved
}

// AuditOptions say what Audit looks at and whom it tells.
type AuditOptions struct {
	Quick    bool              // do not prove the contents' hashes
	Progress func(bytes int64) // of the log; from many goroutines
	Fault    func(Fault)       // from one goroutine at a time
	BadBlob  func(change.Hash) // a content that cannot be had; from one goroutine at a time
}

// LogSize returns how many bytes of the log are committed.
func (s *Store) LogSize() (sum int64) {
	t := s.now.Load()
	for n := t.log.first; n <= t.end.segment(); n++ {
		if seg, err := t.log.segment(n); err == nil {
			sum += t.log.committed(seg)
		}
	}
	return sum
}

// Repacked reports whether another process packed the log since this one last looked.
func (s *Store) Repacked() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved(s.now.Load().log)
}

// Audit reads the whole log up to the last operation, checks each frame and what it says against those before it, and
// holds the index files against what they are derived from. It writes nothing, takes no lock, and goes on behind damage.
// Its error is only that of ctx.
func (s *Store) Audit(ctx context.Context, o AuditOptions) (Audited, error) {
	a := &auditor{s: s, t: s.now.Load(), o: o, damaged: map[place]bool{}}
	s.mu.Lock()
	a.index = s.openIndexes(a.t.log)
	s.mu.Unlock()
	a.headers()
	a.orders()
	if err := a.log(ctx); err != nil {
		return a.done, err
	}
	if o.Quick {
		return a.done, nil
	}
	a.lostBlobs()
	err := a.contents(ctx)
	a.done.Blobs = a.proved.Load()
	return a.done, err
}

type auditor struct {
	s       *Store
	t       *tables
	o       AuditOptions
	index   indexFiles
	differs [numColumns]bool // told once
	blobs   []place          // sound frames with contents
	damaged map[place]bool   // frames that cannot be read
	done    Audited
	proved  atomic.Uint64

	mu sync.Mutex // held while somebody is told
}

func (a *auditor) fault(f Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.o.Fault(f)
}

func (a *auditor) badBlob(h change.Hash) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.o.BadBlob(h)
}

func (a *auditor) frameFault(p place, err error) {
	a.fault(Fault{File: a.t.log.display(p.segment()), Off: int64(p.off()), Err: err})
}

// log goes through all frames.
func (a *auditor) log(ctx context.Context) error {
	l := a.t.log
	w := logWalk{auditor: a, b: &batch{logID: l.id, base: l.based}}
	before := int64(0)
	for n := l.first; n <= a.t.end.segment(); n++ {
		size, ok := a.segment(n, before)
		if !ok {
			w.lost = true
		}
		start := placeAt(n, segmentStart)
		if n == l.first {
			start = l.start
		}
		for p := start; int64(p.off()) < size; {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			next := w.frame(p, size)
			a.o.Progress(int64(next - p))
			p = next
		}
		a.done.Bytes += size
		before = size
	}
	if !w.lost && w.b.n != a.t.n {
		a.frameFault(a.t.end, errOrder)
	}
	return nil
}

// segment checks the frame that begins segment n and returns how many committed bytes the segment has.
func (a *auditor) segment(n uint32, before int64) (size int64, ok bool) {
	l := a.t.log
	p := placeAt(n, 0)
	seg, err := l.segment(n)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the file is not there: %w", err)
	}
	if err == nil {
		size, err = seg.size()
	}
	if err == nil && n == a.t.end.segment() {
		size = int64(a.t.end.off())
	}
	if err != nil {
		a.frameFault(p, err)
		return 0, false
	}
	h, err := l.readSegmentFrame(n)
	if err == nil && (h.id != l.id || n != l.first && h.before != uint64(before)) {
		err = errSegment
	}
	if err != nil {
		a.frameFault(p, err)
		return size, false
	}
	a.done.Frames++
	a.o.Progress(segmentStart)
	return size, true
}

// logWalk makes the records again that the indexes hold.
type logWalk struct {
	*auditor
	b    *batch // of the frames so far; its records go as soon as they were compared
	lost bool   // something was damaged, so until the next op nobody knows the numbers
}

// frame checks the frame at p, in a segment of so many bytes, and returns where the next begins.
func (w *logWalk) frame(p place, size int64) place {
	l := w.t.log
	f, err := l.frame(p)
	next := p + place(f.size())
	if err == nil && int64(next.off()) > size {
		err = errOrder
	}
	if err != nil {
		next = w.resume(p, size)
		w.fault(Fault{File: l.display(p.segment()), Off: int64(p.off()), Len: int64(next - p), Err: err})
		w.damaged[p], w.lost = true, true
	} else {
		w.done.Frames++
		w.take(f, p)
	}
	if w.b.base && next >= l.packed.end {
		if !w.lost && (w.b.n != l.packed.n || w.b.op != l.packed.op || next != l.packed.end) {
			w.frameFault(l.start, errBase)
		}
		w.b = &batch{logID: l.id, n: l.packed.n, last: l.packed.op}
		w.lost = false
	}
	return next
}

// take takes in a sound frame.
func (w *logWalk) take(f frame, p place) {
	if f.kind == kindBlobs || f.kind == kindList {
		w.blobs = append(w.blobs, p)
	}
	if w.lost {
		if f.kind == kindOp && !w.b.base { // it tells the numbers
			w.b = &batch{logID: w.t.logID, n: parseOpTable(f.table).n, last: p}
			w.lost = false
		}
		return
	}
	before := w.b.n
	if err := w.b.addFrame(f, p); err != nil {
		w.frameFault(p, err)
		w.lost = true
		return
	}
	w.compare(before)
	if w.b.op != 0 && !w.b.base {
		w.b.last, w.b.op = w.b.op, 0
	}
}

// resume finds the next frame behind damage at p.
func (w *logWalk) resume(p place, size int64) place {
	l := w.t.log
	seg, err := l.segment(p.segment())
	if err != nil {
		return placeAt(p.segment(), uint32(size))
	}
	for off := int64(p.off()) + frameAlign; off+headerSize <= size; off += frameAlign {
		// Nearly everywhere the magic alone tells.
		if b, err := l.bytes(seg, off, headerSize); err != nil || binary.LittleEndian.Uint32(b[8:]) != frameMagic {
			continue
		}
		if _, err := l.frame(placeAt(p.segment(), uint32(off))); err == nil {
			return placeAt(p.segment(), uint32(off))
		}
	}
	return placeAt(p.segment(), uint32(size))
}

// lostBlobs tells the contents that lie in frames which cannot be read.
func (a *auditor) lostBlobs() {
	if len(a.damaged) == 0 {
		return
	}
	for n := range a.t.n[blobsCol] {
		if !a.t.ok(blobsCol, n) {
			continue
		}
		// Of one whose frame does not tell its hash any more only whoever looks for it finds out.
		if r := parseBlobRecord(a.t.cols[blobsCol].at(n)); a.damaged[r.at] && r.hash != (change.Hash{}) {
			a.badBlob(r.hash)
		}
	}
}

// contents proves the hash of every content, on all cores. What is in memory at any time is a frame for each.
func (a *auditor) contents(ctx context.Context) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(a.blobs)) {
		wg.Go(func() {
			var buf []byte
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(a.blobs) {
					return
				}
				buf = a.content(a.blobs[i], buf)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// content proves the contents of the frame at p.
func (a *auditor) content(p place, buf []byte) []byte {
	f, err := a.s.frame(p)
	if err != nil { // it was sound a moment ago
		a.frameFault(p, err)
		return buf
	}
	a.o.Progress(f.size())
	if f.kind == kindList {
		h := change.Hash(f.table[:32])
		if err := a.s.VerifyBlob(h); err != nil {
			a.badBlob(h)
			a.frameFault(p, err)
			return buf
		}
		a.proved.Add(1)
		return buf
	}
	b, err := f.contents(buf[:0])
	if err != nil {
		a.frameFault(p, err)
	}
	rest := b
	for t := f.table; len(t) > 0; t = t[blobItem:] {
		h, size := change.Hash(t[:32]), int(binary.LittleEndian.Uint32(t[32:]))
		switch {
		case err != nil || size > len(rest):
			a.badBlob(h)
		case change.Hash(blake3.Sum256(rest[:size])) != h:
			a.badBlob(h)
			a.frameFault(p, fmt.Errorf("content %s: %w", h, errBlobHash))
			rest = rest[size:]
		default:
			a.proved.Add(1)
			rest = rest[size:]
		}
	}
	if b == nil {
		return buf
	}
	return b
}
