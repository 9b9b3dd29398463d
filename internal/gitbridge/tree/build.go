package tree

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

// ErrBoth is a path that would be a file and a directory at once.
var ErrBoth = errors.New("path would be a file and a directory")

// Edit says what a path is to be; a zero mode takes it away. The rows that a Walker gives, one side each, are edits: a
// directory's mode makes it one that is there when empty, or is told with a leading zero, and taking that away leaves
// what is in it.
type Edit struct {
	Path string
	Side
}

// Tree is a tree of which only what edits touched is in memory. It never changes; a later one shares what is the same.
type Tree struct{ root *node }

// ID is Git's id of the tree.
func (t Tree) ID() object.ID { return t.root.id }

// node is a directory: its bytes as in Git, which are all that is known of files, and the directories below that have
// been looked into, by name.
type node struct {
	id   object.ID
	raw  []byte
	kids []kid
}

type kid struct {
	name string
	node *node
}

func (n *node) kid(name string) (int, bool) {
	return slices.BinarySearchFunc(n.kids, name, func(k kid, s string) int { return strings.Compare(k.name, s) })
}

// Builder makes trees from others. It serves one goroutine; trees may be shared.
type Builder struct {
	format object.Format
	hasher *object.Hasher
	load   func(id object.ID) ([]byte, error)
	empty  *node
	emit   func(id object.ID, raw []byte) error
}

// NewBuilder makes a builder. load reads the bytes of trees that the builder did not make itself, and may be nil where
// all begins with the empty tree; what it returns is kept.
func NewBuilder(f object.Format, load func(id object.ID) ([]byte, error)) *Builder {
	b := &Builder{format: f, hasher: object.NewHasher(f, nil), load: load}
	id, _ := b.hasher.Sum(object.TreeKind, nil)
	b.empty = &node{id: id}
	return b
}

// Empty is the tree without anything.
func (b *Builder) Empty() Tree { return Tree{b.empty} }

// Open reads a tree.
func (b *Builder) Open(id object.ID) (Tree, error) {
	n, err := b.open(id)
	return Tree{n}, err
}

func (b *Builder) open(id object.ID) (*node, error) {
	if id == b.empty.id {
		return b.empty, nil
	}
	if b.load == nil {
		return nil, fmt.Errorf("read tree %s: %w", id, errors.ErrUnsupported)
	}
	raw, err := b.load(id)
	if err != nil {
		return nil, err
	}
	if err := object.CheckTree(b.format, raw); err != nil {
		return nil, fmt.Errorf("tree %s: %w", id, err)
	}
	return &node{id: id, raw: raw}, nil
}

// Apply makes the tree that t becomes by the edits, which it sorts by path; of two with one path the one that takes away
// comes first. It computes the ids of those directories alone that are on the way to an edit, and gives each to emit, if
// that is not nil, those below first; raw must not be changed. Errors name the path and wrap ErrBoth, those of safepath,
// or those of load and emit.
func (b *Builder) Apply(t Tree, edits []Edit, emit func(id object.ID, raw []byte) error) (Tree, error) {
	slices.SortStableFunc(edits, func(a, b Edit) int {
		if c := comparePaths(a.Path, b.Path); c != 0 {
			return c
		}
		return min(int(a.Mode.Bare()), 1) - min(int(b.Mode.Bare()), 1)
	})
	for i := range edits {
		if len(edits[i].Path) > safepath.MaxPath || edits[i].Path == "" {
			return Tree{}, fmt.Errorf("%.80q: %w", edits[i].Path, safepath.ErrMalformed)
		}
	}
	b.emit = emit
	root, err := b.apply(t.root, edits, 0)
	if err != nil {
		return Tree{}, err
	}
	if root.id == b.empty.id && t.root.id != root.id && emit != nil {
		return Tree{root}, emit(root.id, nil)
	}
	return Tree{root}, nil
}

// put is an entry that a directory gets in place of all that it has under the name.
type put struct {
	name string
	object.Entry
	there bool
	node  *node // of a directory
}

// comparePaths orders so that what is below a name follows it: a slash comes before every other byte.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			switch {
			case a[i] == '/':
				return -1
			case b[i] == '/':
				return 1
			}
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// apply edits one directory; skip is the length of its path with the slash, which all edits share.
func (b *Builder) apply(n *node, edits []Edit, skip int) (*node, error) {
	var puts []put
	for len(edits) > 0 {
		name, _, _ := strings.Cut(edits[0].Path[skip:], "/")
		end := skip + len(name)
		here, all := 0, 0
		for all < len(edits) && strings.HasPrefix(edits[all].Path[skip:], name) {
			if len(edits[all].Path) > end && edits[all].Path[end] != '/' {
				break
			}
			if len(edits[all].Path) == end {
				here++
			}
			all++
		}
		if name == "" {
			return nil, fmt.Errorf("%.80q: %w", edits[0].Path, safepath.ErrMalformed)
		}
		p, err := b.entry(n, name, edits[:here], edits[here:all], end+1)
		if err != nil {
			return nil, err
		}
		puts = append(puts, p)
		edits = edits[all:]
	}
	return b.rebuild(n, puts)
}

