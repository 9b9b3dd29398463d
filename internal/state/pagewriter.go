package state

// pageFormat is what the writing of leaves and of inner pages has in common.
type pageFormat[X any] struct {
	kind      byte
	level     int // 0 for leaves
	fill, max int // bytes
	append    func(buf []byte, prev, item *X) []byte
	separator func(prev, item *X) string
	count     func(*X) (items, bytes uint64)
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

// encode writes all items as one page, however long it gets.
func (f *pageFormat[X]) encode(buf []byte, items []X) []byte {
	buf = f.head(buf)
	for i := range items {
		if i == 0 {
			buf = f.append(buf, nil, &items[0])
		} else {
			buf = f.append(buf, &items[i-1], &items[i])
		}
	}
	return buf
}

// paginate writes items as one page if they fit, or as pages of equal size, the first with separator sep.
func (f *pageFormat[X]) paginate(b *Blocks, items []X, sep string) []cell {
	w := newPageWriter(b, f, sep)
	total := len(f.encode(nil, items))
	if total <= f.max {
		w.fill = f.max
	} else {
		w.fill = total / ((total + f.fill - 1) / f.fill)
	}
	for i := range items {
		w.add(&items[i])
	}
	return w.close()
}
