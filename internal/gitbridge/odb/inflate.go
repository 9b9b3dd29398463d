package odb

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

// inflater undoes zlib. The zero value is ready.
type inflater struct {
	src bytes.Reader
	fl  io.ReadCloser
}

// zlib fills dst from a stream at the front of src.
func (z *inflater) zlib(dst, src []byte) error {
	if len(src) < 2 || src[0]&15 != 8 || (uint(src[0])<<8|uint(src[1]))%31 != 0 || src[1]&32 != 0 {
		return fmt.Errorf("%w: not a zlib stream", ErrCorrupt)
	}
	z.src.Reset(src[2:])
	if z.fl == nil {
		z.fl = flate.NewReader(&z.src)
	} else {
		z.fl.(flate.Resetter).Reset(&z.src, nil)
	}
	if _, err := io.ReadFull(z.fl, dst); err != nil {
		return fmt.Errorf("%w: compressed bytes: %v", ErrCorrupt, err)
	}
	return nil
}

// zlibPart fills dst as far as the stream goes.
func (z *inflater) zlibPart(dst, src []byte) (int, error) {
	if len(src) < 2 || src[0]&15 != 8 || (uint(src[0])<<8|uint(src[1]))%31 != 0 || src[1]&32 != 0 {
		return 0, fmt.Errorf("%w: not a zlib stream", ErrCorrupt)
	}
	fl := flate.NewReader(bytes.NewReader(src[2:]))
	n, err := io.ReadFull(fl, dst)
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, fmt.Errorf("%w: compressed bytes: %v", ErrCorrupt, err)
	}
	return n, nil
}
