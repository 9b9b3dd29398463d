//go:build !linux && !darwin

package vfs

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

func hasOSSeparator(name string) bool {
	// A colon names a drive or a stream on Windows.
	return os.PathSeparator != '/' && strings.ContainsAny(name, `\:`)
}

// OpenFile looks before it opens for writing: the system has no flag that leaves a link alone, and whoever is quick enough gets
// between the two.
func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if writes(flag) {
		if fi, err := os.Lstat(name); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return nil, pathError("open", name, syscall.ELOOP)
		}
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }

func (osFS) OpenDir(name string) (Dir, error) {
	r, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &osDir{root: r}, nil
}

func (osFS) Lstat(name string, st *Stat) error {
	fi, err := os.Lstat(name)
	if err != nil {
		return err
	}
	fillStat(st, fi)
	return nil
}

// SyncDir does nothing: Windows offers no way to sync a directory, and writes its own journal of names.
func (osFS) SyncDir(string) error { return nil }

func fillStat(st *Stat, fi fs.FileInfo) {
	*st = Stat{
		Kind:  kindOf(fi.Mode()),
		Exec:  fi.Mode()&0o100 != 0,
		Mode:  fi.Mode(),
		Size:  fi.Size(),
		Mtime: fi.ModTime().UnixNano(),
	}
}

func kindOf(mode fs.FileMode) Kind {
	switch mode.Type() {
	case 0:
		return KindFile
	case fs.ModeDir:
		return KindDir
	case fs.ModeSymlink:
		return KindLink
	}
	return KindOther
}

// osFile adds to os.File what File needs.
type osFile struct{ *os.File }

func (f osFile) Stat(st *Stat) error {
	fi, err := f.File.Stat()
	if err != nil {
		return err
	}
	fillStat(st, fi)
	return nil
}

// Map reads the file.
func (f osFile) Map(size int64) (Mapping, error) {
	var st Stat
	if err := f.Stat(&st); err != nil {
		return nil, err
	}
	if size < 0 || st.Size < size {
		return nil, pathError("map", f.Name(), io.ErrUnexpectedEOF)
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, err
	}
	return mapping(b), nil
}

type mapping []byte

func (m mapping) Bytes() []byte { return m }

func (mapping) Close() error { return nil }
