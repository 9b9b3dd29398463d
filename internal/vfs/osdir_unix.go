//go:build linux || darwin

package vfs

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// osDir is a directory's descriptor. Every call names one element relative to it and does not follow links, so that a
// parent that another process replaces by a symbolic link meanwhile leads nowhere.
type osDir struct {
	fd     int
	parent *osDir // nil when opened by path; only for the path in messages, never read from
	name   string
}

// path composes the name for messages only when there is one to write: thousands of directories are opened without.
func (d *osDir) path(name string) string {
	p := filepath.Join(d.name, name)
	for up := d.parent; up != nil; up = up.parent {
		p = filepath.Join(up.name, p)
	}
	return p
}

func (d *osDir) fail(op, name string, err error) error { return pathError(op, d.path(name), err) }

func (d *osDir) Close() error {
	// Close is never repeated: Linux frees the descriptor even when a signal interrupts, and another file may have it.
	if err := unix.Close(d.fd); err != nil && err != unix.EINTR {
		return d.fail("close", "", err)
	}
	return nil
}

func (d *osDir) Self(st *Stat) error {
	var sys unix.Stat_t
	if err := retry(func() error { return unix.Fstat(d.fd, &sys) }); err != nil {
		return d.fail("stat", "", err)
	}
	fillStat(st, &sys)
	return nil
}

func (d *osDir) OpenDir(name string) (Dir, error) {
	if !isElement(name) {
		return nil, d.fail("open", name, ErrName)
	}
	fd, err := openat(d.fd, name, openDirFlag|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	return &osDir{fd: fd, parent: d, name: name}, nil
}

func (d *osDir) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if !isElement(name) {
		return nil, d.fail("open", name, ErrName)
	}
	// O_NONBLOCK, which regular files ignore: a named pipe put in a file's place would hold us until it had a writer.
	fd, err := openat(d.fd, name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	return &osFile{fd: fd, dir: d, name: name}, nil
}

func (d *osDir) Readlink(name string) (string, error) {
	if !isElement(name) {
		return "", d.fail("readlink", name, ErrName)
	}
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(d.fd, name, buf)
		for err == unix.EINTR {
			n, err = unix.Readlinkat(d.fd, name, buf)
		}
		if err != nil {
			return "", d.fail("readlink", name, err)
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

func (d *osDir) Mkdir(name string, perm fs.FileMode) error {
	return d.act("mkdir", name, func() error { return unix.Mkdirat(d.fd, name, modeBits(perm)) })
}

func (d *osDir) Symlink(target, name string) error {
	return d.act("symlink", name, func() error { return unix.Symlinkat(target, d.fd, name) })
}

func (d *osDir) Remove(name string) error {
	return d.act("remove", name, func() error { return unix.Unlinkat(d.fd, name, 0) })
}

func (d *osDir) Rmdir(name string) error {
	return d.act("rmdir", name, func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
}

func (d *osDir) Chmod(name string, perm fs.FileMode) error {
	return d.act("chmod", name, func() error { return chmodat(d.fd, name, modeBits(perm)) })
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
	if err := retry(func() error { return unix.Renameat(d.fd, from, t.fd, name) }); err != nil {
		return &os.LinkError{Op: "rename", Old: d.path(from), New: t.path(name), Err: err}
	}
	return nil
}

func (d *osDir) Exchange(a, b string) error {
	for _, name := range []string{a, b} {
		if !isElement(name) {
			return d.fail("exchange", name, ErrName)
		}
	}
	if err := retry(func() error { return exchange(d.fd, a, b) }); err != nil {
		return &os.LinkError{Op: "exchange", Old: d.path(a), New: d.path(b), Err: err}
	}
	return nil
}

// act runs a call that concerns one entry.
func (d *osDir) act(op, name string, call func() error) error {
	if !isElement(name) {
		return d.fail(op, name, ErrName)
	}
	if err := retry(call); err != nil {
		return d.fail(op, name, err)
	}
	return nil
}
