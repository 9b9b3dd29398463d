package revlog

import (
	"bytes"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Compression is what a Writer compresses chunks with. A reader takes each chunk by its first byte: one file may have all.
type Compression uint8

// The compressions that Mercurial has for revlogs (format.revlog-compression).
const (
	Zstd Compression = iota // level 3
	Zlib                    // level 6
	None
)

// What is shorter is not worth compressing, as Mercurial has it for each.
const (
	leastZlib = 44
	leastZstd = 50
)

// encoder makes chunks. Not for concurrent use.
type encoder struct {
	kind Compression
	zstd *zstd.Encoder
	zlib *zlib.Writer
	buf  bytes.Buffer
	out  []byte
}

// encode returns data as a chunk, valid until the next call.
func (c *encoder) encode(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	switch {
	case c.kind == Zstd && len(data) >= leastZstd:
		if c.zstd == nil {
			var err error
			c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
				zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(2<<20), zstd.WithSingleSegment(true),
				zstd.WithAllLitEntropyCompression(true))
			if err != nil {
				return nil, err
			}
		}
		c.out = c.zstd.EncodeAll(data, c.out[:0])
		if len(c.out) < len(data) {
			return c.out, nil
		}
	case c.kind == Zlib && len(data) >= leastZlib:
		c.buf.Reset()
		if c.zlib == nil {
			c.zlib = zlib.NewWriter(&c.buf)
		} else {
			c.zlib.Reset(&c.buf)
		}
		if _, err := c.zlib.Write(data); err != nil {
			return nil, err
		}
		if err := c.zlib.Close(); err != nil {
			return nil, err
		}
		if c.buf.Len() < len(data) {
			return c.buf.Bytes(), nil
		}
	}
	if data[0] == chunkRaw {
		c.out = append(c.out[:0], data...)
	} else {
		c.out = append(append(c.out[:0], chunkText), data...)
	}
	return c.out, nil
}
