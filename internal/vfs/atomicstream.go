package vfs

import (
	"errors"
	"fmt"
	"path/filepath"
)

// WriteFileAtomicFrom is WriteFileAtomic, with sync, of what write puts into the file.
func WriteFileAtomicFrom(fsys FS, name string, write func(File) error) error {
	f, err := createTemp(fsys, filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), fsys.Remove(f.Name()))
	}
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
