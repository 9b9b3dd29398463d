package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // registers the algorithm
	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Where contents over maxBlob are cut. An insertion moves the cuts near it only, so that the next version of a large
// file shares its other chunks. Nothing but this sharing depends on the algorithm.
const (
	chunkMin    = 64 << 10
	chunkNormal = 256 << 10
	chunkMax    = maxBlob
	chunker     = "fastcdc-v1.0.0"
)

// scans holds buffers of chunkers.
var scans = sync.Pool{New: func() any { b := make([]byte, 2*chunkMax); return &b }}

// PutStream adds all that r gives, with memory of a few MiB however much it is, and returns its hash and length.
func (tx *Tx) PutStream(r io.Reader) (change.Hash, int64, error) {
	tx.ownMu.Lock()
	defer tx.ownMu.Unlock()
	return tx.own.PutStream(r)
}

// PutStream is like Tx.PutStream and works beside other packers.
func (p *Packer) PutStream(r io.Reader) (change.Hash, int64, error) {
	h, n, err := p.putChunks(r)
	if err != nil {
		return h, n, fmt.Errorf("store content: %w", err)
	}
	return h, n, nil
}

var errContent = errors.New("a content of more than 1 TiB")

func (p *Packer) putChunks(r io.Reader) (h change.Hash, size int64, err error) {
	first := pieces.Get().(*[]byte)
	defer pieces.Put(first)
	// What fits into one piece is one, so that a content has the same form whichever way it came.
	if cap(*first) <= maxBlob {
		*first = make([]byte, maxBlob+1)
	}
	*first = (*first)[:maxBlob+1]
	n, err := io.ReadFull(r, *first)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		data := (*first)[:n]
		h = hashOf(data)
		return h, int64(n), p.Put(h, data)
	}
	if err != nil {
		return h, 0, err
	}
	return p.cut(io.MultiReader(bytes.NewReader(*first), r))
}

// cut puts the chunks of r and their list.
func (p *Packer) cut(r io.Reader) (h change.Hash, size int64, err error) {
	buf := scans.Get().(*[]byte)
	defer scans.Put(buf)
	c, err := chunkers.NewChunkerBuffer(chunker, r,
		&chunkers.ChunkerOpts{MinSize: chunkMin, NormalSize: chunkNormal, MaxSize: chunkMax}, *buf)
	if err != nil {
		return h, 0, err
	}
	whole := blake3.New()
	var list []byte
	for end := false; !end; {
		chunk, err := c.Next()
		if end = errors.Is(err, io.EOF); err != nil && !end {
			return h, size, err
		}
		if len(chunk) == 0 {
			continue
		}
		if size += int64(len(chunk)); size > maxContent || len(list) >= maxChunks*blobItem {
			return h, size, errContent
		}
		_, _ = whole.Write(chunk) // a hash never fails
		ch := hashOf(chunk)
		if err := p.Put(ch, chunk); err != nil {
			return h, size, err
		}
		list = binary.LittleEndian.AppendUint32(append(list, ch[:]...), uint32(len(chunk)))
	}
	copy(h[:], whole.Sum(nil))
	mine, err := p.tx.claim(h)
	if err != nil || !mine {
		return h, size, err
	}
	var start int
	p.out, start = beginFrame(p.out)
	p.out = binary.LittleEndian.AppendUint64(append(p.out, h[:]...), uint64(size))
	p.out = append(p.out, list...)
	p.out = endFrame(p.out, start, kindList, 0, len(list)/blobItem, nil)
	p.refs = append(p.refs, frameRef{off: start, kind: kindList})
	return h, size, p.placeIfFull()
}
