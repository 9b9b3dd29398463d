package state

import (
	"fmt"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Tree is one state's tree: its entries by path, by identity all files that the state knows, those that went or are
// hidden too, the paths that files were taken away from, and what is disputed. It is a value that never changes; edits give a new one that shares what
// they did not touch. Trees may be read from several goroutines.
type Tree struct {
	b    *Blocks
	root Root
}

// Tree returns the tree that a root finds. The zero Root is the empty tree.
func (b *Blocks) Tree(root Root) Tree { return Tree{b, root} }

// Root is what PutRoot records.
func (t Tree) Root() Root { return t.root }

// Len is the number of entries.
func (t Tree) Len() int { return int(t.root.Count) }

// Bytes is the sum of all entries' sizes.
func (t Tree) Bytes() uint64 { return t.root.Bytes }

// pathLayout and fileLayout are two of the three trees; vacatedLayout is the other.
var pathLayout = layout[Entry]{
	leafKind: kindPathLeaf, innerKind: kindPathInner, order: byPath,
	key:    func(e *Entry) string { return e.Path },
	size:   func(e *Entry) uint64 { return e.Size },
	append: appendEntry,
	decode: decodeEntries,
}

var fileLayout = layout[fileItem]{
	leafKind: kindFileLeaf, innerKind: kindFileInner, order: byBytes,
	key:    func(f *fileItem) string { return f.key },
	size:   func(*fileItem) uint64 { return 0 },
	append: appendFile,
	decode: decodeFiles,
}

// Get returns the entry at a path.
func (t Tree) Get(path string) (Entry, bool, error) {
	ref, payload, _, err := pathLayout.find(t.b, t.root.Paths, path)
	if err != nil || ref == 0 {
		return Entry{}, false, err
	}
	e, found, ok := findEntry(ref, payload, path)
	if !ok {
		return Entry{}, false, damaged(ref, "is no leaf page")
	}
	return e, found, nil
}

// Under reports whether anything stands beneath a path as if it were a directory.
func (t Tree) Under(dir string) (bool, error) {
	if dir == "" {
		return t.root.Count > 0, nil
	}
	c, err := newCursor(t.b, &pathLayout, t.root.Paths)
	if err != nil {
		return false, err
	}
	if err := c.seek(dir + "/"); err != nil {
		return false, err
	}
	e, err := c.item()
	return e != nil && beneath(e.Path, dir), err
}

// Walk calls fn for the entry at prefix and for all beneath it, in the order of ComparePaths; "" is the whole tree. The
// entry is good during the call only, its Path for ever. An error from fn ends the walk and is returned.
func (t Tree) Walk(prefix string, fn func(*Entry) error) error {
	c, err := newCursor(t.b, &pathLayout, t.root.Paths)
	if err != nil {
		return err
	}
	if prefix != "" {
		if err := c.seek(prefix); err != nil {
			return err
		}
	}
	for {
		e, err := c.item()
		if e == nil || err != nil {
			return err
		}
		if prefix != "" && e.Path != prefix && !beneath(e.Path, prefix) {
			return nil
		}
		if err := fn(e); err != nil {
			return err
		}
		c.next()
	}
}

func beneath(path, dir string) bool {
	return len(path) > len(dir) && path[len(dir)] == '/' && strings.HasPrefix(path, dir)
}

// Tombstone is what stays of a file that is gone.
type Tombstone struct {
	File change.FileID
	Path string        // where it last stood
	By   change.FileID // the change that removed it and the file's ordinal there
	// What its entry had, for when it comes back.
	Weave, Acts Ref
}

// Whereabouts tells what became of a file.
type Whereabouts struct {
	// Path is where the file stands; of a hidden one where it would, of one that is gone where it last stood.
	Path   string
	Alive  bool // it exists
	Hidden bool // it exists and stands at no path: Disputes says what it is
}

// Shown tells whether the file stands at its path.
func (w Whereabouts) Shown() bool { return w.Alive && !w.Hidden }

// ByFile tells where a file is. ok is false for one that the state does not know.
func (t Tree) ByFile(id change.FileID) (w Whereabouts, ok bool, err error) {
	f, ok, err := t.file(id)
	if !ok || err != nil {
		return Whereabouts{}, false, err
	}
	return Whereabouts{Path: f.path, Alive: f.status != fileGone, Hidden: f.status == fileHidden}, true, nil
}

// Tombstone returns what stayed of a file, if it is gone.
func (t Tree) Tombstone(id change.FileID) (Tombstone, bool, error) {
	f, ok, err := t.file(id)
	if !ok || f.status != fileGone || err != nil {
		return Tombstone{}, false, err
	}
	return f.tombstone(), true, nil
}

// Tombstones calls fn for each file that is gone, in the order of identities.
func (t Tree) Tombstones(fn func(Tombstone) error) error {
	c, err := newCursor(t.b, &fileLayout, t.root.Files)
	if err != nil {
		return err
	}
	for {
		f, err := c.item()
		if f == nil || err != nil {
			return err
		}
		if f.status == fileGone {
			if err := fn(f.tombstone()); err != nil {
				return err
			}
		}
		c.next()
	}
}

func (f *fileItem) tombstone() Tombstone {
	return Tombstone{File: f.file, Path: f.path, By: f.by, Weave: f.weave, Acts: f.acts}
}

func (t Tree) file(id change.FileID) (fileItem, bool, error) {
	ref, payload, _, err := fileLayout.find(t.b, t.root.Files, fileKey(id))
	if err != nil || ref == 0 {
		return fileItem{}, false, err
	}
	f, found, ok := findFile(ref, payload, id)
	if !ok {
		return fileItem{}, false, damaged(ref, "is no leaf page")
	}
	return f, found, nil
}

// find returns the leaf in which a key belongs, ref 0 for an empty tree, and whether leaves that follow it may hold
// something beneath the key.
func (l *layout[T]) find(b *Blocks, ref Ref, key string) (leaf Ref, payload []byte, more bool, err error) {
	for above := maxLevel + 1; ref != 0; {
		level, payload, err := l.page(b, ref)
		if err != nil || level == 0 {
			return ref, payload, more, err
		}
		if level >= above {
			return 0, nil, false, damaged(ref, "is a page of a wrong level")
		}
		var child Ref
		var ok bool
		if child, more, ok = findCell(ref, l.order, payload, key, more); !ok {
			return 0, nil, false, damaged(ref, "is no inner page")
		}
		above, ref = level, child
	}
	return 0, nil, false, nil
}

func checkPath(path string) error {
	if path == "" || len(path) > MaxPath {
		return fmt.Errorf("a path of %d bytes, not 1 to %d", len(path), MaxPath)
	}
	return nil
}
