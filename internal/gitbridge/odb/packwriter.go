package odb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zlib"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// PackWriter writes new objects into one pack, without deltas: git gc finds those. Nothing of it is seen by Git before
// Finish. It serves one goroutine.
type PackWriter struct {
	fs     vfs.FS
	dir    string // objects/pack
	format object.Format
	hasher *object.Hasher

	file    vfs.File
	out     *bufio.Writer
	at      uint64
	entries []packed
	have    map[object.ID]struct{}
	buf     bytes.Buffer
	zip     *zlib.Writer
}

// packed is an object in the pack that is being written.
type packed struct {
	id  object.ID
	off uint64
	crc uint32
}

const (
	// packBuffer is what is written at once.
	packBuffer = 1 << 20
	// tempName begins the names of unfinished packs: those that git gc removes when they are old.
	tempName = "tmp_pack_"
)

// NewPackWriter begins a pack in the database's own objects directory. Finish or Abort must be called.
func NewPackWriter(db *DB) (*PackWriter, error) {
	w := &PackWriter{
		fs: db.fs, dir: filepath.Join(db.CommonDir, "objects", "pack"), format: db.Format,
		hasher: object.NewHasher(db.Format, nil), have: map[object.ID]struct{}{},
	}
	if err := w.fs.MkdirAll(w.dir, 0o777); err != nil {
		return nil, err
	}
	var err error
	w.file, err = w.fs.OpenFile(w.temp(""), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("begin a pack: %w", err)
	}
	w.out = bufio.NewWriterSize(w.file, packBuffer)
	w.zip = zlib.NewWriter(&w.buf)
	// The number of objects is written once it is known. This goes no further than the buffer.
	return w, w.write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00"))
}

func (w *PackWriter) temp(ext string) string {
	return filepath.Join(w.dir, fmt.Sprintf("%s%016x%s", tempName, rand.Uint64(), ext))
}

// Len is how many objects have been added.
func (w *PackWriter) Len() int { return len(w.entries) }

// Add writes an object unless it was added before.
func (w *PackWriter) Add(kind object.Kind, content []byte) (object.ID, error) {
	id, err := w.hasher.Sum(kind, content)
	if err != nil {
		return id, err
	}
	return id, w.AddAs(id, kind, content)
}

// AddAs is Add of an object whose id is known to be its.
func (w *PackWriter) AddAs(id object.ID, kind object.Kind, content []byte) error {
	if _, found := w.have[id]; found {
		return nil
	}
	w.buf.Reset()
	w.zip.Reset(&w.buf)
	var head [10]byte
	head[0] = byte(kind)<<4 | byte(len(content)&15)
	n := 1
	for size := uint64(len(content)) >> 4; size > 0; size >>= 7 {
		head[n-1] |= 0x80
		head[n] = byte(size & 0x7f)
		n++
	}
	if _, err := w.zip.Write(content); err != nil {
		return err
	}
	if err := w.zip.Close(); err != nil {
		return err
	}
	crc := crc32.Update(crc32.ChecksumIEEE(head[:n]), crc32.IEEETable, w.buf.Bytes())
	w.entries = append(w.entries, packed{id, w.at, crc})
	w.have[id] = struct{}{}
	if err := w.write(head[:n]); err != nil {
		return err
	}
	return w.write(w.buf.Bytes())
}

func (w *PackWriter) write(b []byte) error {
	w.at += uint64(len(b))
	if _, err := w.out.Write(b); err != nil {
		return fmt.Errorf("write a pack: %w", err)
	}
	return nil
}

// Abort removes what has been written. After Finish it does nothing.
func (w *PackWriter) Abort() error {
	if w.file == nil {
		return nil
	}
	name := w.file.Name()
	err := errors.Join(w.file.Close(), w.fs.Remove(name))
	w.file = nil
	return err
}

// Finish makes the pack durable and gives it its name, pack-… without an extension; the name is empty, and nothing is
// left, where no object was added. After an error Git sees nothing of it, or all where only the last sync failed.
func (w *PackWriter) Finish() (name string, err error) {
	if len(w.entries) == 0 {
		return "", w.Abort()
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("finish a pack: %w", err), w.Abort())
		}
	}()
	if uint64(len(w.entries)) > 1<<32-1 {
		return "", ErrTooLarge
	}
	sum, err := w.seal()
	if err != nil {
		return "", err
	}
	idx := w.index(sum)
	name = fmt.Sprintf("pack-%x", sum)
	// The pack gets its name before its index: Git finds packs by their indexes.
	temp := w.file.Name()
	err = w.file.Close()
	w.file = nil
	if err != nil {
		return "", errors.Join(err, w.fs.Remove(temp))
	}
	if err := w.fs.Rename(temp, filepath.Join(w.dir, name+".pack")); err != nil {
		return "", errors.Join(err, w.fs.Remove(temp))
	}
	if err := w.fs.SyncDir(w.dir); err != nil { // or the index's name may outlive the pack's
		return "", err
	}
	return name, vfs.WriteFileAtomic(w.fs, filepath.Join(w.dir, name+".idx"), idx, true)
}

// seal writes the number of objects and the checksum of all, and syncs.
func (w *PackWriter) seal() ([]byte, error) {
	if err := w.out.Flush(); err != nil {
		return nil, err
	}
	if _, err := w.file.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(len(w.entries))), 8); err != nil {
		return nil, err
	}
	h := newHash(w.format)
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, io.NewSectionReader(w.file, 0, int64(w.at)), make([]byte, packBuffer)); err != nil {
		return nil, err
	}
	sum := h.Sum(nil)
	if _, err := w.file.WriteAt(sum, int64(w.at)); err != nil {
		return nil, err
	}
	return sum, w.file.Sync()
}
