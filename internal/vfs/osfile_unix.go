//go:build linux || darwin

package vfs

import (
	"errors"
	"io"
	"io/fs"
	"math"

	"golang.org/x/sys/unix"
)

// maxTransfer bounds one read or write: darwin refuses 2 GiB and more, and Linux shortens them.
const maxTransfer = 1 << 30

var errNegativeOffset = errors.New("negative offset")

// osFile is a bare descriptor. os.File would add two system calls, a cleanup and a lock per file, of which reading a
// tree of 80 000 files uses nothing.
type osFile struct {
	fd   int
	dir  *osDir // nil when opened by path; only for the path in messages
	name string
}

func (f *osFile) Name() string {
	if f.dir == nil {
		return f.name
	}
	return f.dir.path(f.name)
}

func (f *osFile) fail(op string, err error) error { return pathError(op, f.Name(), err) }

func (f *osFile) act(op string, call func() error) error {
	if err := retry(call); err != nil {
		return f.fail(op, err)
	}
	return nil
}

func (f *osFile) Close() error {
	// Not repeated when interrupted, see osDir.Close.
	if err := unix.Close(f.fd); err != nil && err != unix.EINTR {
		return f.fail("close", err)
	}
	return nil
}

func (f *osFile) Stat(st *Stat) error {
	var sys unix.Stat_t
	if err := f.act("stat", func() error { return unix.Fstat(f.fd, &sys) }); err != nil {
		return err
	}
	fillStat(st, &sys)
	return nil
}

func (f *osFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, p[:min(len(p), maxTransfer)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, f.fail("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f *osFile) ReadAt(p []byte, off int64) (done int, err error) {
	if off < 0 {
		return 0, f.fail("read", errNegativeOffset)
	}
	for done < len(p) {
		n, err := unix.Pread(f.fd, p[done:min(len(p), done+maxTransfer)], off+int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, f.fail("read", err)
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

func (f *osFile) Write(p []byte) (int, error) {
	return f.writeAll(p, func(p []byte, _ int) (int, error) { return unix.Write(f.fd, p) })
}

func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, f.fail("write", errNegativeOffset)
	}
	return f.writeAll(p, func(p []byte, done int) (int, error) { return unix.Pwrite(f.fd, p, off+int64(done)) })
}

func (f *osFile) writeAll(p []byte, write func(p []byte, done int) (int, error)) (done int, err error) {
	for done < len(p) {
		n, err := write(p[done:min(len(p), done+maxTransfer)], done)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return done, f.fail("write", err)
		}
		done += n
	}
	return done, nil
}

func (f *osFile) Sync() error {
	return f.act("sync", func() error { return syncFile(f.fd) })
}

func (f *osFile) Truncate(size int64) error {
	return f.act("truncate", func() error { return unix.Ftruncate(f.fd, size) })
}

func (f *osFile) Chmod(perm fs.FileMode) error {
	return f.act("chmod", func() error { return unix.Fchmod(f.fd, modeBits(perm)) })
}

func (f *osFile) Map(size int64) (Mapping, error) {
	if size < 0 || size > math.MaxInt {
		return nil, f.fail("map", unix.EINVAL)
	}
	var st Stat
	if err := f.Stat(&st); err != nil {
		return nil, err
	}
	if st.Size < size { // touching what lies beyond the end would kill the process with SIGBUS
		return nil, f.fail("map", io.ErrUnexpectedEOF)
	}
	if size == 0 { // mmap refuses it
		return mapping(nil), nil
	}
	b, err := unix.Mmap(f.fd, 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, f.fail("map", err)
	}
	return mapping(b), nil
}

// mapping is what Map gave; nil for an empty one.
type mapping []byte

func (m mapping) Bytes() []byte { return m }

func (m mapping) release() {
	if m != nil {
		_ = unix.Madvise(m, unix.MADV_DONTNEED) // advice: what it is not taken for costs memory only
	}
}

func (m mapping) Close() error {
	if m == nil {
		return nil
	}
	return unix.Munmap(m)
}
