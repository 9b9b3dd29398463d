package vfs

import (
	"errors"
	"io"
	"os"
)

// Sharer is an FS that can give a file's bytes to a second file without copying them. Both methods fail with
// errors.ErrUnsupported, or any other error, where the file system cannot; then nothing was made.
type Sharer interface {
	// Reflink makes the file to, which must not be there, with the bytes of an open file. The two share them until either is written.
	Reflink(from File, to string) error
	// Link gives the file that from is a name of a second name, to, which must not be there. A symbolic link is not followed.
	Link(from, to string) error
}

// Way is how a file came to have the bytes of another.
type Way uint8

// The ways, from the one that costs most.
const (
	Copied Way = iota
	Linked
	Reflinked
)

func (w Way) String() string { return [...]string{"copied", "linked", "reflinked"}[w] }

// copyStep is how much is copied at a time; between, progress is told.
const copyStep = 1 << 20

// Share makes the file to, which must not be there, with the first size bytes of the open file from, durable but for its name. With
// link it may become a second name of the very file: only for one that nobody writes to any more. progress may stop it.
func Share(fsys FS, from File, to string, size int64, link bool, progress func(bytes int64) error) (Way, error) {
	if s, ok := fsys.(Sharer); ok {
		if s.Reflink(from, to) == nil {
			return Reflinked, errors.Join(cut(fsys, to, size), progress(size))
		}
		if link && linkSame(fsys, s, from, to, size) {
			return Linked, progress(size)
		}
	}
	return Copied, copyBytes(fsys, from, to, size, progress)
}

// linkSame links to the open file: what its name stands for may have become another since.
func linkSame(fsys FS, s Sharer, from File, to string, size int64) bool {
	if s.Link(from.Name(), to) != nil {
		return false
	}
	var a, b Stat
	if from.Stat(&a) == nil && fsys.Lstat(to, &b) == nil && b.Kind == KindFile && a.Ino != 0 && a.Ino == b.Ino && a.Dev == b.Dev && b.Size == size {
		return true
	}
	_ = fsys.Remove(to) // a name that was made here; the file keeps its own
	return false
}

// cut takes away what was written to a file that still grows beyond the size that was asked for.
func cut(fsys FS, name string, size int64) error {
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	var st Stat
	if err = f.Stat(&st); err == nil && st.Size < size {
		err = pathError("reflink", name, io.ErrUnexpectedEOF)
	}
	if err == nil && st.Size > size {
		err = f.Truncate(size)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func copyBytes(fsys FS, from File, name string, size int64, progress func(int64) error) error {
	to, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	buf := make([]byte, min(size, copyStep))
	for at := int64(0); at < size && err == nil; {
		step := min(size-at, copyStep)
		var n int
		if n, err = from.ReadAt(buf[:step], at); int64(n) < step {
			if err == nil || errors.Is(err, io.EOF) {
				err = pathError("copy", from.Name(), io.ErrUnexpectedEOF)
			}
			break
		}
		if _, err = to.WriteAt(buf[:step], at); err == nil {
			err = progress(step)
		}
		at += step
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}
