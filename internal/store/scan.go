package store

import (
	"errors"
	"io"
	"io/fs"
)

// errTail says that no further frame can be read: the log ends here, or what follows is no part of it.
var errTail = errors.New("the log ends here")

// scan reads frames from the place from, where the op last ended having brought the log to n records, and calls add for
// each batch that an op commits. It returns the place after the last of them and whether anything but the log's end
// follows it. An error is of reading, never of what was read: an incomplete or damaged batch is a tail.
func (l *log) scan(from place, n counts, last place, add func(*batch)) (end place, tail bool, err error) {
	if l.based && from == l.start {
		b, err := l.scanBase()
		if err != nil {
			return from, true, err
		}
		add(b)
		from, n, last = b.end, b.n, b.op
	}
	end = from
	r := frameReader{log: l, at: from}
	for {
		b := &batch{logID: l.id, n: n, last: last}
		begun := r.at
		for b.op == 0 {
			if err := r.next(b); err != nil {
				if errors.Is(err, errTail) {
					return end, r.at != begun || r.more, nil
				}
				return end, true, err
			}
		}
		b.end = r.at
		end, n, last = b.end, b.n, b.op
		add(b)
	}
}

// scanBase reads what a base holds. It was complete before it got its name, so whatever cannot be read is damage.
func (l *log) scanBase() (*batch, error) {
	b := &batch{logID: l.id, base: true}
	r := frameReader{log: l, at: l.start}
	for r.at != l.packed.end {
		err := r.next(b)
		if errors.Is(err, errTail) || err == nil && r.at > l.packed.end {
			return nil, l.damaged(r.at, errBaseFrame)
		}
		if err != nil {
			return nil, err
		}
	}
	b.end = r.at
	if b.n != l.packed.n || b.op != l.packed.op {
		return nil, l.damaged(l.start, errBase)
	}
	return b, nil
}

var errBaseFrame = errors.New("what was packed is not there")

// Windows of a frameReader: a command that finds nothing new reads little, a scan of everything reads in large steps.
const (
	windowMin = 4 << 10
	windowMax = 1 << 20
)

// frameReader reads frames one after another without mapping them: what is not committed may be truncated any moment.
type frameReader struct {
	log    *log
	at     place
	more   bool // bytes follow at which no valid frame begins
	seg    *segment
	size   int64 // of seg when it was opened here
	buf    []byte
	bufOff int64 // where buf begins in seg
	window int
}

// next reads one frame into b, going on to the next segment where one ends.
func (r *frameReader) next(b *batch) error {
	for {
		f, p, err := r.frame()
		if err != io.EOF {
			if err != nil {
				return err
			}
			if err := b.addFrame(f, p); err != nil {
				r.at, r.more = p, true
				return errTail
			}
			return nil
		}
		if err := r.nextSegment(); err != nil {
			return err
		}
	}
}

// frame reads the frame at r.at; io.EOF when the segment ends exactly there.
func (r *frameReader) frame() (frame, place, error) {
	p := r.at
	if err := r.open(); err != nil {
		return frame{}, p, err
	}
	if int64(p.off()) == r.size {
		return frame{}, p, io.EOF
	}
	r.more = true
	hb, err := r.bytes(int64(p.off()), headerSize)
	if err != nil {
		return frame{}, p, err
	}
	h, err := parseHeader(hb)
	if err != nil || int64(p.off())+h.size() > maxSegment {
		return frame{}, p, errTail
	}
	fb, err := r.bytes(int64(p.off()), int(h.size()))
	if err != nil {
		return frame{}, p, err
	}
	if checkFrame(fb, h, r.log.id, p) != nil || h.kind == kindSegment {
		return frame{}, p, errTail
	}
	r.more = false
	r.at = p + place(h.size())
	return splitFrame(fb, h), p, nil
}

func (r *frameReader) open() error {
	if r.seg != nil && r.seg.number == r.at.segment() {
		return nil
	}
	s, err := r.log.segment(r.at.segment())
	if errors.Is(err, fs.ErrNotExist) {
		return errTail
	}
	if err != nil {
		return err
	}
	size, err := s.size()
	if err != nil {
		return err
	}
	r.seg, r.size, r.buf = s, size, r.buf[:0]
	if int64(r.at.off()) > size {
		r.more = true
		return errTail
	}
	return nil
}

// nextSegment moves to the segment after, if it goes on from exactly where r stands.
func (r *frameReader) nextSegment() error {
	next := placeAt(r.at.segment()+1, 0)
	h, err := r.log.readSegmentFrame(next.segment())
	if errors.Is(err, fs.ErrNotExist) {
		return errTail
	}
	if errors.Is(err, ErrDamaged) || err == nil && (h.id != r.log.id || h.before != uint64(r.at.off())) {
		// Left from a transaction that never ended, unless something proves otherwise.
		r.more = true
		return errTail
	}
	if err != nil {
		return err
	}
	r.at = next + segmentStart
	return nil
}

// bytes returns n bytes of the segment from off, valid until the next call; errTail when there are not so many.
func (r *frameReader) bytes(off int64, n int) ([]byte, error) {
	if off+int64(n) > r.size {
		return nil, errTail
	}
	if len(r.buf) > 0 && off >= r.bufOff && off+int64(n) <= r.bufOff+int64(len(r.buf)) {
		return r.buf[off-r.bufOff:][:n], nil
	}
	r.window = min(max(2*r.window, windowMin), windowMax)
	want := int(min(int64(max(n, r.window)), r.size-off))
	if cap(r.buf) < want {
		r.buf = make([]byte, want)
	}
	got, err := r.seg.file.ReadAt(r.buf[:want], off)
	r.buf, r.bufOff = r.buf[:got], off
	if got >= n {
		return r.buf[:n], nil
	}
	r.buf = r.buf[:0]
	if err == nil || errors.Is(err, io.EOF) { // truncated meanwhile
		return nil, errTail
	}
	return nil, err
}

// findOp searches from a place where the log is damaged for a valid op numbered least or more.
func (l *log) findOp(from place, least uint32) (place, bool, error) {
	r := frameReader{log: l, at: from}
	for {
		err := r.open()
		if errors.Is(err, errTail) {
			// A segment is not there. Others may lie behind it: the names of files become durable in any order.
			ls, err := listLog(l.fsys, l.dir)
			next, ok := ls.after(r.at.segment())
			if err != nil || !ok {
				return 0, false, err
			}
			r.at = placeAt(next, 0)
			continue
		}
		if err != nil {
			return 0, false, err
		}
		p, ok, err := r.search(least)
		if ok || err != nil {
			return p, ok, err
		}
		r.at = placeAt(r.at.segment()+1, 0)
	}
}

// search tries each aligned place from r.at to the segment's end.
func (r *frameReader) search(least uint32) (place, bool, error) {
	for off := int64(r.at.off()); off+headerSize <= r.size; off += frameAlign {
		b, err := r.bytes(off, headerSize)
		if errors.Is(err, errTail) {
			return 0, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		h, err := parseHeader(b)
		if err != nil || h.kind != kindOp || off+h.size() > r.size {
			continue
		}
		p := placeAt(r.at.segment(), uint32(off))
		if b, err = r.bytes(off, int(h.size())); err != nil {
			continue
		}
		if checkFrame(b, h, r.log.id, p) == nil && parseOpTable(splitFrame(b, h).table).number >= least {
			return p, true, nil
		}
	}
	return 0, false, nil
}
