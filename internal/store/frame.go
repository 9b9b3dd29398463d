package store

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/zeebo/xxh3"
)

// The log is a sequence of frames: a header of fixed size, a table that is never compressed, and contents that may be.
const (
	headerSize = 32
	frameMagic = 0x4d52464f // "OFRM"
	frameAlign = 8          // a search for frames beyond damage tries only each eighth byte
)

// frameKind says what a frame holds.
type frameKind uint8

const (
	kindSegment frameKind = iota + 1 // begins a segment
	kindBlobs                        // whole contents
	kindList                         // one content as a list of chunks
	kindChange                       // one change
	kindStates                       // states that did not fit the op's frame
	kindOp                           // commits all since the op before
	kindChanges                      // many changes, in a base
	kindOps                          // many ops, in a base
	numKinds
)

// codec says how a frame's contents are stored.
type codec uint8

const (
	codecRaw codec = iota
	codecZstd
	numCodecs
)

// Limits of what a frame may claim. They bound what reading one costs, whoever wrote it.
const (
	// maxRaw bounds a frame's contents once decompressed: four times the largest blob.
	maxRaw = 4 << 20
	// maxBlobItems bounds a BLOBS frame: 128 KiB of contents of 32 bytes; smaller ones fill a frame sooner.
	maxBlobItems = 4096
	// maxChunks bounds a LIST: 1 TiB in chunks of half the average size.
	maxChunks = 1 << 23
	// maxDeps bounds the dependencies of one change: a merge of 100 000 heads fits four times over.
	maxDeps = 1 << 19
	// maxStates bounds the states of one frame; each takes four bytes or more of maxRaw.
	maxStates = 1 << 20
	// maxPacked bounds the changes or ops of one frame of a base: whoever reads one goes over those before it.
	maxPacked = 4096
)

// flagBase is the flag of the SEGMENT frame that begins a base.
const flagBase = 1

// Sizes of the tables.
const (
	segmentTable = 16 // log id, length of the segment before
	baseTable    = 56 // the same; where the log stands behind what the base holds
	blobItem     = 36 // hash, length
	listTable    = 40 // hash, size; then an item for each chunk
	changeTable  = 56 // id, time, four lengths; then four bytes for each dependency
	opTable      = 64
	packedTable  = 4 // number of the first; then an id for each change
	idSize       = 32
)

// A place is where a frame begins: the number of its segment above 32 bits of offset.
type place uint64

func placeAt(segment, off uint32) place { return place(segment)<<32 | place(off) }
func (p place) segment() uint32         { return uint32(p >> 32) }
func (p place) off() uint32             { return uint32(p) }

// header is a frame's header without its checksum.
type header struct {
	kind   frameKind
	codec  codec
	flags  uint16
	raw    uint32 // length of the contents once decompressed
	stored uint32 // length of table and contents as stored
	items  uint32
}

// table returns the length of the frame's table.
func (h header) table() uint64 {
	switch h.kind {
	case kindSegment:
		if h.flags == flagBase {
			return baseTable
		}
		return segmentTable
	case kindBlobs:
		return uint64(h.items) * blobItem
	case kindList:
		return listTable + uint64(h.items)*blobItem
	case kindChange:
		return changeTable + uint64(h.items)*4
	case kindOp:
		return opTable
	case kindChanges:
		return packedTable + uint64(h.items)*idSize
	case kindOps:
		return packedTable
	default:
		return 0
	}
}

// size returns the frame's length in the log.
func (h header) size() int64 {
	return (headerSize + int64(h.stored) + frameAlign - 1) &^ (frameAlign - 1)
}

func (h header) check() error {
	limits := [numKinds]uint32{kindSegment: 1<<32 - 1, kindBlobs: maxBlobItems, kindList: maxChunks, kindChange: maxDeps,
		kindStates: maxStates, kindOp: maxStates, kindChanges: maxPacked, kindOps: maxPacked}
	flags := [numKinds]uint16{kindSegment: flagBase, kindChange: changeFlags}
	if h.kind == 0 || h.kind >= numKinds || h.codec >= numCodecs {
		return fmt.Errorf("no such kind of frame: %d, codec %d", h.kind, h.codec)
	}
	if h.items > limits[h.kind] || h.raw > maxRaw {
		return fmt.Errorf("a frame claims %d items, %d bytes", h.items, h.raw)
	}
	if h.flags > flags[h.kind] {
		return fmt.Errorf("unknown flags %#x", h.flags)
	}
	table := h.table()
	if uint64(h.stored) < table {
		return fmt.Errorf("a frame of %d bytes has no room for its table", h.stored)
	}
	// A compressed frame is smaller: whoever writes keeps what does not shrink as it is.
	contents := uint64(h.stored) - table
	if h.codec == codecRaw && contents != uint64(h.raw) || h.codec == codecZstd && contents >= uint64(h.raw) {
		return fmt.Errorf("%d bytes stored for %d", contents, h.raw)
	}
	return nil
}

