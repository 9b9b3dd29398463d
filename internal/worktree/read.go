package worktree

import (
	"bytes"
	"errors"
	"fmt"
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
	start := len(buf)
	st, err := guard(dir, name, vfs.KindUnknown, func(f vfs.File, st *vfs.Stat) error {
		if st.Size > limit {
			return vfs.ErrTooLarge
		}
		size := int(st.Size)
		buf = slices.Grow(buf[:start], size)[:start+size]
		_, err := io.ReadFull(f, buf[start:])
		return moved(err)
	}, func(target string) {
		buf = append(buf[:start], target...)
	})
	return buf, st, err
}

// ReadPath is ReadFile for a path of the manifest's working copy. No element of it is followed if it is a link.
func ReadPath(root vfs.Dir, m *Manifest, path string, buf []byte, limit int64) ([]byte, vfs.Stat, error) {
	dir, name := split(path)
	d, err := openChain(root, dir)
	if err != nil {
		return buf, vfs.Stat{}, err
	}
	defer closeChain(d, root)
	old, _, err := m.Lookup(path)
	if err != nil {
		return buf, vfs.Stat{}, err
	}
	buf, st, err := ReadFile(d, diskName(&namedEntry{name, old}), buf, limit)
	return buf, st, withPath(err, path)
}

// guard calls read with an open file, or link with a link's target, and makes sure that the file was the same before
// and after. It tries again a few times, then gives up with ErrChanging. The kind is what the name was last seen to be.
func guard(dir vfs.Dir, name string, kind vfs.Kind, read readFunc, link func(string)) (st vfs.Stat, err error) {
	for range maxReads {
		if st, err = guardOnce(dir, name, kind, read, link); !errors.Is(err, errMoved) {
			if err != nil {
				err = &PathError{name, err}
			}
			return st, err
		}
		kind = vfs.KindUnknown
	}
	return st, &PathError{name, ErrChanging}
}

type readFunc = func(f vfs.File, st *vfs.Stat) error

func guardOnce(dir vfs.Dir, name string, kind vfs.Kind, read readFunc, link func(string)) (st vfs.Stat, err error) {
	if kind != vfs.KindFile {
		if err := dir.Lstat(name, &st); err != nil {
			return st, err
		}
		kind = st.Kind
	}
	switch kind {
	case vfs.KindLink:
		target, err := dir.Readlink(name)
		if err != nil {
			return st, err
		}
		var after vfs.Stat
		if err := dir.Lstat(name, &after); err != nil || after != st {
			return st, errors.Join(err, errMoved)
		}
		link(target)
		return st, nil
	case vfs.KindFile:
	default:
		return st, fmt.Errorf("neither a file nor a link")
	}
	f, err := dir.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return st, err
	}
	defer f.Close()
	if err := f.Stat(&st); err != nil {
		return st, err
	}
	if st.Kind != vfs.KindFile {
		return st, errMoved
	}
	if err := read(f, &st); err != nil {
		return st, err
	}
	var after vfs.Stat
	if err := f.Stat(&after); err != nil {
		return st, err
	}
	if after != st {
		return st, errMoved
	}
	return st, nil
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

// fileHasher hashes files without an allocation for each.
type fileHasher struct {
	h   *blake3.Hasher
	buf []byte
}

func newFileHasher() *fileHasher { return &fileHasher{blake3.New(), make([]byte, hashChunk)} }

// file hashes an entry's content, of any size, with the stat that belongs to it.
func (h *fileHasher) file(dir vfs.Dir, name string, kind vfs.Kind) (sum change.Hash, st vfs.Stat, err error) {
	st, err = guard(dir, name, kind, func(f vfs.File, st *vfs.Stat) error {
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
	}, func(target string) {
		h.h.Reset()
		h.h.WriteString(target)
	})
	if err == nil {
		h.h.Sum(sum[:0])
	}
	return sum, st, err
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
