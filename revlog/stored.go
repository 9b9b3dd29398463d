package revlog

import (
	"errors"
	"fmt"
	"io"
)

// span is a piece of a file.
type span struct {
	at int64
	b  []byte
}

const (
	// windowSize is how much of a data file is read at once: the chunks of a chain lie near each other.
	windowSize = 64 << 10
	loneWindow = 2 << 10
)

// Chunk returns what the chunk of a revision holds, decompressed: a whole text if Log.Base is Null, else a delta. It is valid
// until the next call. Nothing is checked but that it decompresses: ErrCorrupt, ErrUnsupported or ErrTooLarge in an *Error.
func (r *Reader) Chunk(rev Rev) ([]byte, error) {
	var e Entry
	if err := r.log.entry(rev, &e); err != nil {
		return nil, err
	}
	if err := r.openData(); err != nil {
		return nil, err
	}
	chunk, err := r.stored(rev, &e)
	if err == nil {
		r.arena, err = r.decode(r.arena[:0], chunk, rev, 4*len(chunk), r.deltaLimit(&e, r.log.maxText/25))
	}
	if err != nil {
		return nil, r.log.fault(rev, err)
	}
	return r.arena, nil
}

// decode appends to dst what the chunk of a revision holds.
func (r *Reader) decode(dst, chunk []byte, rev Rev, hint, limit int) ([]byte, error) {
	if r.log.docket != nil {
		switch mode := r.log.chunkMode(rev); mode {
		case modePlain:
			if len(chunk) > limit {
				return dst, tooLarge(limit)
			}
			return append(dst, chunk...), nil
		case modeDefault:
			if len(chunk) > 0 && chunk[0] != r.log.docket.compression {
				return dst, corrupt("its chunk begins with byte %#02x, the docket says %#02x", chunk[0], r.log.docket.compression)
			}
		case modeInline:
		default:
			return dst, fmt.Errorf("%w: compression mode %d", ErrUnsupported, mode)
		}
	}
	return r.dec.decode(dst, chunk, max(hint, 0), limit)
}

// openData opens the file of the chunks.
func (r *Reader) openData() error {
	l := r.log
	if l.inline {
		return nil
	}
	if err := l.data.open(l.fs, l.mapping); err != nil {
		return &Error{l.data.path, Null, err}
	}
	return nil
}

// stored is the chunk of a revision as it lies in the file, valid until the next call.
func (r *Reader) stored(rev Rev, e *Entry) ([]byte, error) {
	l := r.log
	size := int(e.Stored)
	if l.inline {
		at := int(l.offsets[rev]) + entrySizeV1
		if want := int64(at) - int64(rev+1)*entrySizeV1; e.Offset != want {
			return nil, corrupt("its chunk is said to begin at %d and begins at %d", e.Offset, want)
		}
		if size > len(l.index.b)-at {
			return nil, corrupt("its chunk of %d bytes is cut to %d", size, len(l.index.b)-at)
		}
		return l.index.b[at : at+size], nil
	}
	if size == 0 {
		return nil, nil
	}
	all := l.data.all
	if all == nil {
		return r.readChunk(rev, e)
	}
	if e.Offset > int64(len(all)) || int64(size) > int64(len(all))-e.Offset {
		return nil, r.cut(rev, e, int64(len(all)))
	}
	return all[e.Offset:][:size], nil
}

// cut is the error for a chunk that the data file does not have.
func (r *Reader) cut(rev Rev, e *Entry, size int64) error {
	return &Error{r.log.data.path, rev, corrupt("its chunk, bytes %d to %d, lies beyond the file's %d", e.Offset, e.Offset+int64(e.Stored), size)}
}

// readChunk reads a chunk and what lies after it: of a chain, the next ones lie near.
func (r *Reader) readChunk(rev Rev, e *Entry) ([]byte, error) {
	l := r.log
	w := &r.window
	size := int(e.Stored)
	// What is not written yet comes first: behind what is, the file may have the rest of a write that failed.
	if at := e.Offset - l.data.tailAt; at >= 0 && at+int64(size) <= int64(len(l.data.tail)) {
		return l.data.tail[at:][:size], nil
	}
	if e.Offset >= w.at && e.Offset+int64(size) <= w.at+int64(len(w.b)) {
		return w.b[e.Offset-w.at:][:size], nil
	}
	if e.Offset > l.data.size || int64(size) > l.data.size-e.Offset {
		return nil, r.cut(rev, e, l.data.size)
	}
	// A text of one chunk is followed by no other that is needed, unless revisions are read in order and near each other.
	ahead := windowSize
	if gap := e.Offset - w.at - int64(len(w.b)); len(r.chain) <= 1 && (gap < 0 || gap > windowSize/16) {
		ahead = loneWindow
	}
	n := int(min(int64(max(size, ahead)), l.data.size-e.Offset))
	w.b = reserve(w.b[:0], n)[:n]
	w.at = e.Offset
	got, err := l.data.file.ReadAt(w.b, e.Offset)
	if got < n {
		w.b = w.b[:got]
	}
	if got < size {
		w.b = w.b[:0]
		if err == nil || errors.Is(err, io.EOF) {
			return nil, r.cut(rev, e, e.Offset+int64(got))
		}
		return nil, &Error{l.data.path, rev, err}
	}
	return w.b[:size], nil
}
