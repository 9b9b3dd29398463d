package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// FaultMode says which calls a Faulty counts and how they fail. Modes are combined with "|".
type FaultMode uint8

const (
	// FaultStays makes every later mutating call fail as well: a disk that stays full, or is gone. Without it only one
	// call fails.
	FaultStays FaultMode = 1 << iota
	// FaultReads counts, and fails, calls that change nothing too.
	FaultReads
	// FaultShort lets a write that fails put half of its bytes first.
	FaultShort
)

// Faulty is a file system whose n-th call fails. A call counts when it may change what is stored or makes it durable:
// creating, writing, truncating, syncing, renaming, removing, changing modes, locking, and closing what was opened for
// writing, which fails only after the file is closed. A call that fails does nothing else, FaultShort apart.
type Faulty struct {
	inner FS
	err   error
	mode  FaultMode

	mu    sync.Mutex
	left  int // calls until the fault
	calls int
	fired bool
}

// Inject returns fsys with a fault: its n-th counted call, from 1, fails with err. A test runs what it tests with n = 1,
// 2, ... until Fired tells that there were fewer calls.
func Inject(fsys FS, n int, err error, mode FaultMode) *Faulty {
	return &Faulty{inner: fsys, left: n, err: err, mode: mode}
}

// Fired tells whether the fault has come up.
func (f *Faulty) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// Calls is how many calls were counted.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// check counts a call and gives the error that it shall fail with.
func (f *Faulty) check(mutates bool, op, path string) error {
	if !mutates && f.mode&FaultReads == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.left--
	again := f.fired && f.mode&FaultStays != 0 && mutates
	if f.left != 0 && !again {
		return nil
	}
	f.fired = true
	return pathError(op, path, f.err)
}

// opensToChange tells whether opening a file so may create or empty it.
func opensToChange(flag int) bool { return flag&(os.O_CREATE|os.O_TRUNC) != 0 }

func (f *Faulty) openFile(path string, flag int, open func() (File, error)) (File, error) {
	if err := f.check(opensToChange(flag), "open", path); err != nil {
		return nil, err
	}
	file, err := open()
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, faults: f, writes: flag&(os.O_WRONLY|os.O_RDWR) != 0}, nil
}

func (f *Faulty) openDir(path string, open func() (Dir, error)) (Dir, error) {
	if err := f.check(false, "open", path); err != nil {
		return nil, err
	}
	dir, err := open()
	if err != nil {
		return nil, err
	}
	return &faultyDir{Dir: dir, faults: f, name: path}, nil
}

// OpenFile implements FS.
func (f *Faulty) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return f.openFile(name, flag, func() (File, error) { return f.inner.OpenFile(name, flag, perm) })
}

// OpenDir implements FS.
func (f *Faulty) OpenDir(name string) (Dir, error) {
	return f.openDir(name, func() (Dir, error) { return f.inner.OpenDir(name) })
}

// ReadFile implements FS.
func (f *Faulty) ReadFile(name string, limit int64) ([]byte, error) { return readFile(f, name, limit) }

// ReadDir implements FS.
func (f *Faulty) ReadDir(name string) ([]string, error) { return readNames(f, name) }

// Lstat implements FS.
func (f *Faulty) Lstat(name string, st *Stat) error {
	if err := f.check(false, "lstat", name); err != nil {
		return err
	}
	return f.inner.Lstat(name, st)
}

// MkdirAll implements FS.
func (f *Faulty) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.check(true, "mkdir", name); err != nil {
		return err
	}
	return f.inner.MkdirAll(name, perm)
}

// Rename implements FS.
func (f *Faulty) Rename(from, to string) error {
	if err := f.check(true, "rename", from); err != nil {
		return err
	}
	return f.inner.Rename(from, to)
}

// Reflink implements Sharer.
func (f *Faulty) Reflink(from File, to string) error {
	s, ok := f.inner.(Sharer)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := f.check(true, "reflink", to); err != nil {
		return err
	}
	if file, ok := from.(*faultyFile); ok {
		from = file.File
	}
	return s.Reflink(from, to)
}

// Link implements Sharer.
func (f *Faulty) Link(from, to string) error {
	s, ok := f.inner.(Sharer)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := f.check(true, "link", to); err != nil {
		return err
	}
	return s.Link(from, to)
}

// Remove implements FS.
func (f *Faulty) Remove(name string) error {
	if err := f.check(true, "remove", name); err != nil {
		return err
	}
	return f.inner.Remove(name)
}

// RemoveAll implements FS.
func (f *Faulty) RemoveAll(name string) error {
	if err := f.check(true, "remove", name); err != nil {
		return err
	}
	return f.inner.RemoveAll(name)
}

// SyncDir implements FS.
func (f *Faulty) SyncDir(name string) error {
	if err := f.check(true, "sync", name); err != nil {
		return err
	}
	return f.inner.SyncDir(name)
}

// Lock implements FS.
func (f *Faulty) Lock(name string, wait func(tries int) bool) (io.Closer, error) {
	if err := f.check(true, "lock", name); err != nil {
		return nil, err
	}
	return f.inner.Lock(name, wait)
}
