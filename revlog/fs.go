package revlog

import "io"

// FS opens the files of a revlog for reading. The names are the path given to Open and paths made from it.
type FS interface {
	Open(name string) (File, error)
}

// File is an open file. Errors should work with errors.Is(err, fs.ErrNotExist).
type File interface {
	io.ReaderAt
	io.Closer
	// Size in bytes.
	Size() (int64, error)
	// Map gives the first size bytes until Unmap, which may come after Close. Where files cannot be mapped it may read
	// them instead.
	Map(size int64) ([]byte, error)
	Unmap(b []byte) error
}

// WriteFS also changes files. It is what a Writer needs.
type WriteFS interface {
	FS
	// Append opens a file to read and write, creating it when it does not exist.
	Append(name string) (WriteFile, error)
	// Rename replaces to atomically. It is durable only after SyncName.
	Rename(from, to string) error
	// SyncName makes durable that a file was created or renamed to a name: a synced file under a lost name is lost.
	SyncName(name string) error
}

// WriteFile is a file open for writing.
type WriteFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes contents and size durable.
	Sync() error
}
