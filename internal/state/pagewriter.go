package state

// pageFormat is what the writing of leaves and of inner pages has in common.
type pageFormat[X any] struct {
	kind      byte
	level     int // 0 for leaves
	fill, max int // bytes
	append    func(buf []byte, prev, item *X) []byte
	separator func(prev, item *X) string
	count     func(*X) (items, bytes uint64)
	buf       []byte // for encode to use again
}

func (l *layout[T]) leafFormat() *pageFormat[T] {
	return &pageFormat[T]{
		kind: l.leafKind, fill: leafFill, max: leafMax,
		append:    l.append,
		separator: func(prev, item *T) string { return between(l.key(prev), l.key(item)) },
		count:     func(item *T) (uint64, uint64) { return 1, l.size(item) },
	}
}

func (l *layout[T]) innerFormat(level int) *pageFormat[cell] {
	return &pageFormat[cell]{
		kind: l.innerKind, level: level, fill: innerFill, max: innerMax,
		append:    appendCell,
		separator: func(_, c *cell) string { return c.sep },
		count:     func(c *cell) (uint64, uint64) { return c.count, c.bytes },
	}
}

// pageWriter turns ascending items into pages and collects their cells.
type pageWriter[X any] struct {
	b     *Blocks
	f     *pageFormat[X]
	fill  int // a page is closed once it has so many bytes
	buf   []byte
	prev  X
	open  cell // of the page in buf
	items int  // in buf
	cells []cell
}

// newPageWriter begins with a page whose separator is sep.
func newPageWriter[X any](b *Blocks, f *pageFormat[X], sep string) *pageWriter[X] {
	return &pageWriter[X]{b: b, f: f, fill: f.fill, open: cell{sep: sep}}
}

func (w *pageWriter[X]) add(x *X) {
	prev := &w.prev
	if w.items >= minItems && len(w.buf) >= w.fill {
		w.close()
		w.open.sep = w.f.separator(&w.prev, x)
	}
	if w.items == 0 {
		prev = nil
		w.buf = w.f.head(w.buf[:0])
	}
	w.buf = w.f.append(w.buf, prev, x)
	count, bytes := w.f.count(x)
	w.open.count += count
	w.open.bytes += bytes
	w.items++
	w.prev = *x
}

// close ends the page that is being filled, if it has anything.
func (w *pageWriter[X]) close() []cell {
	if w.items > 0 {
		w.open.ref = w.b.put(w.f.kind, w.buf)
		w.cells = append(w.cells, w.open)
		w.open, w.items = cell{}, 0
	}
	return w.cells
}

func (f *pageFormat[X]) head(buf []byte) []byte {
	if f.level > 0 {
		buf = append(buf, byte(f.level))
	}
	return buf
}

// encode writes all items as one page, however long it gets. The page is good until the next call.
func (f *pageFormat[X]) encode(items []X) []byte {
	f.buf = f.head(f.buf[:0])
	for i := range items {
		if i == 0 {
			f.buf = f.append(f.buf, nil, &items[0])
		} else {
			f.buf = f.append(f.buf, &items[i-1], &items[i])
		}
	}
	return f.buf
}

// paginate appends the cells of pages with items: one page if they fit, or some of equal size, the first with
// separator sep.
func (f *pageFormat[X]) paginate(b *Blocks, items []X, sep string, cells []cell) []cell {
	if len(items) == 0 {
		return cells
	}
	page := f.encode(items)
	if len(page) <= f.max {
		c := cell{sep: sep, ref: b.put(f.kind, page)}
		for i := range items {
			count, bytes := f.count(&items[i])
			c.count += count
			c.bytes += bytes
		}
		return append(cells, c)
	}
	w := newPageWriter(b, f, sep)
	w.buf, w.cells = page, cells
	w.fill = len(page) / ((len(page) + f.fill - 1) / f.fill)
	for i := range items {
		w.add(&items[i])
	}
	return w.close()
}
