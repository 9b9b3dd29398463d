package vfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// memDir is an open directory of a Mem.
type memDir struct {
	mem    *Mem
	node   *inode
	name   string
	closed bool
}

func (m *Mem) openDir(n *inode, name string) (Dir, error) {
	if n.kind != KindDir {
		return nil, pathError("open", name, syscall.ENOTDIR)
	}
	m.handles++
	return &memDir{mem: m, node: n, name: name}, nil
}

// at runs f on the place of an entry with the file system locked.
func (d *memDir) at(op, name string, f func(at place) error) error {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	at, err := d.place(name)
	if err == nil {
		err = f(at)
	}
	if err != nil {
		return pathError(op, filepath.Join(d.name, name), err)
	}
	return nil
}

func (d *memDir) place(name string) (place, error) {
	if d.closed {
		return place{}, fs.ErrClosed
	}
	return d.mem.entry(d.node, name)
}

// there is at for entries that must exist.
func (d *memDir) there(op, name string, f func(at place) error) error {
	return d.at(op, name, func(at place) error {
		if at.node == nil {
			return syscall.ENOENT
		}
		return f(at)
	})
}

func (d *memDir) Close() error {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	if d.closed {
		return pathError("close", d.name, fs.ErrClosed)
	}
	d.closed = true
	d.mem.handles--
	return nil
}

func (d *memDir) Self(st *Stat) error {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	if d.closed {
		return pathError("stat", d.name, fs.ErrClosed)
	}
	d.node.fill(st)
	return nil
}

func (d *memDir) Lstat(name string, st *Stat) error {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	at, err := d.place(name)
	if err == nil && at.node == nil {
		err = syscall.ENOENT
	}
	if err != nil {
		return pathError("lstat", filepath.Join(d.name, name), err)
	}
	at.node.fill(st)
	return nil
}

func (d *memDir) ReadDir(buf []DirEntry) ([]DirEntry, error) {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	if d.closed {
		return buf, pathError("readdir", d.name, fs.ErrClosed)
	}
	names := sortedNames(d.node.names)
	slices.Reverse(names)
	for _, name := range names {
		buf = append(buf, DirEntry{Name: name, Kind: d.node.names[name].kind})
	}
	return buf, nil
}

func (d *memDir) OpenDir(name string) (dir Dir, err error) {
	err = d.there("open", name, func(at place) error {
		if at.node.kind != KindDir {
			return syscall.ENOTDIR
		}
		dir, _ = d.mem.openDir(at.node, filepath.Join(d.name, name))
		return nil
	})
	return dir, err
}

func (d *memDir) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	path := filepath.Join(d.name, name)
	at, err := d.place(name)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return d.mem.openFile(at, path, flag, perm)
}

func (d *memDir) Readlink(name string) (target string, err error) {
	err = d.there("readlink", name, func(at place) error {
		if at.node.kind != KindLink {
			return syscall.EINVAL
		}
		target = string(at.node.data)
		return nil
	})
	return target, err
}

func (d *memDir) Mkdir(name string, perm fs.FileMode) error {
	return d.at("mkdir", name, func(at place) error { return d.mem.mkdir(at, perm) })
}

func (d *memDir) Symlink(target, name string) error {
	return d.at("symlink", name, func(at place) error { return d.mem.symlink(at, target) })
}

func (d *memDir) Remove(name string) error {
	return d.there("remove", name, func(at place) error {
		if at.node.kind == KindDir {
			return syscall.EISDIR
		}
		return d.mem.unlink(at)
	})
}

func (d *memDir) Rmdir(name string) error {
	return d.there("rmdir", name, func(at place) error {
		if at.node.kind != KindDir {
			return syscall.ENOTDIR
		}
		return d.mem.unlink(at)
	})
}

func (d *memDir) Rename(from string, to Dir, name string) error {
	t, ok := to.(*memDir)
	if !ok || t.mem != d.mem {
		return pathError("rename", filepath.Join(d.name, from), ErrForeign)
	}
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	a, err := d.place(from)
	if err == nil {
		var b place
		if b, err = t.place(name); err == nil {
			err = d.mem.rename(a, b)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: filepath.Join(d.name, from), New: filepath.Join(t.name, name), Err: err}
	}
	return nil
}

func (d *memDir) Exchange(a, b string) error {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	x, err := d.place(a)
	if err == nil {
		var y place
		if y, err = d.place(b); err == nil {
			err = d.mem.exchange(x, y)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: filepath.Join(d.name, a), New: filepath.Join(d.name, b), Err: err}
	}
	return nil
}

func (d *memDir) Chmod(name string, perm fs.FileMode) error {
	return d.there("chmod", name, func(at place) error {
		if at.node.kind == KindLink {
			return syscall.EOPNOTSUPP
		}
		d.mem.chmod(at.node, perm)
		return nil
	})
}

func (m *Mem) chmod(n *inode, perm fs.FileMode) {
	const changed = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	n.mode = n.mode&^changed | perm&changed
	n.ctime = m.now()
}
