// Package vfs is the only door to the operating system's files. Everything above it works through the FS, File and
// Dir interfaces, so that every write path also runs on a file system in memory that loses unsynced data (Mem) and
// under injected errors (Faulty). It knows nothing of repositories.
package vfs

import (
	"io"
	"io/fs"
	"os"
)

// FS is a file system. Names are paths in the form of the operating system; methods follow symbolic links only where
// they say so. All errors are *fs.PathError or *os.LinkError and work with errors.Is (fs.ErrNotExist and so on).
type FS interface {
	// OpenFile opens or creates a file; flag as for os.OpenFile. It follows symbolic links, but a name that is itself one
	// only for reading: what somebody planted under a name that oxy writes to cannot lead the writing elsewhere.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// OpenDir opens a directory for work relative to it. It follows symbolic links in name.
	OpenDir(name string) (Dir, error)
	// ReadFile reads a whole file of at most limit bytes; a larger one is an error.
	ReadFile(name string, limit int64) ([]byte, error)
	// Lstat describes name itself, not what a symbolic link points to.
	Lstat(name string, st *Stat) error
	MkdirAll(name string, perm fs.FileMode) error
	// Rename replaces to atomically. It is durable only after SyncDir of the directory.
	Rename(from, to string) error
	// Remove deletes a file, a symbolic link or an empty directory.
	Remove(name string) error
	RemoveAll(name string) error
	// ReadDir lists names in byte order.
	ReadDir(name string) ([]string, error)
	// SyncDir makes the names in a directory durable.
	SyncDir(name string) error
	// Lock takes the exclusive lock that the file stands for, creating it. It waits until the context of wait is
	// spent: wait is called before each new try with how often was tried so far and returns false to give up, upon
	// which Lock returns ErrLocked. The lock ends with Close or with the process.
	Lock(name string, wait func(tries int) bool) (io.Closer, error)
}

// writes tells whether a file opened with flag can be changed or comes to be.
func writes(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 }

// File is an open file.
type File interface {
	io.Reader
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
	Stat(st *Stat) error
	// Sync makes contents and size durable (fdatasync where there is one).
	Sync() error
	Truncate(size int64) error
	Chmod(perm fs.FileMode) error
	// Map returns the first size bytes for reading until the returned mapping is closed. Where the system cannot map
	// files it reads them. A mapped file may grow but must not be truncated below size while mapped.
	Map(size int64) (Mapping, error)
}

// Mapping is a read-only view of a file's bytes.
type Mapping interface {
	Bytes() []byte
	Close() error
}

// Dir is an open directory. Names given to it are single path elements, never with a separator, and are never followed
// when they are symbolic links: what is planted under a name cannot lead outside.
type Dir interface {
	io.Closer
	// Self describes the directory itself.
	Self(st *Stat) error
	// Lstat describes an entry. It does not allocate.
	Lstat(name string, st *Stat) error
	// ReadDir appends the entries to buf in the order the system gives them, without "." and "..".
	ReadDir(buf []DirEntry) ([]DirEntry, error)
	OpenDir(name string) (Dir, error)
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Readlink(name string) (string, error)
	Mkdir(name string, perm fs.FileMode) error
	Symlink(target, name string) error
	// Remove deletes a file or symbolic link; Rmdir an empty directory.
	Remove(name string) error
	Rmdir(name string) error
	// Rename moves an entry, replacing what is there.
	Rename(from string, to Dir, name string) error
	// Exchange makes two names of the directory change places, at once. The error is errors.ErrUnsupported where the system
	// or the file system cannot. Unlike a Rename over a file it waits for no content on any file system: after a power
	// cut either name may stand for less than was written and not synced.
	Exchange(a, b string) error
	Chmod(name string, perm fs.FileMode) error
}

// PathOpener is a Dir that can open a file or directory by a path of several elements at once. None of them is followed when it is a
// symbolic link, and the path cannot lead out of the directory. A Dir that is none, and any error, say only that the
// file must be opened element by element.
type PathOpener interface {
	OpenPath(path string) (File, error)
	OpenDirPath(path string) (Dir, error)
}

// DirEntry is a name in a directory and its kind; KindUnknown where the system does not say without a Lstat.
type DirEntry struct {
	Name string
	Kind Kind
}

// Kind is what a name stands for.
type Kind uint8

// The kinds of entries.
const (
	KindUnknown Kind = iota
	KindFile
	KindDir
	KindLink
	KindOther // a socket, device or pipe
)

// Stat describes a file. Times are nanoseconds since 1970; where the system has no Ino, Dev or Ctime they are 0.
type Stat struct {
	Kind  Kind
	Exec  bool // the owner may execute it
	Mode  fs.FileMode
	Size  int64
	Mtime int64
	Ctime int64
	Ino   uint64
	Dev   uint64
	UID   uint32
}