func (h header) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b[8:], frameMagic)
	b[12], b[13] = byte(h.kind), byte(h.codec)
	le.PutUint16(b[14:], h.flags)
	le.PutUint32(b[16:], h.raw)
	le.PutUint32(b[20:], h.stored)
	le.PutUint32(b[24:], h.items)
	le.PutUint32(b[28:], 0)
}

// parseHeader reads the header of a frame; b holds at least headerSize bytes.
func parseHeader(b []byte) (header, error) {
	le := binary.LittleEndian
	if le.Uint32(b[8:]) != frameMagic || le.Uint32(b[28:]) != 0 {
		return header{}, fmt.Errorf("no frame begins here")
	}
	h := header{kind: frameKind(b[12]), codec: codec(b[13]), flags: le.Uint16(b[14:]),
		raw: le.Uint32(b[16:]), stored: le.Uint32(b[20:]), items: le.Uint32(b[24:])}
	return h, h.check()
}

// seed is what a checksum begins with. It ties a frame's checksum to one log and one place in it, so that no frame inside a content (a repository
// committed to itself) and none left from an abandoned transaction is taken for one of the log.
func seed(logID uint64, kind frameKind, p place) uint64 {
	if kind == kindSegment {
		logID = 0 // it is what tells the id
	}
	return logID ^ uint64(p)
}

// seal writes the checksum of a whole frame.
func seal(frame []byte, logID uint64, p place) {
	binary.LittleEndian.PutUint64(frame, xxh3.HashSeed(frame[8:], seed(logID, frameKind(frame[12]), p)))
}

// checkFrame verifies the checksum and the padding of a whole frame.
func checkFrame(frame []byte, h header, logID uint64, p place) error {
	if binary.LittleEndian.Uint64(frame) != xxh3.HashSeed(frame[8:], seed(logID, h.kind, p)) {
		return fmt.Errorf("wrong checksum")
	}
	for _, b := range frame[headerSize+int(h.stored):] {
		if b != 0 {
			return fmt.Errorf("padding is not zero")
		}
	}
	return nil
}

// frame is one checked frame: views of the mapped log or of a buffer.
type frame struct {
	header
	table  []byte
	stored []byte // the contents as stored
}

func splitFrame(b []byte, h header) frame {
	t := headerSize + int(h.table())
	return frame{h, b[headerSize:t], b[t : headerSize+int(h.stored)]}
}

// contents appends the decompressed contents to dst.
func (f frame) contents(dst []byte) ([]byte, error) {
	if f.codec == codecRaw {
		return append(dst, f.stored...), nil
	}
	return decompress(dst, f.stored, int(f.raw))
}

// view returns the contents without a copy where they are stored raw.
func (f frame) view() ([]byte, error) {
	if f.codec == codecRaw {
		return f.stored, nil
	}
	return decompress(make([]byte, 0, f.raw), f.stored, int(f.raw))
}

// beginFrame appends room for a header and returns where the frame begins; the caller appends the table.
func beginFrame(buf []byte) ([]byte, int) {
	var zero [headerSize]byte
	return append(buf, zero[:]...), len(buf)
}

// endFrame appends the contents after the table of the frame that begins at start, pads it, and fills in the header.
// The checksum waits until the frame's place is known.
func endFrame(buf []byte, start int, kind frameKind, flags uint16, items int, contents []byte) []byte {
	return endFrameWith(&encoders, buf, start, kind, flags, items, contents)
}

// endFrameWith is endFrame with encoders of another level.
func endFrameWith(enc *sync.Pool, buf []byte, start int, kind frameKind, flags uint16, items int, contents []byte) []byte {
	h := header{kind: kind, flags: flags, raw: uint32(len(contents)), items: uint32(items)}
	table := len(buf)
	if len(contents) >= minCompress {
		buf = compressWith(enc, buf, contents)
		h.codec = codecZstd
	}
	if h.codec == codecRaw || len(buf)-table >= len(contents) {
		buf = append(buf[:table], contents...)
		h.codec = codecRaw
	}
	h.stored = uint32(len(buf) - start - headerSize)
	for (len(buf)-start)%frameAlign != 0 {
		buf = append(buf, 0)
	}
	h.put(buf[start:])
	return buf
}
