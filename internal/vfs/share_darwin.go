package vfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Reflink implements Sharer, on APFS.
func (osFS) Reflink(from File, to string) error {
	src, ok := from.(*osFile)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := retry(func() error { return unix.Fclonefileat(src.fd, unix.AT_FDCWD, to, unix.CLONE_NOFOLLOW) }); err != nil {
		return pathError("reflink", to, err)
	}
	return nil
}
