package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// maxLooseHeader is longer than any "kind size\0".
const maxLooseHeader = 64

// loosePath is where an object lies when it is a file of its own.
func loosePath(dir string, f object.Format, id object.ID) string {
	hex := string(f.AppendHex(nil, id))
	return filepath.Join(dir, hex[:2], hex[2:])
}

// readLoose appends the content of a loose object to buf.
func (r *Reader) readLoose(id object.ID, buf []byte) (object.Kind, []byte, error) {
	for _, dir := range r.db.dirs {
		name := loosePath(dir, r.db.Format, id)
		// What does not compress grows a little.
		b, err := r.db.fs.ReadFile(name, r.db.opt.MaxObject+r.db.opt.MaxObject/1000+maxLooseHeader)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, vfs.ErrTooLarge) {
			return 0, nil, fmt.Errorf("%w: %w", ErrTooLarge, err)
		}
		if err != nil {
			return 0, nil, err
		}
		return r.inflateLoose(b, buf)
	}
	return 0, nil, ErrMissing
}

// inflateLoose inflates a file twice: its first bytes, which say how long the rest is, and all of it.
func (r *Reader) inflateLoose(b, buf []byte) (object.Kind, []byte, error) {
	var head [maxLooseHeader]byte
	n, err := r.inflate.zlibPart(head[:], b)
	if err != nil {
		return 0, nil, err
	}
	kind, size, skip, err := parseLooseHeader(head[:n])
	if err != nil {
		return 0, nil, err
	}
	if size > uint64(r.db.opt.MaxObject) {
		return 0, nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	if size > maxInflate*uint64(len(b)) {
		return 0, nil, fmt.Errorf("%w: %d bytes cannot become %d", ErrCorrupt, len(b), size)
	}
	start := len(buf)
	buf = grow(buf, skip+int(size))
	if err := r.inflate.zlib(buf[start:], b); err != nil {
		return 0, nil, err
	}
	copy(buf[start:], buf[start+skip:])
	return kind, buf[:len(buf)-skip], nil
}

// parseLooseHeader reads "kind size\0" and says how long it is: fsck's unterminatedHeader, nulInHeader, unknownType.
func parseLooseHeader(b []byte) (kind object.Kind, size uint64, n int, err error) {
	nul := bytes.IndexByte(b, 0)
	if nul < 0 {
		return 0, 0, 0, fmt.Errorf("%w: header of a loose object", ErrCorrupt)
	}
	name, digits, _ := bytes.Cut(b[:nul], []byte{' '})
	if kind, err = object.ParseKind(name); err != nil {
		return 0, 0, 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	size, err = strconv.ParseUint(string(digits), 10, 63)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return 0, 0, 0, fmt.Errorf("%w: header of a loose object", ErrCorrupt)
	}
	return kind, size, nul + 1, nil
}
