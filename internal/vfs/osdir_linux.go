package vfs

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

func syncFile(fd int) error { return unix.Fdatasync(fd) }

// syncDir is fsync: fdatasync may leave out what a directory has changed besides its entries, and costs the same.
func syncDir(fd int) error { return retry(func() error { return unix.Fsync(fd) }) }

// chmodat changes the mode of an entry, never of what a symbolic link points to.
func chmodat(dir int, name string, mode uint32) error {
	err := unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
	if err != unix.EOPNOTSUPP && err != unix.ENOSYS {
		return err
	}
	// Kernels before 6.6 know no such flag. An O_PATH descriptor pins the entry without needing the right to read it.
	fd, err := openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var sys unix.Stat_t
	if err := unix.Fstat(fd, &sys); err != nil {
		return err
	}
	if sys.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.EOPNOTSUPP
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}

// openDirFlag opens a directory without making it ready to be read: a status reads few of the 5 000 directories of a large
// tree, and such a descriptor is made and closed in half the time. ReadDir opens one of its own.
const openDirFlag = unix.O_PATH

// direntBuffers holds the buffers of getdents64. 32 KiB take most directories in one call.
var direntBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (d *osDir) ReadDir(buf []DirEntry) ([]DirEntry, error) {
	fd, err := openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return buf, d.fail("readdir", "", err)
	}
	defer unix.Close(fd)
	page := direntBuffers.Get().(*[32 << 10]byte)
	defer direntBuffers.Put(page)
	for {
		n, err := unix.Getdents(fd, page[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return buf, d.fail("readdir", "", err)
		}
		if n == 0 {
			return buf, nil
		}
		buf = appendDirents(buf, page[:n])
	}
}

// The head of a linux_dirent64: inode (8 bytes), offset (8), record length (2), type (1); the name follows with a NUL.
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// appendDirents appends the entries of one answer of getdents64. Their names share one allocation.
func appendDirents(buf []DirEntry, page []byte) []DirEntry {
	var names strings.Builder
	names.Grow(len(page) * 2 / 3) // heads and padding take at least a third
	buf = slices.Grow(buf, len(page)/48)
	for len(page) > direntName {
		length := int(*(*uint16)(unsafe.Pointer(&page[direntLength])))
		if length <= direntName || length > len(page) {
			return buf // no kernel does this
		}
		name := page[direntName:length]
		kind := direntKind(page[direntType])
		page = page[length:]
		end := 0
		for end < len(name) && name[end] != 0 {
			end++
		}
		name = name[:end]
		if name[0] == '.' && (end == 1 || end == 2 && name[1] == '.') {
			continue
		}
		start := names.Len()
		names.Write(name)
		// Should the builder move to a larger allocation, the earlier names keep the old one.
		buf = append(buf, DirEntry{Name: names.String()[start:], Kind: kind})
	}
	return buf
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return KindFile
	case unix.DT_DIR:
		return KindDir
	case unix.DT_LNK:
		return KindLink
	case unix.DT_UNKNOWN:
		return KindUnknown
	}
	return KindOther
}
