//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock at once or returns the bare ErrLocked.
func tryLock(name string) (io.Closer, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		for err == unix.EINTR {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err == unix.EWOULDBLOCK {
			f.Close()
			return nil, ErrLocked
		}
		if err != nil {
			f.Close()
			return nil, pathError("lock", name, err)
		}
		// A lock on a file that was removed meanwhile would shut nobody out: the next one locks its successor.
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if now, err := os.Stat(name); err == nil && os.SameFile(mine, now) {
			return f, nil
		}
		f.Close()
	}
}
