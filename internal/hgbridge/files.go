package hgbridge

import (
	"os"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// files gives package revlog the files of a vfs.FS.
type files struct{ vfs.FS }

func (f files) Open(name string) (revlog.File, error) {
	file, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return &storeFile{File: file}, nil
}

type storeFile struct {
	vfs.File
	mapping vfs.Mapping
}

func (f *storeFile) Size() (int64, error) {
	var st vfs.Stat
	err := f.Stat(&st)
	return st.Size, err
}

func (f *storeFile) Map(size int64) ([]byte, error) {
	m, err := f.File.Map(size)
	if err != nil {
		return nil, err
	}
	f.mapping = m
	return m.Bytes(), nil
}

func (f *storeFile) Unmap([]byte) error {
	if f.mapping == nil {
		return nil
	}
	m := f.mapping
	f.mapping = nil
	return m.Close()
}
