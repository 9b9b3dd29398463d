package state

// cursor goes through a tree's items in order, opening pages no earlier than it must, so that Diff can step over
// whole pages by their refs.
type cursor[T any] struct {
	b       *Blocks
	l       *layout[T]
	frames  []frame // open inner pages, the root's parent first
	leaf    []T     // the open leaf, if leafRef is not 0
	leafRef Ref
	at      int // in leaf
	scratch scratch
}

// frame is an open inner page. Its children from at on are not opened, except the one that the next frame or the leaf
// is: then at names that one.
type frame struct {
	ref   Ref
	level int
	cells []cell
	at    int
}

func newCursor[T any](b *Blocks, l *layout[T], root Ref) (*cursor[T], error) {
	c := &cursor[T]{b: b, l: l}
	if root == 0 {
		return c, nil
	}
	level, _, err := l.page(b, root)
	if err != nil {
		return nil, err
	}
	if level > maxLevel {
		return nil, damaged(root, "is too high a page")
	}
	c.frames = append(c.frames, frame{level: level + 1, cells: []cell{{ref: root}}})
	return c, nil
}

// ended reports whether there are no more items.
func (c *cursor[T]) ended() bool { return len(c.frames) == 0 }

// unopened returns the page that comes next, if that has not been opened.
func (c *cursor[T]) unopened() (next *cell, level int, ok bool) {
	if c.ended() || c.leafRef != 0 {
		return nil, 0, false
	}
	f := &c.frames[len(c.frames)-1]
	return &f.cells[f.at], f.level - 1, true
}

// open opens the page that comes next.
func (c *cursor[T]) open() error {
	next, level, _ := c.unopened()
	if level == 0 {
		items, err := c.l.leaf(c.b, next.ref, c.leaf[:0], &c.scratch)
		if err != nil {
			return err
		}
		c.leaf, c.at, c.leafRef = items, 0, next.ref
		return nil
	}
	n := len(c.frames)
	var room []cell // of a frame that was open before
	if n < cap(c.frames) {
		room = c.frames[:n+1][n].cells[:0]
	}
	cells, err := c.l.inner(c.b, *next, level, room, &c.scratch)
	if err != nil {
		return err
	}
	c.frames = append(c.frames, frame{ref: next.ref, level: level, cells: cells})
	return nil
}

// item returns the item that comes next, nil at the end. It is good until the cursor moves on.
func (c *cursor[T]) item() (*T, error) {
	for !c.ended() && c.leafRef == 0 {
		if err := c.open(); err != nil {
			return nil, err
		}
	}
	if c.ended() {
		return nil, nil
	}
	return &c.leaf[c.at], nil
}

// next goes past the item that item returned.
func (c *cursor[T]) next() {
	if c.at++; c.at == len(c.leaf) {
		c.skip()
	}
}

// skip goes past the rest of the open leaf or past the unopened page that comes next.
func (c *cursor[T]) skip() {
	c.leafRef = 0
	for n := len(c.frames); n > 0; n-- {
		f := &c.frames[n-1]
		if f.at++; f.at < len(f.cells) {
			break
		}
		c.frames = c.frames[:n-1]
	}
}

// skipPage goes past a page if that is exactly what comes next, opened or not, and reports whether it did.
func (c *cursor[T]) skipPage(ref Ref, level int) bool {
	if next, at, ok := c.unopened(); ok {
		if at == level && next.ref == ref {
			c.skip()
			return true
		}
	} else if c.ended() || c.at != 0 {
		return false
	} else if level == 0 {
		if c.leafRef != ref {
			return false
		}
		c.skip()
		return true
	}
	for n := len(c.frames); n > 1; n-- {
		f := &c.frames[n-1]
		if f.at != 0 || f.level > level {
			return false
		}
		if f.level == level {
			if f.ref != ref {
				return false
			}
			c.frames = c.frames[:n-1]
			c.skip()
			return true
		}
	}
	return false
}

// seek goes to the first item whose key is not less than key. The cursor must be new.
func (c *cursor[T]) seek(key string) error {
	for {
		if _, _, ok := c.unopened(); !ok {
			break
		}
		f := &c.frames[len(c.frames)-1]
		for f.at+1 < len(f.cells) && c.l.order.compare(f.cells[f.at+1].sep, key) <= 0 {
			f.at++
		}
		if err := c.open(); err != nil {
			return err
		}
	}
	for c.leafRef != 0 && c.l.order.compare(c.l.key(&c.leaf[c.at]), key) < 0 {
		c.next()
	}
	return nil
}
