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
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(maxRaw)) // the frame has a checksum of its own
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
	d, ok := decoders.Get().(*zstd.Decoder)
	if !ok {
		return dst, errors.New("no zstd decoder")
	}
	defer decoders.Put(d)
	have := len(dst)
	if cap(dst)-have < raw {
		grown := make([]byte, have, have+raw)
		copy(grown, dst)
		dst = grown
	}
	out, err := d.DecodeAll(src, dst[:have:have+raw])
	if err != nil {
		return dst, fmt.Errorf("decompress: %w", err)
	}
	if len(out)-have != raw {
		return dst, errLength
	}
	return dst[:have+raw], nil // where out lies, with the room behind it
}
