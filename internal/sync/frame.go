// Package sync is what travels between repositories: the stream of checked frames that every message and bundle is, the
// messages in it, how two sets of changes are told apart in few bytes, and the ways from one machine to another. It knows
// no repository: what is said is judged in package repo. The formats are docs/spec/protocol.md and docs/spec/bundle.md.
package sync

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// What can be wrong with a stream, for errors.Is.
var (
	// ErrMalformed: what came is no stream of oxy's, or was cut or altered on its way.
	ErrMalformed = errors.New("malformed stream")
	// ErrTooMuch: the stream goes on beyond what the receiver takes.
	ErrTooMuch = errors.New("more than is taken at once")
	// ErrCut: what came is good as far as it came. It is malformed too, for who cannot do with less than all of it.
	ErrCut = errors.New("cut off")
)

// cutError is the end of a stream before its end. What the way itself said of it is for this side only.
type cutError struct{ cause error }

func (e *cutError) Error() string   { return "it was cut off on its way" }
func (e *cutError) Unwrap() []error { return []error{ErrCut, ErrMalformed, e.cause} }

// way is what a stream comes by. It remembers its own errors, which a decompressor may put in other words.
type way struct {
	r   io.Reader
	err error
}

func (w *way) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

const (
	magic = "oxysync1"
	// maxFrame bounds a frame's payload: what a reader must have room for, whatever a length claims.
	maxFrame = 1 << 20
	// piece is how much of an item's data goes into a frame: its checksum and head are then nothing beside it.
	piece = 64 << 10
	// window bounds what a decompressor keeps, and so what a few hostile bytes can make it allocate.
	window = 8 << 20
)

// Codec says how the frames of a stream are compressed.
type Codec byte

// The codecs.
const (
	Raw  Codec = iota // between two repositories of one machine
	Zstd              // else
)

// frameKind is the first byte of a frame.
type frameKind byte

const (
	kindEnd     frameKind = 'Z' // nothing follows
	kindData    frameKind = 'D' // the next bytes of the item before it
	kindRequest frameKind = 'Q'
	kindReply   frameKind = 'P'
	kindError   frameKind = 'E' // the sender cannot go on
	kindBundle  frameKind = 'U'
	kindChange  frameKind = 'C' // with data
	kindPreview frameKind = 'V' // of a dry run, in place of a change
	kindUpdate  frameKind = 'B' // with data
	kindRef     frameKind = 'R'
	kindWant    frameKind = 'W'
	kindHave    frameKind = 'H'
	kindUnknown frameKind = 'N' // nothing is known to be common: negotiate
	kindRanges  frameKind = 'G' // with data
	kindIDs     frameKind = 'I' // with data
	kindAnswer  frameKind = 'A'
	kindMarks   frameKind = 'M' // with data
	kindOnly    frameKind = 'O'
	kindDepth   frameKind = 'L'
	kindHash    frameKind = 'X'
	kindContent frameKind = 'K' // with data
	kindTotal   frameKind = 'T' // for show
	kindSigned  frameKind = 'S'
	kindMark    frameKind = 'F'
)

// checksum guards against accidents; hashes guard against everything. The frame's number in the seed makes a frame that was
// lost, doubled or swapped as bad as one that was altered.
func checksum(number uint64, kind frameKind, payload []byte) uint64 {
	return xxh3.HashSeed(payload, number<<8|uint64(kind))
}

// Writer writes one stream.
type Writer struct {
	out    io.Writer
	z      *zstd.Encoder // nil: raw
	number uint64        // of the next frame
	head   []byte
	data   []byte // of an item, not written yet
	left   int64  // bytes of the item's data that are due
	sent   int64
	pack   packed
	err    error

	Progress func(bytes int64) // told of what was written, before compression; nil: nobody
}

// NewWriter begins a stream.
func NewWriter(w io.Writer, codec Codec) (*Writer, error) {
	if _, err := w.Write(append([]byte(magic), byte(codec))); err != nil {
		return nil, err
	}
	out := &Writer{out: w}
	if codec == Zstd {
		// One goroutine: a server with many clients has no more cores than they.
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window/2), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		out.z, out.out = z, z
	}
	return out, nil
}

// Close ends the stream. A stream that is not closed is none.
func (w *Writer) Close() error {
	if err := w.frame(kindEnd, nil); err != nil {
		return err
	}
	if w.z != nil {
		return w.z.Close()
	}
	return nil
}

// Sent is how many bytes were written, before compression.
func (w *Writer) Sent() int64 { return w.sent }

