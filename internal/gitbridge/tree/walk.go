// Package tree compares Git's trees, walking only where they differ, and computes the ids of changed ones, making again
// only those on the way to a change. It reads trees through an interface and does no other input or output.
package tree

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

// Source reads objects; odb.Reader is one. What it returns is valid until the next call.
type Source interface {
	View(id object.ID) (object.Kind, []byte, error)
}

// ErrTooMany is a comparison that differs in more than MaxRows paths. Trees that contain one another many times over
// make billions of paths from a few bytes.
var ErrTooMany = errors.New("trees differ in too many paths")

// ErrNotTree is an id where a tree must be and something else is.
var ErrNotTree = errors.New("object is not a tree")

const (
	// MaxRows bounds the rows of one comparison: a change cannot hold more files.
	MaxRows = 8 << 20
	// MaxSides bounds the trees of one comparison.
	MaxSides = object.MaxParents + 1
	// maxValid bounds the ids of trees known to be in order: 2 MiB. It is then begun anew.
	maxValid = 1 << 15
)

// Side is what one of the trees has at a path.
//
// A directory is told by what is in it, but for two kinds, which have a row of their own: an empty one, with the id of
// the empty tree, and one whose mode is told with a leading zero, without an id. Where a path is a file on one side and
// such a directory on another there are two rows with the path.
type Side struct {
	Mode object.Mode // 0 when nothing is there
	ID   object.ID
}

// Walker compares trees. It keeps its memory from one comparison to the next; it serves one goroutine.
type Walker struct {
	format object.Format
	src    Source
	empty  object.ID

	valid  map[object.ID]struct{}
	frames []*frame
	depth  int
	path   []byte
	sides  []Side
	rows   int
	give   func(path []byte, sides []Side) error
}

// frame is one directory under comparison.
type frame struct {
	sides   []cursor
	pathLen int // of the walker's path, with the slash
}

// cursor goes through one side's tree.
type cursor struct {
	raw    []byte // the frame's own
	rest   []byte // after cur
	cur    object.Entry
	loaded bool // cur is the next entry
	take   bool // cur is in the group that is looked at
}

// NewWalker makes a walker over src.
func NewWalker(f object.Format, src Source) *Walker {
	empty, _ := object.NewHasher(f, nil).Sum(object.TreeKind, nil)
	return &Walker{format: f, src: src, empty: empty, valid: map[object.ID]struct{}{}}
}

// Walk gives each path at which not all trees are alike, in Git's order of names, with what each tree has there; path
// and sides are valid during the call. A zero id is a tree without anything. Every tree that is read is checked whole,
// every name on the way to a path that is given by safepath. Errors name the path; they wrap those of the source, of
// object, of safepath, or the two above.
func (w *Walker) Walk(trees []object.ID, give func(path []byte, sides []Side) error) error {
	if len(trees) > MaxSides {
		return fmt.Errorf("compare %d trees: %w", len(trees), ErrTooMany)
	}
	w.give, w.rows, w.depth, w.path = give, 0, 0, w.path[:0]
	w.sides = append(w.sides[:0], make([]Side, len(trees))...)
	if allEqual(trees) {
		return nil
	}
	f := w.push(len(trees))
	for i, id := range trees {
		if err := w.load(&f.sides[i], id); err != nil {
			return err
		}
	}
	for w.depth > 0 {
		if err := w.step(w.frames[w.depth-1]); err != nil {
			return err
		}
	}
	return nil
}

func allEqual(ids []object.ID) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i] != ids[0] {
			return false
		}
	}
	return true
}

// push begins the directory that path names.
func (w *Walker) push(sides int) *frame {
	if w.depth == len(w.frames) {
		w.frames = append(w.frames, &frame{})
	}
	f := w.frames[w.depth]
	w.depth++
	for len(f.sides) < sides {
		f.sides = append(f.sides, cursor{})
	}
	f.sides = f.sides[:sides]
	f.pathLen = len(w.path)
	return f
}

// load reads a side's tree into the frame.
func (w *Walker) load(c *cursor, id object.ID) error {
	c.raw, c.loaded = c.raw[:0], false
	if !id.IsZero() && id != w.empty {
		kind, raw, err := w.src.View(id)
		if err != nil {
			return w.fail(err)
		}
		if kind != object.TreeKind {
			return w.fail(fmt.Errorf("%w: %s is a %s", ErrNotTree, id, kind))
		}
		if _, valid := w.valid[id]; !valid {
			if err := object.CheckTree(w.format, raw); err != nil {
				return w.fail(fmt.Errorf("tree %s: %w", id, err))
			}
			if len(w.valid) == maxValid {
				clear(w.valid)
			}
			w.valid[id] = struct{}{}
		}
		c.raw = append(c.raw, raw...)
	}
	c.rest = c.raw
	return nil
}

func (w *Walker) fail(err error) error {
	if len(w.path) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", safepath.Quote(string(w.path)), err)
}

