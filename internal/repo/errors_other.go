//go:build !unix

package repo

import (
	"errors"
	"syscall"
)

// isNoSpace knows the numbers of ERROR_DISK_FULL and ERROR_HANDLE_DISK_FULL.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.Errno(112)) || errors.Is(err, syscall.Errno(39))
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.Errno(19)) }

func notDirectory(err error) bool { return false }
