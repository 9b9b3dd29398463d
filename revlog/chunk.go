package revlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// What the first byte of a chunk says of the rest, as "hg help internals.revlogs" lists it.
const (
	chunkRaw  = 0   // the chunk is the data, this byte included
	chunkText = 'u' // the data follows
	chunkZlib = 'x' // the first byte of a zlib stream
	chunkZstd = '(' // the first byte of a zstd frame
)

// decoder decodes chunks. Not for concurrent use.
type decoder struct {
	zlib inflater
}

// decode appends to dst what a chunk holds, at most limit bytes. hint is how long that probably is.
func (d *decoder) decode(dst, chunk []byte, hint, limit int) ([]byte, error) {
	if len(chunk) == 0 {
		return dst, nil
	}
	hint = min(hint, plausible(chunk))
	switch chunk[0] {
	case chunkText:
		chunk = chunk[1:]
		fallthrough
	case chunkRaw:
		if len(chunk) > limit {
			return dst, tooLarge(limit)
		}
		return append(dst, chunk...), nil
	case chunkZlib:
		return d.zlib.inflate(dst, chunk, hint, limit)
	case chunkZstd:
		return unzstd(dst, chunk, hint, limit)
	default:
		return dst, fmt.Errorf("%w: its chunk begins with byte %#02x, of no known compression", ErrUnsupported, chunk[0])
	}
}

// plausible is how much memory a chunk is given before it has shown that it holds more: what its header or the index says
// may be a lie.
func plausible(chunk []byte) int { return 256*len(chunk) + 64<<10 }

func tooLarge(limit int) error { return fmt.Errorf("%w: over %d bytes", ErrTooLarge, limit) }

// zstdDecoders keeps decoders: making one costs as much as decoding fifty small frames.
var zstdDecoders sync.Pool

// maxWindow bounds what a zstd frame may ask to be kept while it is decoded. Mercurial's frames of up to 1 MB are one
// piece without a window, longer ones ask for 2 MiB (level 3) to 128 MiB (level 22).
const maxWindow = 128 << 20

func unzstd(dst, chunk []byte, hint, limit int) ([]byte, error) {
	size, known := zstdSize(chunk)
	if !known {
		size = uint64(hint)
	}
	if size > uint64(limit) {
		return dst, tooLarge(limit)
	}
	d, _ := zstdDecoders.Get().(*zstd.Decoder)
	if d == nil {
		var err error
		d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return dst, err
		}
	}
	defer zstdDecoders.Put(d)
	// Decoding ends where the buffer does, so that a frame that says too little, or nothing, gets no more than its limit.
	for room := min(int(size), plausible(chunk)); ; room = min(2*room+64<<10, limit) {
		dst = reserve(dst, room)
		out, err := d.DecodeAll(chunk, dst[:len(dst):min(cap(dst), len(dst)+limit)])
		switch {
		case err == nil:
			return out, nil
		case !errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return dst, corrupt("its chunk does not decompress: %v", err)
		case room == limit || cap(dst)-len(dst) >= limit:
			return dst, tooLarge(limit)
		}
	}
}

// zstdSize is the length that a frame's header states (RFC 8878, 3.1.1.1), bytes, if it does.
func zstdSize(chunk []byte) (uint64, bool) {
	if len(chunk) < 6 {
		return 0, false
	}
	descriptor := chunk[4]
	single := descriptor >> 5 & 1
	at := 5 + int(1-single) + int([4]uint8{0, 1, 2, 4}[descriptor&3])
	switch width := descriptor >> 6; {
	case width == 0 && single == 1 && at < len(chunk):
		return uint64(chunk[at]), true
	case width == 1 && at+2 <= len(chunk):
		return uint64(binary.LittleEndian.Uint16(chunk[at:])) + 256, true
	case width == 2 && at+4 <= len(chunk):
		return uint64(binary.LittleEndian.Uint32(chunk[at:])), true
	case width == 3 && at+8 <= len(chunk):
		return binary.LittleEndian.Uint64(chunk[at:]), true
	}
	return 0, false
}

// reserve gives b room for n more bytes.
func reserve(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return slices.Grow(b, n+n/8)
}
