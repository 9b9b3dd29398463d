package worktree

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/zeebo/xxh3"
)

// builder writes a manifest file. Directories come in the order of comparePaths, the root first and every parent before
// its children, entries in byte order.
type builder struct {
	dirTab, dirPaths, entryTab, names []byte

	dirs, files int
	open        []openDir // the current directory and those around it
}

type openDir struct {
	path  string
	index int
	files int // entries before it
}

// dir closes what came before and begins a directory.
func (b *builder) dir(path string, info DirInfo) {
	b.closeBlock()
	for len(b.open) > 0 && !beneath(path, b.open[len(b.open)-1].path) {
		b.pop()
	}
	b.open = append(b.open, openDir{path, b.dirs, b.files})
	b.dirs++
	t := le.AppendUint32(b.dirTab, uint32(len(b.dirPaths)))
	t = le.AppendUint32(t, uint32(len(path)))
	t = le.AppendUint32(t, uint32(b.files))
	t = le.AppendUint32(t, 0) // count
	t = le.AppendUint64(t, 0) // end, total
	t = le.AppendUint32(t, uint32(len(b.names)))
	t = le.AppendUint32(t, 0) // length of names
	t = appendDirInfo(t, &info)
	t = le.AppendUint32(t, 0)
	b.dirTab = le.AppendUint64(t, 0) // checksum
	b.dirPaths = append(b.dirPaths, path...)
}

func (b *builder) entry(name string, e *Entry) {
	b.entryTab = le.AppendUint32(b.entryTab, uint32(len(b.names)))
	b.entryTab = le.AppendUint16(b.entryTab, uint16(len(name)))
	b.entryTab = appendEntry(b.entryTab, e)
	b.names = append(b.names, name...)
	b.files++
}

// closeBlock fills in what is known once the last directory has all its entries.
func (b *builder) closeBlock() {
	if b.dirs == 0 {
		return
	}
	r := b.dirTab[(b.dirs-1)*dirSize:]
	first, nameOff := int(le.Uint32(r[8:])), int(le.Uint32(r[24:]))
	le.PutUint32(r[12:], uint32(b.files-first))
	le.PutUint32(r[28:], uint32(len(b.names)-nameOff))
	le.PutUint64(r[72:], xxh3.HashSeed(b.names[nameOff:], xxh3.Hash(b.entryTab[first*entrySize:])))
}

func (b *builder) pop() {
	o := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	r := b.dirTab[o.index*dirSize:]
	le.PutUint32(r[16:], uint32(b.dirs))
	le.PutUint32(r[20:], uint32(b.files-o.files))
}

// bytes is the finished file of generation gen.
func (b *builder) bytes(gen uint64, state uint32, id [32]byte) ([]byte, error) {
	b.closeBlock()
	for len(b.open) > 0 {
		b.pop()
	}
	if b.dirs > maxDirs || b.files > maxEntries || len(b.dirPaths) > 1<<32-1 || len(b.names) > 1<<32-1 {
		return nil, fmt.Errorf("manifest of %d files in %d directories is too large", b.files, b.dirs)
	}
	out := make([]byte, 0, headSize+len(b.dirTab)+len(b.dirPaths)+len(b.entryTab)+len(b.names))
	out = append(out, baseMagic...)
	out = le.AppendUint32(out, baseVersion)
	out = le.AppendUint32(out, state)
	out = append(out, id[:]...)
	out = le.AppendUint64(out, gen)
	out = le.AppendUint32(out, uint32(b.dirs))
	out = le.AppendUint32(out, uint32(b.files))
	out = le.AppendUint32(out, uint32(len(b.dirPaths)))
	out = le.AppendUint32(out, uint32(len(b.names)))
	out = le.AppendUint64(out, xxh3.HashSeed(b.dirPaths, xxh3.Hash(b.dirTab)))
	out = le.AppendUint64(out, xxh3.Hash(out))
	out = append(out, b.dirTab...)
	out = append(out, b.dirPaths...)
	out = append(out, b.entryTab...)
	return append(out, b.names...), nil
}

// beneath tells whether path is dir or lies in it.
func beneath(path, dir string) bool {
	return dir == "" || strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// PathEntry is an entry with its path.
type PathEntry struct {
	Path string
	Entry
}

// Build makes a manifest of the given base state from all its files, in any order (in that of the manifest, directories
// before what is beneath them, it need not sort). It is kept in dir by Save, replacing whatever is there.
func Build(fsys vfs.FS, dir string, state uint32, id [32]byte, entries iter.Seq2[string, Entry]) (*Manifest, error) {
	var list []PathEntry
	sorted := true
	for path, e := range entries {
		if err := checkPath(path); err != nil {
			return nil, err
		}
		if n := len(list); n > 0 && sorted {
			sorted = compareEntries(list[n-1].Path, path) < 0
		}
		list = append(list, PathEntry{path, e})
	}
	if !sorted {
		slices.SortFunc(list, func(a, b PathEntry) int { return compareEntries(a.Path, b.Path) })
	}
	var b builder
	b.dir("", DirInfo{})
	at := ""
	for i := range list {
		p := &list[i]
		if i > 0 && p.Path == list[i-1].Path {
			return nil, fmt.Errorf("build manifest: %q comes twice", p.Path)
		}
		dir, name := split(p.Path)
		if dir != at {
			b.parents(dir)
			at = dir
		}
		b.entry(name, &p.Entry)
	}
	data, err := b.bytes(rand.Uint64(), state, id)
	if err != nil {
		return nil, err
	}
	m, err := fromBytes(fsys, dir, data)
	if err != nil {
		return nil, err
	}
	m.whole = true
	return m, m.checkNoFileIsDir()
}

// parents begins dir and those of its parents that have no entries of their own.
func (b *builder) parents(dir string) {
	for end := 0; end <= len(dir); end++ {
		if end < len(dir) && dir[end] != '/' {
			continue
		}
		for len(b.open) > 0 && !beneath(dir, b.open[len(b.open)-1].path) {
			b.closeBlock()
			b.pop()
		}
		if len(b.open[len(b.open)-1].path) < end {
			b.dir(dir[:end], DirInfo{})
		}
	}
}

// checkNoFileIsDir finds a path that is both.
func (m *Manifest) checkNoFileIsDir() error {
	for i := 1; i < m.base.dirs; i++ {
		path := m.base.dirPath(i)
		if _, ok, err := m.Lookup(path); err != nil {
			return err
		} else if ok {
			return fmt.Errorf("build manifest: %q is a file and a directory", path)
		}
	}
	return nil
}

// checkPath refuses what could not be a path within the working copy. What else a name must not be is decided where
// names come in, by package safepath.
func checkPath(path string) error {
	if len(path) > maxPath {
		return fmt.Errorf("path of %d bytes is too long", len(path))
	}
	rest := path
	for more := true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if name == "" || name == "." || name == ".." || isOwn(name) || strings.IndexByte(name, 0) >= 0 {
			return fmt.Errorf("path %q cannot be in a working copy", path)
		}
	}
	return nil
}

// tempPrefix begins the names under which a checkout writes files. A scan passes over what a crash left of them.
const tempPrefix = ".oxy~"

// isOwn tells whether a name is never part of a working copy's contents: the repository itself, a Git repository, or an
// unfinished file of a checkout.
func isOwn(name string) bool {
	return len(name) >= 4 && name[0] == '.' && (name == ".oxy" || name == ".git" || isLeftover(name))
}

func isLeftover(name string) bool { return strings.HasPrefix(name, tempPrefix) }
