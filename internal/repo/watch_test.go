package repo

import (
	"io/fs"
	"sync"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// watchFS counts what is read of each file beneath a directory that was opened.
type watchFS struct {
	vfs.FS
	mu   sync.Mutex
	read map[string]int64
	each func(name string) // called after each reading
}

func (w *watchFS) bytes(name string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.read[name]
}

func (w *watchFS) OpenDir(name string) (vfs.Dir, error) {
	d, err := w.FS.OpenDir(name)
	return watchDir{d, w}, err
}

type watchDir struct {
	vfs.Dir
	w *watchFS
}

func (d watchDir) OpenDir(name string) (vfs.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return watchDir{sub, d.w}, nil
}

func (d watchDir) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.Dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return watchFile{f, name, d.w}, nil
}

type watchFile struct {
	vfs.File
	name string
	w    *watchFS
}

func (f watchFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.w.mu.Lock()
	f.w.read[f.name] += int64(n)
	f.w.mu.Unlock()
	if f.w.each != nil {
		f.w.each(f.name)
	}
	return n, err
}
