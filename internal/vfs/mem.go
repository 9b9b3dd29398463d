package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Mem is a file system in memory that knows which of its contents and names would outlive a power cut; see Crash. It
// starts with an empty root directory "/", which relative names start from too. It behaves like a Linux file system
// with a umask of 022, except that permissions are kept but refuse nothing, that a mapping does not show later writes,
// and that ReadDir lists in falling order, so that nobody comes to rely on a rising one. Using a File or Dir after its
// Close is an error. A Mem may be used by many goroutines.
type Mem struct {
	mu      sync.Mutex
	root    *inode
	clock   func() int64
	tick    int64
	lastIno uint64
	handles int
	pending []*nameOp // changes of names that are not durable, oldest first
}

const (
	memUmask = 0o022
	// maxLinks is how many symbolic links Linux follows in one name.
	maxLinks = 40
	// memEpoch and memTick make the clock of a Mem: it starts at 2023-11-14 and moves by 1 ms with each look.
	memEpoch = 1_700_000_000_000_000_000
	memTick  = 1_000_000
)

// inode is a file, directory or symbolic link apart from its names.
type inode struct {
	kind         Kind
	mode         fs.FileMode // with the type bits
	madeMode     fs.FileMode // as created; what a crash may go back to
	mtime, ctime int64
	ino          uint64
	locked       bool

	data     []byte // contents of a file, target of a link
	synced   []byte // contents at the last Sync
	unsynced []write

	parent  *inode            // of a directory; the root's is itself, a removed one's is nil
	names   map[string]*inode // of a directory
	durable map[string]*inode // names that outlive a power cut for certain
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	m := &Mem{tick: memEpoch}
	m.root = m.newInode(KindDir, fs.ModeDir|0o755)
	m.root.parent = m.root
	return m
}

// SetClock lets now (nanoseconds since 1970) stamp files from here on. It is called with the file system locked.
func (m *Mem) SetClock(now func() int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = now
}

// Handles counts the files, directories and locks that are open, to find those that were never closed.
func (m *Mem) Handles() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.handles
}

func (m *Mem) now() int64 {
	if m.clock != nil {
		return m.clock()
	}
	m.tick += memTick
	return m.tick
}

func (m *Mem) newInode(kind Kind, mode fs.FileMode) *inode {
	m.lastIno++
	t := m.now()
	n := &inode{kind: kind, mode: mode, madeMode: mode, mtime: t, ctime: t, ino: m.lastIno}
	if kind == KindDir {
		n.names, n.durable = map[string]*inode{}, map[string]*inode{}
	}
	return n
}

func (n *inode) fill(st *Stat) {
	*st = Stat{
		Kind: n.kind, Exec: n.mode&0o100 != 0, Mode: n.mode, Size: int64(len(n.data)),
		Mtime: n.mtime, Ctime: n.ctime, Ino: n.ino, Dev: 1,
	}
}

// OpenFile implements FS.
func (m *Mem) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.resolve(name, !writes(flag))
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return m.openFile(at, name, flag, perm)
}

// OpenDir implements FS.
func (m *Mem) OpenDir(name string) (Dir, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.existing(name, true)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return m.openDir(n, name)
}

// ReadFile implements FS.
func (m *Mem) ReadFile(name string, limit int64) ([]byte, error) { return readFile(m, name, limit) }

// Lstat implements FS.
func (m *Mem) Lstat(name string, st *Stat) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.existing(name, false)
	if err != nil {
		return pathError("lstat", name, err)
	}
	n.fill(st)
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mkdirAll(name, perm)
}

// mkdirAll takes the steps of os.MkdirAll, so that it ends alike on links that lead nowhere.
func (m *Mem) mkdirAll(name string, perm fs.FileMode) error {
	at, err := m.resolve(name, true)
	if err == nil && at.node != nil {
		if at.node.kind != KindDir {
			return pathError("mkdir", name, syscall.ENOTDIR)
		}
		return nil
	}
	if err := m.mkdirAll(filepath.Dir(name), perm); err != nil {
		return err
	}
	if at, err = m.resolve(name, false); err == nil {
		err = m.mkdir(at, perm)
	}
	if err != nil {
		return pathError("mkdir", name, err)
	}
	return nil
}

// Rename implements FS.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.resolve(from, false)
	if err == nil {
		var b place
		if b, err = m.resolve(to, false); err == nil {
			err = m.rename(a, b)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// Reflink implements Sharer: a Mem cannot.
func (m *Mem) Reflink(File, string) error { return errors.ErrUnsupported }

// Link implements Sharer.
func (m *Mem) Link(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.existing(from, false)
	if err == nil && n.kind == KindDir {
		err = syscall.EPERM
	}
	if err == nil {
		var at place
		if at, err = m.resolve(to, false); err == nil {
			err = m.link(at, n)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
	}
	n.ctime = m.now()
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.resolve(name, false)
	if err == nil {
		err = m.unlink(at)
	}
	if err != nil {
		return pathError("remove", name, err)
	}
	return nil
}

// RemoveAll implements FS.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.resolve(name, false)
	if err == syscall.ENOENT || err == nil && at.node == nil {
		return nil
	}
	if err == nil {
		err = m.unlinkTree(at)
	}
	if err != nil {
		return pathError("remove", name, err)
	}
	return nil
}

// ReadDir implements FS.
func (m *Mem) ReadDir(name string) ([]string, error) { return readNames(m, name) }

// SyncDir implements FS.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.existing(name, true)
	if err == nil && n.kind != KindDir {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return pathError("sync", name, err)
	}
	m.syncNames(n)
	return nil
}

// Lock implements FS.
func (m *Mem) Lock(name string, wait func(tries int) bool) (io.Closer, error) {
	for tries := 1; ; tries++ {
		l, err := m.tryLock(name)
		if err != ErrLocked {
			return l, err
		}
		if wait == nil || !wait(tries) {
			return nil, pathError("lock", name, ErrLocked)
		}
	}
}

func (m *Mem) tryLock(name string) (io.Closer, error) {
	f, err := m.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	l := &memLock{f.(*memFile)}
	m.mu.Lock()
	taken := l.node.locked
	l.node.locked = true
	m.mu.Unlock()
	if taken {
		return nil, errorOr(l.memFile.Close(), ErrLocked)
	}
	return l, nil
}

// memLock is a file whose closing gives the lock back.
type memLock struct{ *memFile }

func (l *memLock) Close() error {
	l.mem.mu.Lock()
	if !l.closed {
		l.node.locked = false
	}
	l.mem.mu.Unlock()
	return l.memFile.Close()
}

func errorOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
