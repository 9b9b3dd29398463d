package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Reflink implements Sharer, on Btrfs, XFS and others that share blocks.
func (osFS) Reflink(from File, to string) error {
	src, ok := from.(*osFile)
	if !ok {
		return errors.ErrUnsupported
	}
	fd, err := openat(unix.AT_FDCWD, to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return pathError("reflink", to, err)
	}
	err = retry(func() error { return unix.IoctlFileClone(fd, src.fd) })
	unix.Close(fd)
	if err != nil {
		_ = unix.Unlink(to)
		return pathError("reflink", to, err)
	}
	return nil
}
