package store

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// level is the compression of what is written: see the measurements in docs/spec/store.md. Collecting garbage packs
// again in any case, so that a first commit need not wait for the better ratio.
const level = zstd.SpeedFastest

// minCompress is the length from which trying to compress pays for the call.
const minCompress = 64

// One encoder or decoder works for one goroutine at a time; it starts none of its own.
var (
	encoders = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(maxRaw)) // the frame has a checksum of its own
		if err != nil {
			return err
		}
		return e
	}}
	decoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRaw),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
		return d
	}}
)

// compress appends src compressed to dst, or nothing when there is no encoder.
func compress(dst, src []byte) []byte {
	e, ok := encoders.Get().(*zstd.Encoder)
	if !ok {
		return append(dst, src...) // as long as the source, so stored raw
	}
	dst = e.EncodeAll(src, dst)
	encoders.Put(e)
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
