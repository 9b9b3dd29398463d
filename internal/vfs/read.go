package vfs

import (
	"io"
	"os"
	"slices"
)

// readFile serves FS.ReadFile of every implementation.
func readFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st Stat
	if err := f.Stat(&st); err != nil {
		return nil, err
	}
	if st.Size > limit {
		return nil, pathError("read", name, ErrTooLarge)
	}
	// One byte beyond the size, so that the read that meets the end needs no larger buffer.
	b := make([]byte, 0, st.Size+1)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if int64(len(b)) > limit { // it grew since Stat
			return nil, pathError("read", name, ErrTooLarge)
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readNames serves FS.ReadDir of every implementation.
func readNames(fsys FS, name string) ([]string, error) {
	d, err := fsys.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(nil)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Name
	}
	slices.Sort(names)
	return names, nil
}
