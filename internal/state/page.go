package state

import "encoding/binary"

// Page sizes in bytes. A page is filled to less than it may hold, so that a small edit does not split it at once. Inner
// pages are half as large: each edit writes one leaf and one inner page for each level.
const (
	leafFill  = 3584
	leafMax   = 4096
	innerFill = 1792
	innerMax  = 2048
	// minItems keeps the fan-out up when keys are thousands of bytes long.
	minItems = 4
	// maxPage bounds what is decoded. The largest page has four items with keys of MaxPath, each with maxVacatedBy numbers
	// of up to five bytes: 27 KB.
	maxPage = 32 << 10
	// maxLevel bounds the height: with minItems to a page, 4^24 pages.
	maxLevel = 24
)

// layout is how one of the three trees is written: entries by path, files by identity, or vacated paths.
type layout[T any] struct {
	leafKind, innerKind byte
	order               order
	key                 func(*T) string
	size                func(*T) uint64
	append              func(buf []byte, prev, item *T) []byte
	decode              func(self Ref, payload []byte, items []T, s *scratch) ([]T, bool)
}

// scratch holds the full keys of a page while it is decoded.
type scratch struct {
	text   []byte
	starts []int // of each key in text, and the end of the last
}

func (s *scratch) reset() {
	s.text = s.text[:0]
	s.starts = append(s.starts[:0], 0)
}

// key reads a front-coded key and adds it. It must be greater than the one before it and share all that it can; that
// both hold shows in its first own byte.
func (s *scratch) key(r *reader, o order, first bool) {
	shares, suffix := r.key()
	end := len(s.text)
	var last []byte
	if !first {
		last = s.text[s.starts[len(s.starts)-2]:end]
		if len(suffix) == 0 || shares < len(last) && !o.less(last[shares], suffix[0]) {
			r.fail()
		}
	}
	s.add(r, last, shares, suffix, !first)
}

// add puts a key or path of prefix and suffix behind the others.
func (s *scratch) add(r *reader, last []byte, shares int, suffix []byte, nonEmpty bool) {
	n := shares + len(suffix)
	if shares > len(last) || n > MaxPath || n == 0 && nonEmpty {
		r.fail()
		shares, suffix = 0, nil
	}
	s.text = append(append(s.text, last[:shares]...), suffix...)
	s.starts = append(s.starts, len(s.text))
}

// appendKey writes a key that shares its first n bytes with the one before it.
func appendKey(buf []byte, n int, key string) []byte {
	buf = binary.AppendUvarint(buf, uint64(n))
	buf = binary.AppendUvarint(buf, uint64(len(key)-n))
	return append(buf, key[n:]...)
}

func (r *reader) key() (shares int, suffix []byte) {
	n := r.uvarint()
	if n > MaxPath {
		r.fail()
		n = 0
	}
	return int(n), r.bytes(r.uvarint())
}

// cell is an inner page's knowledge of a child.
type cell struct {
	sep          string // no key beneath is less, every key left of it is
	ref          Ref
	count, bytes uint64 // of the items beneath
}

func appendCell(buf []byte, prev, c *cell) []byte {
	n := 0
	if prev != nil {
		n = shared(prev.sep, c.sep)
	}
	buf = appendKey(buf, n, c.sep)
	buf = appendRef(buf, c.ref)
	buf = binary.AppendUvarint(buf, c.count)
	return binary.AppendUvarint(buf, c.bytes)
}

// decodeCells appends the cells of an inner page, whose first byte is its level, to cells.
func decodeCells(self Ref, o order, payload []byte, cells []cell, s *scratch) ([]cell, bool) {
	r := reader{buf: payload}
	level := r.byte()
	s.reset()
	start := len(cells)
	for first := true; len(r.buf) > 0; first = false {
		s.key(&r, o, first)
		c := cell{ref: r.refBefore(self), count: r.uvarint(), bytes: r.uvarint()}
		if c.ref == 0 || c.count == 0 {
			r.fail()
		}
		cells = append(cells, c)
	}
	if r.bad || len(cells) == start || level == 0 || level > maxLevel {
		return cells[:start], false
	}
	text := string(s.text)
	for i := range cells[start:] {
		cells[start+i].sep = text[s.starts[i]:s.starts[i+1]]
	}
	return cells, true
}

// findCell returns the child under which a key belongs. more is whether pages that follow that child may hold something
// beneath the key, given whether those may that follow this page.
func findCell(self Ref, o order, payload []byte, key string, moreAfter bool) (child Ref, more, ok bool) {
	more = moreAfter
	r := reader{buf: payload}
	r.byte()
	f := finder{order: o, want: key}
	for len(r.buf) > 0 {
		shares, suffix := r.key()
		ref := r.refBefore(self)
		r.uvarint()
		r.uvarint()
		if r.bad {
			return 0, false, false
		}
		side := f.next(shares, suffix)
		if side <= 0 || child == 0 {
			child = ref
		}
		if side > 0 {
			more = f.beneath(shares, suffix)
			break
		}
	}
	return child, more, child != 0
}

// page reads a page of the tree and its level, 0 for a leaf.
func (l *layout[T]) page(b *Blocks, ref Ref) (level int, payload []byte, err error) {
	kind, payload, err := b.get(ref)
	if err != nil {
		return 0, nil, err
	}
	if len(payload) == 0 || len(payload) > maxPage {
		return 0, nil, damaged(ref, "has no page's size")
	}
	switch kind {
	case l.leafKind:
		return 0, payload, nil
	case l.innerKind:
		return int(payload[0]), payload, nil
	}
	return 0, nil, damaged(ref, "is no page of this tree")
}

// leaf reads a page that must be a leaf and appends its items.
func (l *layout[T]) leaf(b *Blocks, ref Ref, items []T, s *scratch) ([]T, error) {
	level, payload, err := l.page(b, ref)
	if err != nil {
		return nil, err
	}
	if level != 0 {
		return nil, damaged(ref, "is a page of a wrong level")
	}
	items, ok := l.decode(ref, payload, items, s)
	if !ok {
		return nil, damaged(ref, "is no leaf page")
	}
	return items, nil
}

// inner reads the page of a cell, which must be an inner one of a level, and appends its cells. The first gets the
// separator that the parent knows: it is lower than the page's own when what stood left of the page is gone.
func (l *layout[T]) inner(b *Blocks, c cell, level int, cells []cell, s *scratch) ([]cell, error) {
	got, payload, err := l.page(b, c.ref)
	if err != nil {
		return nil, err
	}
	if got != level || level == 0 {
		return nil, damaged(c.ref, "is a page of a wrong level")
	}
	start := len(cells)
	cells, ok := decodeCells(c.ref, l.order, payload, cells, s)
	if !ok {
		return nil, damaged(c.ref, "is no inner page")
	}
	cells[start].sep = c.sep
	return cells, nil
}
