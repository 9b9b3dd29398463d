package vfs

import (
	"io"
	"io/fs"
	"os"
)

// osFS is the real file system. What is not written here is in osfs_unix.go and osfs_plain.go.
type osFS struct{}

// OS returns the file system of the operating system. Its files and directories are descriptors without a finalizer:
// who opens one closes it, and never while another goroutine uses it.
func OS() FS { return osFS{} }

func (osFS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

func (osFS) Remove(name string) error { return os.Remove(name) }

func (osFS) RemoveAll(name string) error { return os.RemoveAll(name) }

func (o osFS) ReadFile(name string, limit int64) ([]byte, error) { return readFile(o, name, limit) }

func (o osFS) ReadDir(name string) ([]string, error) { return readNames(o, name) }

func (o osFS) Lock(name string, wait func(tries int) bool) (io.Closer, error) {
	for tries := 1; ; tries++ {
		l, err := tryLock(name)
		if err != ErrLocked {
			return l, err
		}
		if wait == nil || !wait(tries) {
			return nil, pathError("lock", name, ErrLocked)
		}
	}
}
