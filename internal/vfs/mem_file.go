package vfs

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// memFile is an open file of a Mem.
type memFile struct {
	mem    *Mem
	node   *inode
	name   string
	flag   int
	off    int64
	closed bool
}

// maxMemFile bounds a file in memory, so that a wrong offset in a test fails instead of eating the machine.
const maxMemFile = 1 << 30

func (m *Mem) openFile(at place, name string, flag int, perm fs.FileMode) (File, error) {
	n, err := m.openNode(at, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	m.handles++
	return &memFile{mem: m, node: n, name: name, flag: flag}, nil
}

func (m *Mem) openNode(at place, flag int, perm fs.FileMode) (*inode, error) {
	if at.node == nil {
		if flag&os.O_CREATE == 0 {
			return nil, syscall.ENOENT
		}
		n := m.newInode(KindFile, perm.Perm()&^memUmask)
		return n, m.link(at, n)
	}
	switch {
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, syscall.EEXIST
	case at.node.kind == KindLink:
		return nil, syscall.ELOOP
	case at.node.kind == KindDir && writes(flag):
		return nil, syscall.EISDIR
	}
	if flag&os.O_TRUNC != 0 {
		m.resize(at.node, 0)
	}
	return at.node, nil
}

// do runs f with the file system locked and the file open.
func (f *memFile) do(op string, call func() error) error {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	err := fs.ErrClosed
	if !f.closed {
		err = call()
	}
	if err != nil && err != io.EOF {
		return pathError(op, f.name, err)
	}
	return err
}

func (f *memFile) Name() string { return f.name }

func (f *memFile) Close() error {
	return f.do("close", func() error {
		f.closed = true
		f.mem.handles--
		return nil
	})
}

func (f *memFile) Stat(st *Stat) error {
	return f.do("stat", func() error {
		f.node.fill(st)
		return nil
	})
}

func (f *memFile) Read(p []byte) (n int, err error) {
	err = f.do("read", func() error {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		if n > 0 {
			return nil
		}
		return err
	})
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", func() error {
		n, err = f.readAt(p, off)
		return err
	})
	return n, err
}

func (f *memFile) readAt(p []byte, off int64) (int, error) {
	switch {
	case f.flag&os.O_WRONLY != 0:
		return 0, syscall.EBADF
	case f.node.kind == KindDir:
		return 0, syscall.EISDIR
	case off < 0:
		return 0, syscall.EINVAL
	case len(p) == 0:
		return 0, nil
	case off >= int64(len(f.node.data)):
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (n int, err error) {
	err = f.do("write", func() error {
		if f.flag&os.O_APPEND != 0 {
			f.off = int64(len(f.node.data))
		}
		n, err = f.writeAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", func() error {
		if f.flag&os.O_APPEND != 0 { // as pwrite of Linux does
			off = int64(len(f.node.data))
		}
		n, err = f.writeAt(p, off)
		return err
	})
	return n, err
}

func (f *memFile) writeAt(p []byte, off int64) (int, error) {
	switch {
	case !f.writable():
		return 0, syscall.EBADF
	case off < 0:
		return 0, syscall.EINVAL
	case off > maxMemFile-int64(len(p)):
		return 0, syscall.EFBIG
	case len(p) == 0:
		return 0, nil
	}
	size := max(int64(len(f.node.data)), off+int64(len(p)))
	f.mem.write(f.node, write{off: off, data: bytes.Clone(p), size: size})
	return len(p), nil
}

func (f *memFile) writable() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

func (f *memFile) Sync() error {
	return f.do("sync", func() error {
		f.node.synced = bytes.Clone(f.node.data)
		f.node.unsynced = nil
		return nil
	})
}

func (f *memFile) Truncate(size int64) error {
	return f.do("truncate", func() error {
		switch {
		case !f.writable() || size < 0:
			return syscall.EINVAL
		case size > maxMemFile:
			return syscall.EFBIG
		}
		f.mem.resize(f.node, size)
		return nil
	})
}

func (f *memFile) Chmod(perm fs.FileMode) error {
	return f.do("chmod", func() error {
		f.mem.chmod(f.node, perm)
		return nil
	})
}

func (f *memFile) Map(size int64) (m Mapping, err error) {
	err = f.do("map", func() error {
		switch {
		case f.flag&os.O_WRONLY != 0:
			return syscall.EACCES
		case size < 0:
			return syscall.EINVAL
		case size > int64(len(f.node.data)):
			return io.ErrUnexpectedEOF
		}
		m = memMapping(bytes.Clone(f.node.data[:size]))
		return nil
	})
	return m, err
}

// memMapping is a copy, so that a writer does not race with who reads it.
type memMapping []byte

func (m memMapping) Bytes() []byte { return m }

func (memMapping) Close() error { return nil }

// write is a change of a file's contents: the file gets a size, then data goes to off.
type write struct {
	off  int64
	data []byte
	size int64
}

// apply changes contents in place where their capacity allows.
func (w write) apply(contents []byte) []byte {
	if grow := int(w.size) - len(contents); grow > 0 {
		contents = append(contents, make([]byte, grow)...)
	}
	contents = contents[:w.size]
	copy(contents[w.off:], w.data)
	return contents
}

func (m *Mem) write(n *inode, w write) {
	n.data = w.apply(n.data)
	n.unsynced = append(n.unsynced, w)
	n.mtime = m.now()
	n.ctime = n.mtime
}

func (m *Mem) resize(n *inode, size int64) { m.write(n, write{size: size}) }
