package vfs

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock at once or returns the bare ErrLocked. Windows releases it with the handle.
func tryLock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return f, nil
	}
	f.Close()
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return nil, ErrLocked
	}
	return nil, pathError("lock", name, err)
}
