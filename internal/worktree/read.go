package worktree

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/zeebo/blake3"
)

// maxReads is how often a file that changes while it is read is read again.
const maxReads = 3

// errMoved says that a file was another at the end of a reading than at its start.
var errMoved = errors.New("file changed while it was read")

// binaryWindow is how far Git looks for a NUL.
const binaryWindow = 8000

// IsBinary tells whether content is not text: a NUL in its first 8000 bytes, as in Git.
func IsBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryWindow)], 0) >= 0
}

// ReadFile appends to buf the content of an entry of dir: a file's bytes or a link's target. The stat is that of the
// very content read. Errors are a *PathError with ErrChanging, with vfs.ErrTooLarge for more than limit bytes, or the
// file system's.
func ReadFile(dir vfs.Dir, name string, buf []byte, limit int64) ([]byte, vfs.Stat, error) {
	r := memoryReader{buf: buf, start: len(buf), limit: limit}
	err := r.guard.read(dir, name, vfs.KindUnknown, &r)
	return r.buf, r.guard.st, err
}

// memoryReader reads a content into memory.
type memoryReader struct {
	guard guard
	buf   []byte
	start int // of the content in buf
	limit int64
}

func (r *memoryReader) file(f vfs.File, st *vfs.Stat) error {
	if st.Size > r.limit {
		return vfs.ErrTooLarge
	}
	size := int(st.Size)
	r.buf = slices.Grow(r.buf[:r.start], size)[:r.start+size]
	_, err := io.ReadFull(f, r.buf[r.start:])
	return moved(err)
}

func (r *memoryReader) link(target string) { r.buf = append(r.buf[:r.start], target...) }

// ReadPath is ReadFile for a path of the manifest's working copy. No element of it is followed if it is a link.
func ReadPath(root vfs.Dir, m *Manifest, path string, buf []byte, limit int64) ([]byte, vfs.Stat, error) {
	old, _, err := m.Lookup(path)
	if err != nil {
		return buf, vfs.Stat{}, err
	}
	if old.Alias == 0 {
		if b, st, ok := readAtOnce(root, path, buf, limit); ok {
			return b, st, nil
		}
	}
	dir, name := split(path)
	d, err := openChain(root, dir)
	if err != nil {
		return buf, vfs.Stat{}, err
	}
	defer closeChain(d, root)
	buf, st, err := ReadFile(d, diskName(&namedEntry{name, old}), buf, limit)
	return buf, st, withPath(err, path)
}

// readAtOnce reads a file by its whole path, where the system can open that without following a link: a fifth of a diff
// of 1 000 files went into opening directories. Whatever is not a plain success is left to the long way, which says what
// is wrong.
func readAtOnce(root vfs.Dir, path string, buf []byte, limit int64) ([]byte, vfs.Stat, bool) {
	o, ok := root.(vfs.PathOpener)
	if !ok {
		return buf, vfs.Stat{}, false
	}
	f, err := o.OpenPath(path)
	if err != nil {
		return buf, vfs.Stat{}, false
	}
	defer f.Close()
	r := memoryReader{buf: buf, start: len(buf), limit: limit}
	if opened, err := r.guard.readOpen(f, &r); err != nil || !opened {
		return buf, vfs.Stat{}, false
	}
	return r.buf, r.guard.st, true
}

// sink takes a content from guard, from its start again each time that it is called.
type sink interface {
	file(f vfs.File, st *vfs.Stat) error
	link(target string)
}

// guard makes sure that an entry was the same before its content was read and after. It is used again for each file.
type guard struct{ st, after vfs.Stat }

// read hands the content to the sink; then st is the stat that belongs to it. It tries again a few times if the entry
// changes meanwhile, then gives up with ErrChanging. The kind is what the name was last seen to be.
func (g *guard) read(dir vfs.Dir, name string, kind vfs.Kind, to sink) error {
	for range maxReads {
		if err := g.once(dir, name, kind, to); !errors.Is(err, errMoved) {
			return withPath(err, name)
		}
		kind = vfs.KindUnknown
	}
	return &PathError{name, ErrChanging}
}