func (w *Writer) frame(kind frameKind, payload []byte) error {
	switch {
	case w.err != nil:
		return w.err
	case kind != kindData && w.left > 0:
		return w.fail(fmt.Errorf("an item is %d bytes short", w.left))
	case len(payload) > maxFrame:
		return w.fail(fmt.Errorf("a frame of %d bytes", len(payload)))
	}
	b := append(w.head[:0], byte(kind))
	b = binary.AppendUvarint(b, uint64(len(payload)))
	b = append(b, payload...)
	b = binary.LittleEndian.AppendUint64(b, checksum(w.number, kind, payload))
	w.head = b
	w.number++
	w.sent += int64(len(b))
	if w.Progress != nil {
		w.Progress(int64(len(b)))
	}
	if _, err := w.out.Write(b); err != nil {
		return w.fail(err)
	}
	return nil
}

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return err
}

// item begins a frame that data of so many bytes follows.
func (w *Writer) item(kind frameKind, payload []byte, size int64) error {
	if err := w.frame(kind, binary.AppendUvarint(payload, uint64(size))); err != nil {
		return err
	}
	w.left = size
	return nil
}

// Write adds to the item's data.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if int64(len(p)) > w.left {
		return 0, w.fail(errors.New("an item has more data than it said"))
	}
	w.left -= int64(len(p))
	n := len(p)
	for len(p) > 0 {
		k := min(piece-len(w.data), len(p))
		w.data = append(w.data, p[:k]...)
		p = p[k:]
		if len(w.data) == piece || w.left == 0 && len(p) == 0 {
			if err := w.frame(kindData, w.data); err != nil {
				return 0, err
			}
			w.data = w.data[:0]
		}
	}
	return n, nil
}

// Reader reads one stream that nobody vouches for.
type Reader struct {
	way    *way
	in     *bufio.Reader
	z      *zstd.Decoder
	number uint64
	buf    []byte
	data   []byte // of the item, read and not taken yet
	left   int64  // bytes of the item's data that no frame brought yet
	limit  int64  // bytes that may still come
	got    int64
	pack   packed
	ended  bool
	verb   Verb // of the request that it held
	err    error

	Progress func(bytes int64) // told of what was read, once decompressed; nil: nobody
}

// NewReader reads the beginning of a stream, of which limit bytes at most are taken once decompressed.
func NewReader(r io.Reader, limit int64) (*Reader, error) {
	by := &way{r: r}
	r = by
	head := make([]byte, len(magic)+1)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, &cutError{err}
	}
	if string(head[:len(magic)]) != magic {
		return nil, malformed("it does not begin with %q", magic)
	}
	in := &Reader{way: by, limit: limit}
	switch Codec(head[len(magic)]) {
	case Raw:
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		in.z, r = z, z
	default:
		return nil, malformed("codec %d", head[len(magic)])
	}
	in.in = bufio.NewReaderSize(r, 2*piece)
	return in, nil
}

// Close lets go of the decompressor.
func (r *Reader) Close() {
	if r.z != nil {
		r.z.Close()
	}
}

// Got is how many bytes were read, once decompressed.
func (r *Reader) Got() int64 { return r.got }

func (r *Reader) fail(err error) error {
	if r.err == nil {
		r.err = err
	}
	return err
}

// next reads a frame. What it gives holds until the next one.
func (r *Reader) next() (frameKind, []byte, error) {
	kind, payload, err := r.frame()
	switch {
	case err != nil:
		return 0, nil, err
	case kind == kindData:
		return 0, nil, r.fail(malformed("data of no item"))
	case kind == kindError:
		return 0, nil, r.fail(&RemoteError{Text: clean(payload)})
	}
	return kind, payload, nil
}

func (r *Reader) frame() (frameKind, []byte, error) {
	if r.err != nil {
		return 0, nil, r.err
	}
	kind, payload, err := r.readFrame()
	if err == nil {
		return kind, payload, nil
	}
	switch {
	case r.way.err != nil && !errors.Is(r.way.err, io.EOF) && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooMuch):
		err = &cutError{r.way.err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = &cutError{io.ErrUnexpectedEOF} // never EOF itself, which is the good end of an item
	case errors.Is(err, zstd.ErrMagicMismatch), errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, zstd.ErrWindowSizeExceeded),
		errors.Is(err, zstd.ErrWindowSizeTooSmall), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrReservedBlockType),
		errors.Is(err, zstd.ErrCompressedSizeTooBig), errors.Is(err, zstd.ErrBlockTooSmall):
		err = malformed("%v", err)
	}
	return 0, nil, r.fail(err)
}

