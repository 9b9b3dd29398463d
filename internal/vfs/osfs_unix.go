//go:build linux || darwin

package vfs

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func hasOSSeparator(string) bool { return false }

// retry repeats f while a signal interrupts it: the Go runtime preempts goroutines by signals, and file systems such
// as FUSE and NFS let them interrupt any call.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// openat opens name relative to the directory fd and gives the descriptor.
func openat(dir int, name string, flag int, perm fs.FileMode) (fd int, err error) {
	for {
		fd, err = unix.Openat(dir, name, flag|unix.O_CLOEXEC, modeBits(perm))
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if writes(flag) {
		flag |= unix.O_NOFOLLOW
	}
	fd, err := openat(unix.AT_FDCWD, name, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &osFile{fd: fd, name: name}, nil
}

func (osFS) OpenDir(name string) (Dir, error) {
	fd, err := openat(unix.AT_FDCWD, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &osDir{fd: fd, name: name}, nil
}

func (osFS) Lstat(name string, st *Stat) error {
	var sys unix.Stat_t
	if err := retry(func() error { return unix.Lstat(name, &sys) }); err != nil {
		return pathError("lstat", name, err)
	}
	fillStat(st, &sys)
	return nil
}

// Rename is the bare call: os.Rename looks at both names first and refuses to replace an empty directory.
func (osFS) Rename(from, to string) error {
	if err := retry(func() error { return unix.Rename(from, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func (osFS) SyncDir(name string) error {
	fd, err := openat(unix.AT_FDCWD, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return pathError("open", name, err)
	}
	defer unix.Close(fd)
	err = syncDir(fd)
	// Some network and FUSE file systems cannot sync a directory, and nothing would be gained by refusing to work there.
	if err != nil && err != unix.EINVAL && err != unix.ENOTSUP {
		return pathError("sync", name, err)
	}
	return nil
}

// fillStat translates what the system says of a file.
func fillStat(st *Stat, sys *unix.Stat_t) {
	mode := fs.FileMode(sys.Mode & 0o777)
	kind := KindOther
	switch sys.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		kind = KindFile
	case unix.S_IFDIR:
		kind, mode = KindDir, mode|fs.ModeDir
	case unix.S_IFLNK:
		kind, mode = KindLink, mode|fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	default:
		mode |= fs.ModeDevice
	}
	if sys.Mode&(unix.S_ISUID|unix.S_ISGID|unix.S_ISVTX) != 0 {
		mode |= specialBits(uint32(sys.Mode))
	}
	st.Kind = kind
	st.Mode = mode
	st.Exec = sys.Mode&0o100 != 0
	st.Size = sys.Size
	st.Mtime = unix.TimespecToNsec(sys.Mtim)
	st.Ctime = unix.TimespecToNsec(sys.Ctim)
	st.Ino = sys.Ino
	st.Dev = uint64(sys.Dev)
	st.UID = sys.Uid
}

func specialBits(sys uint32) (mode fs.FileMode) {
	if sys&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if sys&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if sys&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// modeBits gives the system's form of the permissions and of the three special bits.
func modeBits(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= unix.S_ISUID
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= unix.S_ISGID
	}
	if mode&fs.ModeSticky != 0 {
		bits |= unix.S_ISVTX
	}
	return bits
}
