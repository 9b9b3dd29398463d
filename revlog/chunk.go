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
	zstd unpacker
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
		return d.unzstd(dst, chunk, limit)
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

func (d *decoder) unzstd(dst, chunk []byte, limit int) ([]byte, error) {
	size, stated, err := zstdSize(chunk)
	if err != nil {
		return dst, err
	}
	if stated && size > uint64(limit) {
		return dst, tooLarge(limit)
	}
	if size <= maxUnpack {
		room := int(min(size, uint64(limit)))
		out, err := d.zstd.unpack(dst, chunk, room)
		if stated && (err == nil && len(out)-len(dst) != room || errors.Is(err, ErrTooLarge)) {
			return dst, corrupt("its zstd frame does not hold the %d bytes that it states", room)
		}
		return out, err
	}
	lib, _ := zstdDecoders.Get().(*zstd.Decoder)
	if lib == nil {
		lib, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return dst, err
		}
	}
	defer zstdDecoders.Put(lib)
	// Decoding ends where the room does.
	dst = reserve(dst, int(min(size, uint64(limit))))
	out, err := lib.DecodeAll(chunk, dst[:len(dst):min(cap(dst), len(dst)+limit)])
	if err != nil {
		if size > uint64(limit) {
			return dst, fmt.Errorf("%w, or does not decompress: %v", tooLarge(limit), err)
		}
		return dst, corrupt("its chunk does not decompress: %v", err)
	}
	return out, nil
}

// maxZstdBlock is how many bytes a block of a zstd frame holds at most.
const maxZstdBlock = 128 << 10

// zstdSize is how many bytes a zstd frame (RFC 8878) holds: what its header states, or the most that it can. A header
// that states more than the blocks can hold is refused, so that no memory is taken for a lie.
func zstdSize(chunk []byte) (size uint64, stated bool, err error) {
	if len(chunk) < 9 || binary.LittleEndian.Uint32(chunk) != 0xfd2fb528 {
		return 0, false, corrupt("its chunk begins with no zstd frame")
	}
	descriptor := chunk[4]
	single := descriptor >> 5 & 1
	at := 5 + int(1-single) + int([4]uint8{0, 1, 2, 4}[descriptor&3])
	says, width := uint64(0), int([4]uint8{single, 2, 4, 8}[descriptor>>6])
	if len(chunk) < at+width+3 {
		return 0, false, corrupt("its chunk ends inside the header of its zstd frame")
	}
	switch width {
	case 1:
		says = uint64(chunk[at])
	case 2:
		says = uint64(binary.LittleEndian.Uint16(chunk[at:])) + 256
	case 4:
		says = uint64(binary.LittleEndian.Uint32(chunk[at:]))
	case 8:
		says = binary.LittleEndian.Uint64(chunk[at:])
	}
	most := uint64(0)
	for at += width; ; {
		if len(chunk) < at+3 {
			return 0, false, corrupt("its chunk ends between the blocks of its zstd frame")
		}
		header := uint(chunk[at]) | uint(chunk[at+1])<<8 | uint(chunk[at+2])<<16
		at += 3
		size := int(header >> 3)
		switch header >> 1 & 3 {
		case 0:
			most += uint64(size)
		case 1:
			most += uint64(size)
			size = 1
		default:
			most += maxZstdBlock
		}
		if at += size; header&1 != 0 {
			break
		}
	}
	if at += int(descriptor>>2&1) * 4; at != len(chunk) {
		return 0, false, corrupt("its zstd frame ends at %d of its chunk's %d bytes", at, len(chunk))
	}
	if width == 0 {
		return most, false, nil
	}
	if says > most {
		return 0, false, corrupt("its zstd frame is said to hold %d bytes and can hold %d", says, most)
	}
	return says, true, nil
}

// reserve gives b room for n more bytes.
func reserve(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return slices.Grow(b, n+n/8)
}
