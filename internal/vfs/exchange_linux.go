package vfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange is for entries of one directory. A file system that does not know how says EINVAL.
func exchange(dir int, a, b string) error {
	err := unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}
