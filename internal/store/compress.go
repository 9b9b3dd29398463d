package store

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The compression of what is written, and of what is packed: see the measurements in docs/spec/store.md. A repack comes
// in any case, so that a first commit need not wait for the better ratio.
const (
	level       = zstd.SpeedFastest
	levelPacked = zstd.SpeedBetterCompression
)

// minCompress is the length from which compressing a frame pays. A commit of a line is shorter: compressed it saved 60
// bytes, which gc saves in any case, and a log of 100 such commits spent a tenth of its time on decompressing them.
const minCompress = 512

// One encoder or decoder works for one goroutine at a time; it starts none of its own.
var (
	encoders       = sync.Pool{New: func() any { return newEncoder(level) }}
	packedEncoders = sync.Pool{New: func() any { return newEncoder(levelPacked) }}
	decoders       = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRaw),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
		return d
	}}
)

// newEncoder returns an encoder, or the error of making one.
func newEncoder(level zstd.EncoderLevel) any {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(maxRaw), zstd.WithLowerEncoderMem(true)) // the frame has a checksum of its own
	if err != nil {
		return err
	}
	return e
}

func compressWith(enc *sync.Pool, dst, src []byte) []byte {
	e, ok := enc.Get().(*zstd.Encoder)
	if !ok {
		return append(dst, src...) // as long as the source, so stored raw
	}
	dst = e.EncodeAll(src, dst)
	enc.Put(e)
	return dst
}

var errLength = errors.New("contents have another length than the frame says")

// decompress appends src, which decompresses to raw bytes, to dst. It never takes more memory than raw, whatever src says.
func decompress(dst, src []byte, raw int) ([]byte, error) {
	out, err := decompressAtMost(dst, src, raw)
	if err == nil && len(out)-len(dst) != raw {
		return dst, errLength
	}
	return out, err
}

// decodeSlack is how much room the decoder wants behind what comes out, to copy in whole words: without it the last block of every
// frame, which is half of one with two, takes a third longer.
const decodeSlack = 32

// decompressAtMost is decompress of what may be shorter than raw.
func decompressAtMost(dst, src []byte, raw int) ([]byte, error) {
	d, ok := decoders.Get().(*zstd.Decoder)
	if !ok {
		return dst, errors.New("no zstd decoder")
	}
	defer decoders.Put(d)
	have := len(dst)
	if cap(dst)-have < raw+decodeSlack {
		grown := make([]byte, have, have+raw+decodeSlack)
		copy(grown, dst)
		dst = grown
	}
	// Given what lies before, too, the decoder would count it to the largest frame.
	out, err := d.DecodeAll(src, dst[have:have:have+raw+decodeSlack])
	if err != nil {
		return dst, fmt.Errorf("decompress: %w", err)
	}
	if len(out) > raw {
		return dst, errLength
	}
	return dst[:have+len(out)], nil // where out lies, with the room behind it
}

// blockSize is what a block of zstd holds at most, and every one but the last of those that are written here.
const blockSize = 128 << 10

// What a prefix of a zstd frame begins with in place of the frame's own header: the window of the largest frame here, and no
// word of how long the contents are.
const prefixHeader = "\x28\xb5\x2f\xfd\x00\x60"

var prefixes = sync.Pool{New: func() any { return new([]byte) }}

// decompressPrefix appends the first need bytes or more of what src decompresses to, raw bytes in all, to dst.
func decompressPrefix(dst, src []byte, raw, need int) ([]byte, error) {
	blocks := max(1, (need+blockSize-1)/blockSize)
	if blocks*blockSize >= raw-raw/8 {
		return decompress(dst, src, raw)
	}
	buf := prefixes.Get().(*[]byte)
	defer prefixes.Put(buf)
	cut, ok := cutBlocks(append((*buf)[:0], prefixHeader...), src, blocks)
	*buf = cut
	if !ok {
		return decompress(dst, src, raw)
	}
	have := len(dst)
	out, err := decompressAtMost(dst, cut, blocks*blockSize)
	if err != nil {
		return dst, err
	}
	if len(out)-have < need { // its blocks are shorter: another writer's
		return decompress(dst, src, raw)
	}
	return out, nil
}

// cutBlocks appends the first blocks of a zstd frame to dst, the last of them marked as that. It reports false where that is
// not what src begins with.
func cutBlocks(dst, src []byte, blocks int) ([]byte, bool) {
	const (
		blockHeader = 3
		blockLast   = 1
		blockRLE    = 1 // the type: one byte stands for all
	)
	var h zstd.Header
	if h.Decode(src[:min(len(src), zstd.HeaderMaxSize)]) != nil || h.Skippable || h.DictionaryID != 0 || h.HeaderSize > len(src) {
		return dst, false
	}
	src = src[h.HeaderSize:]
	for i := range blocks {
		if len(src) < blockHeader || src[0]&blockLast != 0 && i < blocks-1 {
			return dst, false
		}
		head := uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
		size := int(head >> 3)
		if head>>1&3 == blockRLE {
			size = 1
		}
		if size += blockHeader; size > len(src) {
			return dst, false
		}
		at := len(dst)
		dst, src = append(dst, src[:size]...), src[size:]
		if i == blocks-1 {
			dst[at] |= blockLast
		}
	}
	return dst, true
}
