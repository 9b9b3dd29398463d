//go:build linux || darwin

package revlog

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// osFS is the operating system's files: bare descriptors, since opening a revlog must cost little more than mapping it.
type osFS struct{}

func (osFS) Open(name string) (File, error) {
	fd, err := openRetry(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return osFile{fd, name}, nil
}

func (osFS) Append(name string) (WriteFile, error) {
	fd, err := openRetry(name, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return nil, err
	}
	return osFile{fd, name}, nil
}

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }

func (osFS) SyncName(name string) error {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func openRetry(name string, flags int, perm uint32) (int, error) {
	for {
		fd, err := unix.Open(name, flags, perm)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return -1, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return fd, nil
	}
}

type osFile struct {
	fd   int
	name string
}

func (f osFile) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f osFile) Close() error {
	// Not repeated when interrupted: the descriptor is gone all the same and may be another's by then.
	if err := unix.Close(f.fd); err != nil && err != unix.EINTR {
		return f.fail("close", err)
	}
	return nil
}

func (f osFile) Size() (int64, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstat(f.fd, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, f.fail("stat", err)
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			return 0, f.fail("open", errors.New("not a regular file"))
		}
		return st.Size, nil
	}
}

func (f osFile) ReadAt(p []byte, off int64) (done int, err error) {
	for done < len(p) {
		n, err := unix.Pread(f.fd, p[done:min(len(p), done+maxTransfer)], off+int64(done))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, f.fail("read", err)
		case n == 0:
			return done, io.EOF
		default:
			done += n
		}
	}
	return done, nil
}

func (f osFile) WriteAt(p []byte, off int64) (done int, err error) {
	for done < len(p) {
		n, err := unix.Pwrite(f.fd, p[done:min(len(p), done+maxTransfer)], off+int64(done))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, f.fail("write", err)
		case n == 0:
			return done, f.fail("write", io.ErrShortWrite)
		default:
			done += n
		}
	}
	return done, nil
}

// maxTransfer bounds one read or write: darwin refuses 2 GiB and more, and Linux shortens them.
const maxTransfer = 1 << 30

func (f osFile) Truncate(size int64) error {
	if err := unix.Ftruncate(f.fd, size); err != nil {
		return f.fail("truncate", err)
	}
	return nil
}

func (f osFile) Sync() error {
	if err := unix.Fsync(f.fd); err != nil {
		return f.fail("sync", err)
	}
	return nil
}

func (f osFile) Map(size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, nil // mmap refuses an empty mapping
	}
	b, err := unix.Mmap(f.fd, 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, f.fail("map", err)
	}
	return b, nil
}

func (f osFile) Unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return unix.Munmap(b)
}