// entry finds what a directory has under a name after the edits of the name itself and of what is below it.
func (b *Builder) entry(n *node, name string, here, below []Edit, skip int) (p put, err error) {
	p.name = name
	was, isFile, isDir := b.lookup(n, name)
	dir, marked, padded := b.empty, false, false
	if isDir {
		if dir, err = b.child(n, name, was.ID); err != nil {
			return p, err
		}
		padded = was.Mode&object.ModePadded != 0
		marked = dir == b.empty || dir.id == b.empty.id
	}
	p.Entry, p.there = was, isFile
	for _, e := range here {
		switch {
		case e.Mode == 0:
			p.there, marked, padded = false, false, false
		case e.Mode.Bare() == object.ModeTree:
			padded = e.Mode&object.ModePadded != 0
			marked = !e.ID.IsZero()
		default:
			p.there, p.Entry = true, object.Entry{Mode: e.Mode, ID: slices.Clone(e.ID[:b.format.Size()])}
		}
	}
	if len(below) > 0 {
		if dir, err = b.apply(dir, below, skip); err != nil {
			return p, err
		}
	}
	if len(dir.raw) == 0 && !marked {
		return p, nil
	}
	if p.there {
		return p, fmt.Errorf("%s: %w", safepath.Quote(name), ErrBoth)
	}
	if len(dir.raw) == 0 && b.emit != nil {
		if err := b.emit(dir.id, nil); err != nil {
			return p, err
		}
	}
	mode := object.ModeTree
	if padded {
		mode |= object.ModePadded
	}
	p.there, p.node = true, dir
	p.Entry = object.Entry{Mode: mode, ID: dir.id[:b.format.Size()]}
	return p, nil
}

// child is the directory below n.
func (b *Builder) child(n *node, name string, id []byte) (*node, error) {
	if i, found := n.kid(name); found {
		return n.kids[i].node, nil
	}
	return b.open(b.format.ID(id))
}

// lookup finds a name, as a file or as a directory.
func (b *Builder) lookup(n *node, name string) (e object.Entry, isFile, isDir bool) {
	for rest := n.raw; len(rest) > 0; {
		found, isTree, next := object.Skip(b.format, rest)
		if string(found) == name {
			e, _, _ := object.NextEntry(b.format, rest) // the tree was checked, or made here
			return e, !isTree, isTree
		}
		rest = rest[next:]
	}
	return object.Entry{}, false, false
}

// rebuild writes a directory anew with puts, which come in the order of paths, in place of what has their names.
func (b *Builder) rebuild(n *node, puts []put) (*node, error) {
	size := len(n.raw)
	for i := range puts {
		puts[i].Name = []byte(puts[i].name)
		size += len("100644 ") + len(puts[i].name) + 2 + b.format.Size()
	}
	raw := make([]byte, 0, size)
	ordered := make([]*put, 0, len(puts))
	for i := range puts {
		if puts[i].there {
			ordered = append(ordered, &puts[i])
		}
	}
	slices.SortFunc(ordered, func(a, b *put) int { return compare(&a.Entry, &b.Entry) })
	var run int // start of entries that stay
	for at := 0; at < len(n.raw); {
		name, isTree, length := object.Skip(b.format, n.raw[at:])
		for len(ordered) > 0 && object.CompareNames(ordered[0].Name, ordered[0].IsTree(), name, isTree) <= 0 {
			raw = append(raw, n.raw[run:at]...)
			run = at
			raw = object.AppendEntry(raw, &ordered[0].Entry)
			ordered = ordered[1:]
		}
		if replaces(puts, name) {
			raw = append(raw, n.raw[run:at]...)
			run = at + length
		}
		at += length
	}
	raw = append(raw, n.raw[run:]...)
	for _, p := range ordered {
		raw = object.AppendEntry(raw, &p.Entry)
	}
	return b.finish(n, raw, puts)
}

// replaces tells whether one of puts, which are in order, has the name.
func replaces(puts []put, name []byte) bool {
	if len(puts) > 8 {
		_, found := slices.BinarySearchFunc(puts, name, func(p put, name []byte) int { return bytes.Compare(p.Name, name) })
		return found
	}
	for i := range puts {
		if string(puts[i].Name) == string(name) {
			return true
		}
	}
	return false
}

// finish makes the directory of its bytes, or is n where nothing has changed.
func (b *Builder) finish(n *node, raw []byte, puts []put) (*node, error) {
	if len(raw) == 0 {
		return b.empty, nil
	}
	id, err := b.hasher.Sum(object.TreeKind, raw)
	if err != nil {
		return nil, err
	}
	m := &node{id: id, raw: raw, kids: slices.Clone(n.kids)}
	for i := range puts {
		at, found := m.kid(puts[i].name)
		switch {
		case found && puts[i].node != nil:
			m.kids[at].node = puts[i].node
		case found:
			m.kids = slices.Delete(m.kids, at, at+1)
		case puts[i].node != nil:
			m.kids = slices.Insert(m.kids, at, kid{puts[i].name, puts[i].node})
		}
	}
	if id != n.id && b.emit != nil {
		return m, b.emit(id, raw)
	}
	return m, nil
}

// Get is what a tree has at a path; nothing there is a Side without a mode.
func (b *Builder) Get(t Tree, path string) (Side, error) {
	n := t.root
	for {
		name, below, deeper := strings.Cut(path, "/")
		e, _, isDir := b.lookup(n, name)
		if !deeper {
			if e.Mode == 0 {
				return Side{}, nil
			}
			return Side{e.Mode, b.format.ID(e.ID)}, nil
		}
		if !isDir {
			return Side{}, nil
		}
		var err error
		if n, err = b.child(n, name, e.ID); err != nil {
			return Side{}, err
		}
		path = below
	}
}
