//go:build linux || darwin

package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// Link implements Sharer.
func (osFS) Link(from, to string) error {
	if err := retry(func() error { return unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0) }); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
	}
	return nil
}
