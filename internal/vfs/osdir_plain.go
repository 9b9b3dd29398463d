//go:build !linux && !darwin

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// osDir rests on os.Root, whose names cannot lead outside. It would follow links that stay inside, so each call looks
// first; a link planted between the two still leads nowhere outside.
type osDir struct{ root *os.Root }

func (d *osDir) path(name string) string { return filepath.Join(d.root.Name(), name) }

func (d *osDir) fail(op, name string, err error) error { return pathError(op, d.path(name), err) }

func (d *osDir) Close() error { return d.root.Close() }

func (d *osDir) Self(st *Stat) error {
	fi, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	fillStat(st, fi)
	return nil
}

func (d *osDir) Lstat(name string, st *Stat) error {
	if !isElement(name) {
		return d.fail("lstat", name, ErrName)
	}
	fi, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	fillStat(st, fi)
	return nil
}

func (d *osDir) ReadDir(buf []DirEntry) ([]DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return buf, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return buf, err
	}
	for _, e := range entries {
		buf = append(buf, DirEntry{Name: e.Name(), Kind: kindOf(e.Type())})
	}
	return buf, nil
}

// refuseLink fails when name is a symbolic link or no name at all; what does not exist passes.
func (d *osDir) refuseLink(op, name string) error {
	if !isElement(name) {
		return d.fail(op, name, ErrName)
	}
	if fi, err := d.root.Lstat(name); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		return d.fail(op, name, syscall.ELOOP)
	}
	return nil
}

func (d *osDir) OpenDir(name string) (Dir, error) {
	if err := d.refuseLink("open", name); err != nil {
		return nil, err
	}
	r, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &osDir{root: r}, nil
}

func (d *osDir) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := d.refuseLink("open", name); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d *osDir) Readlink(name string) (string, error) {
	if !isElement(name) {
		return "", d.fail("readlink", name, ErrName)
	}
	return d.root.Readlink(name)
}

func (d *osDir) Mkdir(name string, perm fs.FileMode) error {
	if !isElement(name) {
		return d.fail("mkdir", name, ErrName)
	}
	return d.root.Mkdir(name, perm)
}

func (d *osDir) Symlink(target, name string) error {
	if !isElement(name) {
		return d.fail("symlink", name, ErrName)
	}
	return d.root.Symlink(target, name)
}

func (d *osDir) Remove(name string) error { return d.remove("remove", name, false) }

func (d *osDir) Rmdir(name string) error { return d.remove("rmdir", name, true) }

func (d *osDir) remove(op, name string, dir bool) error {
	var st Stat
	if err := d.Lstat(name, &st); err != nil {
		return err
	}
	if dir && st.Kind != KindDir {
		return d.fail(op, name, syscall.ENOTDIR)
	}
	if !dir && st.Kind == KindDir {
		return d.fail(op, name, syscall.EISDIR)
	}
	return d.root.Remove(name)
}

func (d *osDir) Exchange(a, b string) error {
	return &os.LinkError{Op: "exchange", Old: d.path(a), New: d.path(b), Err: errors.ErrUnsupported}
}

func (d *osDir) Rename(from string, to Dir, name string) error {
	t, ok := to.(*osDir)
	if !ok {
		return d.fail("rename", from, ErrForeign)
	}
	if !isElement(from) {
		return d.fail("rename", from, ErrName)
	}
	if !isElement(name) {
		return t.fail("rename", name, ErrName)
	}
	if t == d {
		return d.root.Rename(from, name)
	}
	// os.Root cannot rename between two roots; by path, then.
	return os.Rename(d.path(from), t.path(name))
}

func (d *osDir) Chmod(name string, perm fs.FileMode) error {
	if err := d.refuseLink("chmod", name); err != nil {
		return err
	}
	return d.root.Chmod(name, perm)
}
