package vfs

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// syncFile asks the drive to empty its cache: fsync on darwin only hands the data to the drive.
func syncFile(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if err == unix.ENOTSUP || err == unix.ENOTTY || err == unix.EINVAL { // not on network file systems
		return unix.Fsync(fd)
	}
	return err
}

func syncDir(fd int) error { return retry(func() error { return syncFile(fd) }) }

func chmodat(dir int, name string, mode uint32) error {
	return unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}

// openDirFlag opens a directory to work relative to it.
const openDirFlag = unix.O_RDONLY

func (d *osDir) ReadDir(buf []DirEntry) ([]DirEntry, error) {
	// A descriptor of its own: the standard library's reader takes over the one that it is given.
	fd, err := openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return buf, d.fail("readdir", "", err)
	}
	f := os.NewFile(uintptr(fd), d.path(""))
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return buf, err
	}
	for _, e := range entries {
		buf = append(buf, DirEntry{Name: e.Name(), Kind: kindOf(e.Type())})
	}
	return buf, nil
}

func kindOf(mode fs.FileMode) Kind {
	switch mode.Type() {
	case 0:
		return KindFile
	case fs.ModeDir:
		return KindDir
	case fs.ModeSymlink:
		return KindLink
	}
	return KindOther
}
