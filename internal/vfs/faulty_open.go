package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// faultyFile is an open file of a Faulty.
type faultyFile struct {
	File
	faults *Faulty
	writes bool
}

func (f *faultyFile) check(mutates bool, op string) error {
	return f.faults.check(mutates, op, f.File.Name())
}

func (f *faultyFile) Close() error {
	return errors.Join(f.check(f.writes, "close"), f.File.Close())
}

func (f *faultyFile) Read(p []byte) (int, error) {
	if err := f.check(false, "read"); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check(false, "read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultyFile) Write(p []byte) (int, error) {
	return f.write(p, f.File.Write)
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

func (f *faultyFile) write(p []byte, write func(p []byte) (int, error)) (n int, err error) {
	err = f.check(true, "write")
	if err == nil {
		return write(p)
	}
	if f.faults.mode&FaultShort != 0 {
		n, _ = write(p[:len(p)/2])
	}
	return n, err
}

func (f *faultyFile) Stat(st *Stat) error {
	if err := f.check(false, "stat"); err != nil {
		return err
	}
	return f.File.Stat(st)
}

func (f *faultyFile) Sync() error {
	if err := f.check(true, "sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.check(true, "truncate"); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultyFile) Chmod(perm fs.FileMode) error {
	if err := f.check(true, "chmod"); err != nil {
		return err
	}
	return f.File.Chmod(perm)
}

func (f *faultyFile) Map(size int64) (Mapping, error) {
	if err := f.check(false, "map"); err != nil {
		return nil, err
	}
	return f.File.Map(size)
}

// faultyDir is an open directory of a Faulty.
type faultyDir struct {
	Dir
	faults *Faulty
	name   string
}

func (d *faultyDir) check(mutates bool, op, name string) error {
	return d.faults.check(mutates, op, filepath.Join(d.name, name))
}

func (d *faultyDir) Self(st *Stat) error {
	if err := d.check(false, "stat", ""); err != nil {
		return err
	}
	return d.Dir.Self(st)
}

func (d *faultyDir) Lstat(name string, st *Stat) error {
	if err := d.check(false, "lstat", name); err != nil {
		return err
	}
	return d.Dir.Lstat(name, st)
}

func (d *faultyDir) ReadDir(buf []DirEntry) ([]DirEntry, error) {
	if err := d.check(false, "readdir", ""); err != nil {
		return buf, err
	}
	return d.Dir.ReadDir(buf)
}

func (d *faultyDir) OpenDir(name string) (Dir, error) {
	return d.faults.openDir(filepath.Join(d.name, name), func() (Dir, error) { return d.Dir.OpenDir(name) })
}

func (d *faultyDir) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return d.faults.openFile(filepath.Join(d.name, name), flag, func() (File, error) {
		return d.Dir.OpenFile(name, flag, perm)
	})
}

func (d *faultyDir) Readlink(name string) (string, error) {
	if err := d.check(false, "readlink", name); err != nil {
		return "", err
	}
	return d.Dir.Readlink(name)
}

func (d *faultyDir) Mkdir(name string, perm fs.FileMode) error {
	if err := d.check(true, "mkdir", name); err != nil {
		return err
	}
	return d.Dir.Mkdir(name, perm)
}

func (d *faultyDir) Symlink(target, name string) error {
	if err := d.check(true, "symlink", name); err != nil {
		return err
	}
	return d.Dir.Symlink(target, name)
}

func (d *faultyDir) Remove(name string) error {
	if err := d.check(true, "remove", name); err != nil {
		return err
	}
	return d.Dir.Remove(name)
}

func (d *faultyDir) Rmdir(name string) error {
	if err := d.check(true, "rmdir", name); err != nil {
		return err
	}
	return d.Dir.Rmdir(name)
}

func (d *faultyDir) Rename(from string, to Dir, name string) error {
	if err := d.check(true, "rename", from); err != nil {
		return err
	}
	if t, ok := to.(*faultyDir); ok {
		to = t.Dir
	}
	return d.Dir.Rename(from, to, name)
}

func (d *faultyDir) Exchange(a, b string) error {
	if err := d.check(true, "exchange", a); err != nil {
		return err
	}
	return d.Dir.Exchange(a, b)
}

func (d *faultyDir) Chmod(name string, perm fs.FileMode) error {
	if err := d.check(true, "chmod", name); err != nil {
		return err
	}
	return d.Dir.Chmod(name, perm)
}
