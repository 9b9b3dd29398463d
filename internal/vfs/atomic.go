package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// TempPrefix begins the names of files that WriteFileAtomic has not finished; a crash leaves them behind.
const TempPrefix = ".tmp-"

// maxTempTries bounds the search for a free name: two draws of 64 bits never meet but by a broken generator.
const maxTempTries = 16

// WriteFileAtomic puts data under name so that a reader, and with sync also a power cut, finds the old contents or the
// new, never a mixture or nothing. Without sync it is atomic for readers only. After an error name is as before, except
// when the last step failed, the sync of the directory: then the new contents may not last.
func WriteFileAtomic(fsys FS, name string, data []byte, sync bool) error {
	f, err := createTemp(fsys, filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := writeAndClose(f, data, sync); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), fsys.Remove(f.Name()))
	}
	if err := fsys.Rename(f.Name(), name); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), fsys.Remove(f.Name()))
	}
	if !sync {
		return nil
	}
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func createTemp(fsys FS, dir string) (f File, err error) {
	for range maxTempTries {
		name := filepath.Join(dir, fmt.Sprintf("%s%016x", TempPrefix, rand.Uint64()))
		f, err = fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// writeAndClose syncs before the rename: a name that becomes durable before its contents shows an empty file.
func writeAndClose(f File, data []byte, sync bool) error {
	_, err := f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