// step looks at the next name of a directory.
func (w *Walker) step(f *frame) error {
	w.path = w.path[:f.pathLen]
	w.skipEqual(f)
	least := -1
	for i := range f.sides {
		c := &f.sides[i]
		if !c.loaded {
			if len(c.rest) == 0 {
				continue
			}
			var err error
			if c.cur, c.rest, err = object.NextEntry(w.format, c.rest); err != nil {
				return w.fail(err)
			}
			c.loaded = true
		}
		if least < 0 || compare(&c.cur, &f.sides[least].cur) < 0 {
			least = i
		}
	}
	if least < 0 {
		w.depth--
		return nil
	}
	first := f.sides[least].cur
	alike := true // all sides have the same id there
	for i := range f.sides {
		c := &f.sides[i]
		c.take = c.loaded && compare(&c.cur, &first) == 0
		if c.take {
			c.loaded = false
		}
		alike = alike && c.take && bytes.Equal(c.cur.ID, first.ID)
	}
	w.path = append(w.path, first.Name...)
	if first.IsTree() {
		return w.directory(f, alike)
	}
	for i := range f.sides {
		w.sides[i] = Side{}
		if c := &f.sides[i]; c.take {
			w.sides[i] = Side{c.cur.Mode, w.format.ID(c.cur.ID)}
		}
	}
	return w.row()
}

func compare(a, b *object.Entry) int {
	return object.CompareNames(a.Name, a.IsTree(), b.Name, b.IsTree())
}

// skipEqual passes over entries that are the same on all sides, as most are. The trees have been checked.
func (w *Walker) skipEqual(f *frame) {
	for i := range f.sides {
		if f.sides[i].loaded {
			return
		}
	}
	a := f.sides[0].rest
	size := w.format.Size()
	at := 0
	if len(f.sides) == 2 {
		b := f.sides[1].rest
		for at < len(a) {
			n := at + bytes.IndexByte(a[at:], 0) + 1 + size
			if n > len(b) || !bytes.Equal(a[at:n], b[at:n]) {
				break
			}
			at = n
		}
	} else {
	entries:
		for at < len(a) {
			n := at + bytes.IndexByte(a[at:], 0) + 1 + size
			for i := 1; i < len(f.sides); i++ {
				if b := f.sides[i].rest; n > len(b) || !bytes.Equal(a[at:n], b[at:n]) {
					break entries
				}
			}
			at = n
		}
	}
	for i := range f.sides {
		f.sides[i].rest = f.sides[i].rest[at:]
	}
}

// directory gives a row for what is told of directories themselves and goes into one that differs.
func (w *Walker) directory(f *frame, alike bool) error {
	for i := range f.sides {
		w.sides[i] = Side{}
		c := &f.sides[i]
		if !c.take {
			continue
		}
		if id := w.format.ID(c.cur.ID); id == w.empty {
			w.sides[i] = Side{c.cur.Mode, id}
		} else if c.cur.Mode&object.ModePadded != 0 {
			w.sides[i] = Side{Mode: c.cur.Mode}
		}
	}
	if err := w.row(); err != nil {
		return err
	}
	if alike {
		return nil
	}
	if err := w.checkName(f.pathLen); err != nil {
		return err
	}
	w.path = append(w.path, '/')
	if len(w.path) > safepath.MaxPath {
		return w.fail(safepath.ErrTooLong)
	}
	below := w.push(len(f.sides))
	for i := range f.sides {
		var id object.ID
		if c := &f.sides[i]; c.take {
			id = w.format.ID(c.cur.ID)
		}
		if err := w.load(&below.sides[i], id); err != nil {
			return err
		}
	}
	return nil
}

// row gives the sides at the path unless they are all alike.
func (w *Walker) row() error {
	alike := true
	for i := 1; i < len(w.sides); i++ {
		if w.sides[i] != w.sides[0] {
			alike = false
			break
		}
	}
	if alike {
		return nil
	}
	if err := w.checkName(bytes.LastIndexByte(w.path, '/') + 1); err != nil {
		return err
	}
	if len(w.path) > safepath.MaxPath {
		return w.fail(safepath.ErrTooLong)
	}
	if w.rows++; w.rows > MaxRows {
		return w.fail(ErrTooMany)
	}
	return w.give(w.path, w.sides)
}

// checkName judges the last name of the path.
func (w *Walker) checkName(start int) error {
	name := w.path[start:]
	if plain(name) {
		return nil
	}
	if err := safepath.CheckName(string(name)); err != nil {
		return fmt.Errorf("%s: %w", safepath.Quote(string(w.path)), err)
	}
	return nil
}

// plain tells of names that safepath passes in any case, short ones that begin with a letter or digit and have neither
// tilde nor backslash nor a byte above ASCII, so that no string is made for them.
func plain(name []byte) bool {
	if len(name) > 100 {
		return false
	}
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '-' && c != '_' && c != '+' && c != ' ') {
			return false
		}
	}
	return len(name) > 0
}