func (g *guard) once(dir vfs.Dir, name string, kind vfs.Kind, to sink) error {
	if kind == vfs.KindUnknown {
		// Nearly all are files, and an open that follows no link tells: it spares a first commit one call in six.
		opened, err := g.readFile(dir, name, to)
		if opened {
			return err
		}
	}
	if kind != vfs.KindFile {
		if err := dir.Lstat(name, &g.st); err != nil {
			return err
		}
		kind = g.st.Kind
	}
	switch kind {
	case vfs.KindFile:
		opened, err := g.readFile(dir, name, to)
		if err == nil && !opened {
			return errMoved
		}
		return err
	case vfs.KindLink:
		return g.readLink(dir, name, to)
	}
	return errNoContent
}

var errNoContent = errors.New("neither a file nor a link")

func (g *guard) readLink(dir vfs.Dir, name string, to sink) error {
	target, err := dir.Readlink(name)
	if err != nil {
		return err
	}
	if err := dir.Lstat(name, &g.after); err != nil {
		return err
	}
	if g.after != g.st {
		return errMoved
	}
	to.link(target)
	return nil
}

// readFile reads a file. It tells whether it found one: what is no file, or cannot be opened, is not read.
func (g *guard) readFile(dir vfs.Dir, name string, to sink) (opened bool, err error) {
	f, err := dir.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return g.readOpen(f, to)
}

// readOpen is readFile for what is open.
func (g *guard) readOpen(f vfs.File, to sink) (opened bool, err error) {
	if err := f.Stat(&g.st); err != nil {
		return true, err
	}
	if g.st.Kind != vfs.KindFile {
		return false, nil
	}
	if err := to.file(f, &g.st); err != nil {
		return true, err
	}
	if err := f.Stat(&g.after); err != nil {
		return true, err
	}
	if g.after != g.st {
		return true, errMoved
	}
	return true, nil
}

// moved takes an early end for what it is, a file that was cut. One that grew shows another size afterwards.
func moved(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errMoved
	}
	return err
}

// hashChunk stays within a core's cache.
const hashChunk = 256 << 10

// fileHasher hashes contents of any size without an allocation for each.
type fileHasher struct {
	guard guard
	h     *blake3.Hasher
	buf   []byte
}

func newFileHasher() *fileHasher { return &fileHasher{h: blake3.New(), buf: make([]byte, hashChunk)} }

// sum hashes an entry's content; the guard then has the stat that belongs to it.
func (h *fileHasher) sum(dir vfs.Dir, name string, kind vfs.Kind) (sum change.Hash, err error) {
	if err = h.guard.read(dir, name, kind, h); err == nil {
		h.h.Sum(sum[:0])
	}
	return sum, err
}

func (h *fileHasher) file(f vfs.File, st *vfs.Stat) error {
	h.h.Reset()
	for left := st.Size; left > 0; {
		part := h.buf[:min(left, hashChunk)]
		if _, err := io.ReadFull(f, part); err != nil {
			return moved(err)
		}
		h.h.Write(part)
		left -= int64(len(part))
	}
	return nil
}

func (h *fileHasher) link(target string) {
	h.h.Reset()
	h.h.WriteString(target)
}

// openChain opens the directory of a path element by element, following no link. Close it with closeChain.
func openChain(root vfs.Dir, path string) (vfs.Dir, error) {
	d := root
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next, err := d.OpenDir(name)
		closeChain(d, root)
		if err != nil {
			return nil, withPath(err, path)
		}
		d = next
	}
	return d, nil
}

func closeChain(d, root vfs.Dir) {
	if d != root {
		d.Close()
	}
}

// withPath makes an error name a path of the working copy.
func withPath(err error, path string) error {
	if err == nil {
		return nil
	}
	if p, ok := err.(*PathError); ok {
		return &PathError{path, p.Err}
	}
	return &PathError{path, err}
}

// isGone tells whether an error means that nothing has the name.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
