package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Sizes of contents.
const (
	// smallBlob is the length below which contents share a frame: alone they compress to 2.2, together to 3.6.
	smallBlob = 4 << 10
	// packSize is about how much shares a frame. Reading one content decompresses all of it: with 128 KiB a diff of 1 000
	// files of the Linux tree spent a quarter longer, and the whole log was 0.5 % smaller.
	packSize = 32 << 10
	// maxBlob is the longest content in one piece; longer ones are lists of chunks.
	maxBlob = 1 << 20
	// maxContent bounds a list.
	maxContent = 1 << 40
)

var (
	errBlob     = errors.New("not the content that the index says")
	errBlobHash = errors.New("the content has another hash than its name")
	errSize     = errors.New("too large to be read at once")
)

// findBlob returns the record of a content.
func (s *Store) findBlob(h change.Hash) (blobRecord, bool) {
	n, t, ok := s.find(blobsCol, (*[32]byte)(&h))
	if !ok {
		return blobRecord{}, false
	}
	r := parseBlobRecord(t.cols[blobsCol].at(n))
	if r.hash != h { // damaged; no other is read in its stead
		r = blobRecord{hash: h, at: r.at, item: r.item, size: -1}
	}
	return r, true
}

// BlobSize returns the length of a content, and whether it is there; -1 if it is so damaged that its length is lost.
func (s *Store) BlobSize(h change.Hash) (int64, bool) {
	r, ok := s.findBlob(h)
	return r.size, ok
}

// Blob appends a content to dst. The checksum of what it was read from is verified; that it has the hash was when it
// was put, and VerifyBlob proves it again.
func (s *Store) Blob(dst []byte, h change.Hash) ([]byte, error) {
	r, ok := s.findBlob(h)
	if !ok {
		return dst, fmt.Errorf("read content %s: %w", h, s.missing())
	}
	b, err := s.readBlob(dst, r)
	if err != nil {
		return dst, fmt.Errorf("read content %s: %w", h, err)
	}
	return b, nil
}

// maxAtOnce bounds a content that Blob returns; WriteBlob takes the larger ones.
const maxAtOnce = 1 << 31

func (s *Store) readBlob(dst []byte, r blobRecord) ([]byte, error) {
	if !r.list {
		return s.readPiece(dst, r)
	}
	if r.size > maxAtOnce {
		return dst, errSize
	}
	// Room for all at once: made chunk by chunk, a file of 14 MB would be copied fifty times.
	dst = slices.Grow(dst, int(r.size))
	err := s.eachChunk(r, func(c blobRecord) (err error) {
		dst, err = s.readPiece(dst, c)
		return err
	})
	return dst, err
}

// readPiece appends a content that is not a list.
func (s *Store) readPiece(dst []byte, r blobRecord) ([]byte, error) {
	if r.size < smallBlob || r.shared {
		c := s.frames.get(r.at)
		defer s.frames.release(c)
		return c.appendItem(dst, s, r)
	}
	f, err := s.frame(r.at) // it is alone there
	if err != nil {
		return dst, err
	}
	from, to, err := itemSpan(f, r)
	if err == nil && (from != 0 || to != int(f.raw)) {
		err = errBlob
	}
	b := dst
	if err == nil {
		b, err = f.contents(dst)
	}
	if err != nil {
		return dst, s.damaged(r.at, err)
	}
	return b, nil
}

// itemSpan tells where in the contents of f the content of r lies.
func itemSpan(f frame, r blobRecord) (from, to int, err error) {
	if f.kind != kindBlobs || r.item >= f.items {
		return 0, 0, errBlob
	}
	item := f.table[r.item*blobItem:]
	size := binary.LittleEndian.Uint32(item[32:])
	if change.Hash(item[:32]) != r.hash || int64(size) != r.size {
		return 0, 0, errBlob
	}
	var off uint64
	for i := range r.item {
		off += uint64(binary.LittleEndian.Uint32(f.table[i*blobItem+32:]))
	}
	if off+uint64(size) > uint64(f.raw) {
		return 0, 0, errBlob
	}
	return int(off), int(off + uint64(size)), nil
}

// eachChunk calls do with the record of each chunk of a list, in order.
func (s *Store) eachChunk(r blobRecord, do func(blobRecord) error) error {
	f, err := s.frame(r.at)
	if err != nil {
		return err
	}
	if f.kind != kindList || change.Hash(f.table[:32]) != r.hash || binary.LittleEndian.Uint64(f.table[32:]) != uint64(r.size) {
		return s.damaged(r.at, errBlob)
	}
	for t := f.table[listTable:]; len(t) > 0; t = t[blobItem:] {
		h, size := change.Hash(t[:32]), binary.LittleEndian.Uint32(t[32:])
		c, ok := s.findBlob(h)
		if !ok || c.list || c.size != int64(size) {
			return s.damaged(r.at, fmt.Errorf("chunk %s: %w", h, errBlob))
		}
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

// pieces holds buffers for contents on their way to a writer.
var pieces = sync.Pool{New: func() any { return new([]byte) }}

// WriteBlob writes a content, however large, in pieces of at most 1 MiB.
func (s *Store) WriteBlob(w io.Writer, h change.Hash) error {
	r, ok := s.findBlob(h)
	if !ok {
		return fmt.Errorf("read content %s: %w", h, s.missing())
	}
	buf := pieces.Get().(*[]byte)
	defer pieces.Put(buf)
	write := func(r blobRecord) (err error) {
		if *buf, err = s.readPiece((*buf)[:0], r); err == nil {
			_, err = w.Write(*buf)
		}
		return err
	}
	err := error(nil)
	if r.list {
		err = s.eachChunk(r, write)
	} else {
		err = write(r)
	}
	if err != nil {
		return fmt.Errorf("read content %s: %w", h, err)
	}
	return nil
}

// VerifyBlob reads a content and proves that it has its hash.
func (s *Store) VerifyBlob(h change.Hash) error {
	hasher := blake3.New()
	if err := s.WriteBlob(hasher, h); err != nil {
		return err
	}
	if change.Hash(hasher.Sum(nil)) != h {
		return fmt.Errorf("read content %s: %w: %w", h, ErrDamaged, errBlobHash)
	}
	return nil
}

// NumBlobs returns how many contents there are, chunks and lists of chunks among them.
func (s *Store) NumBlobs() uint32 { return s.now.Load().n[blobsCol] }

// BlobSizeAt returns the length of a content by its number, and 0 if there is none.
func (s *Store) BlobSizeAt(n uint32) int64 {
	rec, _, ok := s.record(blobsCol, n)
	if !ok {
		return 0
	}
	return parseBlobRecord(rec).size
}
