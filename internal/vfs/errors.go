package vfs

import (
	"errors"
	"io/fs"
	"strings"
)

var (
	// ErrLocked says that another holder kept the lock until the caller gave up.
	ErrLocked = errors.New("locked by another process")
	// ErrName says that a name given to a Dir is not a single path element.
	ErrName = errors.New("not a single path element")
	// ErrTooLarge says that ReadFile met a file larger than its limit.
	ErrTooLarge = errors.New("file is larger than allowed")
	// ErrForeign says that a Dir was asked to rename into a Dir of another file system.
	ErrForeign = errors.New("directory of another file system")
)

// isElement tells whether name is a single path element on every system that oxy runs on, apart from the backslash and
// the colon, which only Windows takes for separators.
func isElement(name string) bool {
	switch name {
	case "", ".", "..":
		return false
	}
	return strings.IndexByte(name, '/') < 0 && strings.IndexByte(name, 0) < 0 && !hasOSSeparator(name)
}

func pathError(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}