func (r *Reader) readFrame() (frameKind, []byte, error) {
	if r.ended {
		return 0, nil, malformed("it goes on after its end")
	}
	b, err := r.in.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	kind := frameKind(b)
	size, n, err := r.length()
	if err != nil {
		return 0, nil, err
	}
	if size > maxFrame {
		return 0, nil, malformed("a frame of %d bytes", size)
	}
	total := 1 + int64(n) + int64(size) + 8
	if r.got += total; r.got > r.limit {
		return 0, nil, fmt.Errorf("%w: %d bytes", ErrTooMuch, r.limit)
	}
	if cap(r.buf) < int(size)+8 {
		r.buf = make([]byte, size+8)
	}
	r.buf = r.buf[:size+8]
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		return 0, nil, err
	}
	payload := r.buf[:size]
	if binary.LittleEndian.Uint64(r.buf[size:]) != checksum(r.number, kind, payload) {
		return 0, nil, malformed("frame %d was altered on its way", r.number)
	}
	r.number++
	if r.Progress != nil {
		r.Progress(total)
	}
	if kind == kindEnd {
		if size != 0 {
			return 0, nil, malformed("its end holds something")
		}
		if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
			return 0, nil, malformed("something follows its end")
		}
		r.ended = true
	}
	return kind, payload, nil
}

// length reads a varint in its shortest form.
func (r *Reader) length() (v uint64, n int, err error) {
	for shift := 0; ; shift += 7 {
		b, err := r.in.ReadByte()
		if err != nil {
			return 0, n, err
		}
		n++
		if n > 4 || b == 0 && n > 1 {
			return 0, n, malformed("a frame's length")
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, n, nil
		}
	}
}

// open takes the size of an item's data off the end of its payload's fields.
func (r *Reader) open(f *fields, limit int64) int64 {
	size := f.uvarint()
	if size > uint64(limit) {
		f.fail()
		return 0
	}
	r.left, r.data = int64(size), nil
	return int64(size)
}

// Read reads the item's data.
func (r *Reader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		kind, payload, err := r.frame()
		switch {
		case err != nil:
			return 0, err
		case kind == kindError:
			return 0, r.fail(&RemoteError{Text: clean(payload)})
		case kind != kindData || len(payload) == 0 || int64(len(payload)) > r.left:
			return 0, r.fail(malformed("an item's data is not as it said"))
		}
		r.data = payload
		r.left -= int64(len(payload))
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}

// readAll reads the rest of the item's data, which is within what open allowed. Room is made as data comes.
func (r *Reader) readAll() ([]byte, error) { return io.ReadAll(readerOnly{r}) }

// readN reads exactly so much of the item's data. Room is made as data comes: a length alone costs nothing.
func (r *Reader) readN(n int64) ([]byte, error) {
	b := make([]byte, 0, min(n, piece))
	for int64(len(b)) < n {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		k, err := r.Read(b[len(b):min(int64(cap(b)), n)])
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = r.fail(malformed("an item's data is too short"))
			}
			return nil, err
		}
		b = b[:len(b)+k]
	}
	return b, nil
}

// skip passes over the rest of the item's data.
func (r *Reader) skip() error {
	_, err := io.Copy(io.Discard, readerOnly{r})
	return err
}

// readerOnly hides all other methods.
type readerOnly struct{ io.Reader }

// RemoteError is what the other side said that it cannot do.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return "the other side says: " + e.Text }

// maxText bounds what the other side says in words.
const maxText = 1000

// Clean makes text that came from outside fit for a terminal or a log: one line of printable characters, not long.
func Clean(s string) string { return clean([]byte(s)) }

// clean makes text that came from outside fit for a terminal: one line of printable characters.
func clean(b []byte) string {
	b = b[:min(len(b), maxText)]
	out := make([]rune, 0, len(b))
	for _, c := range string(b) {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x2029 || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			c = ' '
		}
		out = append(out, c)
	}
	return string(out)
}

// fields takes fields off the front of a payload. After the first that is not there everything reads as zero and bad is set.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) fail() { f.b, f.bad = nil, true }

func (f *fields) byte() byte {
	if len(f.b) == 0 {
		f.fail()
		return 0
	}
	c := f.b[0]
	f.b = f.b[1:]
	return c
}

func (f *fields) bytes(n uint64) []byte {
	if n > uint64(len(f.b)) {
		f.fail()
		return nil
	}
	b := f.b[:n:n]
	f.b = f.b[n:]
	return b
}

func (f *fields) uvarint() uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 || n > 1 && f.b[n-1] == 0 {
		f.fail()
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *fields) id() (id [32]byte) {
	copy(id[:], f.bytes(32))
	return id
}

func (f *fields) text(limit uint64) string {
	n := f.uvarint()
	if n > limit {
		f.fail()
		return ""
	}
	return string(f.bytes(n))
}

// end says what is wrong with a payload.
func (f *fields) end(what string) error {
	if f.bad || len(f.b) > 0 {
		return malformed("%s cannot be read", what)
	}
	return nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
