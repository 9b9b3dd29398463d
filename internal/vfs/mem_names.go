package vfs

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// place is where a name stands or could stand. The root's has no name.
type place struct {
	dir  *inode
	name string
	node *inode // nil when nothing has the name
}

// resolve walks a path. Only its last element may be missing.
func (m *Mem) resolve(path string, follow bool) (place, error) {
	rest := filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	if rest == "" {
		return place{}, syscall.ENOENT
	}
	dir, links := m.root, 0
	for {
		var elem string
		elem, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		last := strings.Trim(rest, "/") == ""
		if elem == "" || elem == "." || elem == ".." {
			if elem == ".." {
				dir = dir.parent
			}
			if dir == nil {
				return place{}, syscall.ENOENT
			}
			if last {
				return place{dir: dir.parent, node: dir}, nil
			}
			continue
		}
		node := dir.names[elem]
		switch {
		case len(elem) > maxMemName:
			return place{}, syscall.ENAMETOOLONG
		case node != nil && node.kind == KindLink && (follow || !last):
			if links++; links > maxLinks {
				return place{}, syscall.ELOOP
			}
			target := filepath.ToSlash(string(node.data))
			if strings.HasPrefix(target, "/") {
				dir = m.root
			}
			rest = target + "/" + rest
		case last:
			return place{dir, elem, node}, nil
		case node == nil:
			return place{}, syscall.ENOENT
		case node.kind != KindDir:
			return place{}, syscall.ENOTDIR
		default:
			dir = node
		}
	}
}

// maxMemName is NAME_MAX of Linux.
const maxMemName = 255

// existing is resolve for what must be there.
func (m *Mem) existing(path string, follow bool) (*inode, error) {
	at, err := m.resolve(path, follow)
	if err == nil && at.node == nil {
		err = syscall.ENOENT
	}
	return at.node, err
}

// entry is the place of a name in an open directory.
func (m *Mem) entry(dir *inode, name string) (place, error) {
	if !isElement(name) {
		return place{}, ErrName
	}
	if len(name) > maxMemName {
		return place{}, syscall.ENAMETOOLONG
	}
	return place{dir, name, dir.names[name]}, nil
}

// link puts a new inode at a free place.
func (m *Mem) link(at place, node *inode) error {
	switch {
	case at.node != nil:
		return syscall.EEXIST
	case at.dir.parent == nil: // the directory was removed while open
		return syscall.ENOENT
	}
	at.dir.names[at.name] = node
	at.dir.mtime = m.now()
	if node.kind == KindDir {
		node.parent = at.dir
	}
	m.pending = append(m.pending, &nameOp{to: name{at.dir, at.name}, node: node})
	return nil
}

func (m *Mem) mkdir(at place, perm fs.FileMode) error {
	return m.link(at, m.newInode(KindDir, fs.ModeDir|perm.Perm()&^memUmask))
}

func (m *Mem) symlink(at place, target string) error {
	if target == "" {
		return syscall.ENOENT
	}
	n := m.newInode(KindLink, fs.ModeSymlink|0o777)
	n.data = []byte(target)
	return m.link(at, n)
}

// unlink removes what stands at a place, a directory only when it is empty.
func (m *Mem) unlink(at place) error {
	switch {
	case at.node == nil:
		return syscall.ENOENT
	case at.name == "":
		return syscall.EBUSY
	case len(at.node.names) > 0:
		return syscall.ENOTEMPTY
	}
	op := &nameOp{from: name{at.dir, at.name}, node: at.node}
	m.drop(at.node, op)
	delete(at.dir.names, at.name)
	at.dir.mtime = m.now()
	m.pending = append(m.pending, op)
	return nil
}

// drop notes that op takes the last name of a node.
func (m *Mem) drop(node *inode, op *nameOp) {
	node.ctime = m.now()
	if node.kind == KindDir {
		node.parent = nil
		op.gone = node
	}
}

func (m *Mem) unlinkTree(at place) error {
	names := sortedNames(at.node.names)
	for _, name := range names {
		if err := m.unlinkTree(place{at.node, name, at.node.names[name]}); err != nil {
			return err
		}
	}
	return m.unlink(at)
}

func (m *Mem) rename(from, to place) error {
	if from.node == nil {
		return syscall.ENOENT
	}
	if from.name == "" || to.name == "" {
		return syscall.EBUSY
	}
	if from.node == to.node {
		return nil
	}
	if to.dir.parent == nil {
		return syscall.ENOENT
	}
	for up := to.dir; from.node.kind == KindDir; up = up.parent {
		if up == from.node {
			return syscall.EINVAL
		}
		if up == m.root {
			break
		}
	}
	if to.node != nil {
		switch {
		case len(to.node.names) > 0 && isAbove(to.node, from.dir):
			return syscall.ENOTEMPTY
		case from.node.kind == KindDir && to.node.kind != KindDir:
			return syscall.ENOTDIR
		case from.node.kind != KindDir && to.node.kind == KindDir:
			return syscall.EISDIR
		case len(to.node.names) > 0:
			return syscall.ENOTEMPTY
		}
	}
	op := &nameOp{from: name{from.dir, from.name}, to: name{to.dir, to.name}, node: from.node}
	if to.node != nil {
		m.drop(to.node, op)
	}
	delete(from.dir.names, from.name)
	to.dir.names[to.name] = from.node
	if from.node.kind == KindDir {
		from.node.parent = to.dir
	}
	t := m.now()
	from.dir.mtime, to.dir.mtime, from.node.ctime = t, t, t
	m.pending = append(m.pending, op)
	return nil
}

// exchange makes two names of one directory change places.
func (m *Mem) exchange(a, b place) error {
	if a.node == nil || b.node == nil || a.dir.parent == nil {
		return syscall.ENOENT
	}
	if a.node == b.node {
		return nil
	}
	a.dir.names[a.name], a.dir.names[b.name] = b.node, a.node
	t := m.now()
	a.dir.mtime, a.node.ctime, b.node.ctime = t, t, t
	m.pending = append(m.pending, &nameOp{from: name{a.dir, a.name}, to: name{b.dir, b.name}, node: a.node, back: b.node})
	return nil
}

// isAbove tells whether dir is or lies beneath above.
func isAbove(above, dir *inode) bool {
	for ; dir != nil; dir = dir.parent {
		if dir == above {
			return true
		}
		if dir.parent == dir {
			break
		}
	}
	return false
}

func sortedNames(names map[string]*inode) []string {
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}
