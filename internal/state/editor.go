package state

// op sets or, with no item, deletes what is under a key.
type op[T any] struct {
	key  string
	item *T
}

// editor applies sorted ops to a tree by writing anew the pages they touch and those above them.
type editor[T any] struct {
	b *Blocks
	l *layout[T]
	// replaced is told each op by its index with the item that was there, nil for none, good during the call only.
	replaced func(i int, old *T) error

	leaves  *pageFormat[T]
	items   []T // of the leaf being read
	scratch scratch
}

// edit returns the root page after the ops, which ascend by key without doubles.
func (e *editor[T]) edit(root Ref, ops []op[T]) (Ref, error) {
	if len(ops) == 0 {
		return root, nil
	}
	e.leaves = e.l.leafFormat()
	level := 0
	if root != 0 {
		var err error
		if level, _, err = e.l.page(e.b, root); err != nil {
			return 0, err
		}
		if level > maxLevel {
			return 0, damaged(root, "is too high a page")
		}
	}
	if level == 0 {
		items, err := e.leaf(cell{ref: root}, ops, 0, nil)
		if err != nil {
			return 0, err
		}
		return e.l.raise(e.b, e.leaves.paginate(e.b, items, "", nil), 1), nil
	}
	cells, err := e.inner(cell{ref: root}, level, ops, 0, nil)
	if err != nil {
		return 0, err
	}
	if len(cells) > 1 {
		return e.l.raise(e.b, cells, level), nil
	}
	return e.l.lower(e.b, e.l.raise(e.b, cells, level), level-1)
}

// lower drops inner pages with a single child from the top of a tree.
func (l *layout[T]) lower(b *Blocks, root Ref, level int) (Ref, error) {
	for ; level > 0 && root != 0; level-- {
		cells, err := l.inner(b, cell{ref: root}, level, nil, &scratch{})
		if err != nil {
			return 0, err
		}
		if len(cells) > 1 {
			break
		}
		root = cells[0].ref
	}
	return root, nil
}

// leaf appends the items of a leaf after ops. from is the index of the first op.
func (e *editor[T]) leaf(c cell, ops []op[T], from int, out []T) ([]T, error) {
	e.items = e.items[:0]
	if c.ref != 0 {
		var err error
		if e.items, err = e.l.leaf(e.b, c.ref, e.items, &e.scratch); err != nil {
			return nil, err
		}
	}
	items := e.items
	for i := range ops {
		o := &ops[i]
		n, side := 0, 1
		for ; n < len(items); n++ {
			if side = e.l.order.compare(e.l.key(&items[n]), o.key); side >= 0 {
				break
			}
		}
		out, items = append(out, items[:n]...), items[n:]
		var old *T
		if side == 0 && len(items) > 0 {
			old, items = &items[0], items[1:]
		}
		if err := e.replaced(from+i, old); err != nil {
			return nil, err
		}
		if o.item != nil {
			out = append(out, *o.item)
		}
	}
	return append(out, items...), nil
}

// inner appends the cells of an inner page after ops.
func (e *editor[T]) inner(c cell, level int, ops []op[T], from int, out []cell) ([]cell, error) {
	cells, err := e.l.inner(e.b, c, level, nil, &e.scratch)
	if err != nil || len(ops) == 0 {
		return append(out, cells...), err
	}
	if level == 1 {
		return rewrite(e.b, e.leaves, e.l.order, cells, ops, from, out, e.leaf)
	}
	content := func(c cell, ops []op[T], from int, out []cell) ([]cell, error) {
		return e.inner(c, level-1, ops, from, out)
	}
	return rewrite(e.b, e.l.innerFormat(level-1), e.l.order, cells, ops, from, out, content)
}

// longRun items are written out without waiting for more, so that an edit of everything does not hold everything.
const longRun = 4096

// rewrite applies ops to the children of an inner page. Touched children that stand side by side are put together and
// divided anew; what is left nearly empty takes a neighbour in.
func rewrite[T, X any](b *Blocks, f *pageFormat[X], o order, cells []cell, ops []op[T], from int, out []cell,
	content func(c cell, ops []op[T], from int, out []X) ([]X, error)) ([]cell, error) {
	start := len(out)
	var run []X
	var sep string
	open := false
	var err error
	for i := range cells {
		n := len(ops)
		if i+1 < len(cells) {
			for n = 0; n < len(ops) && o.compare(ops[n].key, cells[i+1].sep) < 0; n++ {
			}
		}
		untouched := n == 0 && !(open && f.sparse(run))
		if open && (untouched || len(run) > longRun) {
			out, run, open = f.paginate(b, run, sep, out), run[:0], false
		}
		if untouched {
			out = append(out, cells[i])
			continue
		}
		if !open {
			open, sep = true, cells[i].sep
		}
		if run, err = content(cells[i], ops[:n], from, run); err != nil {
			return nil, err
		}
		ops, from = ops[n:], from+n
	}
	if open {
		if len(out) > start && f.sparse(run) { // there was none on its right
			left := out[len(out)-1]
			merged, err := content(left, nil, from, nil)
			if err != nil {
				return nil, err
			}
			out, run, sep = out[:len(out)-1], append(merged, run...), left.sep
		}
		out = f.paginate(b, run, sep, out)
	}
	return out, nil
}

// sparse reports whether items would leave a page mostly empty. No items leave no page.
func (f *pageFormat[X]) sparse(items []X) bool {
	const many = 64 // are never sparse: this is asked of long runs too
	return len(items) > 0 && len(items) < many && len(f.encode(items)) < f.max/4
}
