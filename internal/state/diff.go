package state

// Diff calls fn for each path at which two trees differ in anything, in order: with old nil where only b has an entry,
// new nil where only a has. Both are good during the call only. Where one tree came from the other by edits the cost
// is that of the pages that differ; trees that were built apart are compared entry by entry. Entries of different
// Blocks are not compared by Weave and Acts, which mean nothing across files. An error from fn ends the walk and is
// returned.
func Diff(a, b Tree, fn func(old, new *Entry) error) error {
	sameBlocks := a.b == b.b
	return diffTrees(a.b, b.b, &pathLayout, a.root.Paths, b.root.Paths, func(old, new *Entry) error {
		if old != nil && new != nil && sameEntry(old, new, sameBlocks) {
			return nil
		}
		return fn(old, new)
	})
}

func sameEntry(a, b *Entry, sameBlocks bool) bool {
	if a.Hash != b.Hash || a.File != b.File || a.Size != b.Size || a.Kind != b.Kind || a.Exec != b.Exec {
		return false
	}
	if sameBlocks && (a.Weave != b.Weave || a.Acts != b.Acts) {
		return false
	}
	return a.Place == b.Place && a.Mode == b.Mode && a.Body == b.Body
}

// diffTrees calls fn for each key that only one of two trees has, with nil for the other's item, and for each key of
// both but those in pages that they share.
func diffTrees[T any](a, b *Blocks, l *layout[T], rootA, rootB Ref, fn func(old, new *T) error) error {
	left, err := newCursor(a, l, rootA)
	if err != nil {
		return err
	}
	right, err := newCursor(b, l, rootB)
	if err != nil {
		return err
	}
	d := differ[T]{a: left, b: right, l: l, sameBlocks: a == b, fn: fn}
	for !left.ended() || !right.ended() {
		if err := d.step(); err != nil {
			return err
		}
	}
	return nil
}

type differ[T any] struct {
	a, b       *cursor[T]
	l          *layout[T]
	sameBlocks bool
	fn         func(old, new *T) error
}

// step goes past one page or item, or opens one page.
func (d *differ[T]) step() error {
	nextA, levelA, closedA := d.a.unopened()
	nextB, levelB, closedB := d.b.unopened()
	if d.sameBlocks {
		if closedA && d.b.skipPage(nextA.ref, levelA) {
			d.a.skip()
			return nil
		}
		if closedB && d.a.skipPage(nextB.ref, levelB) {
			d.b.skip()
			return nil
		}
	}
	switch {
	case closedA && closedB:
		if levelA >= levelB {
			return d.a.open()
		}
		return d.b.open()
	case closedA:
		if !d.b.ended() && d.l.order.compare(d.l.key(&d.b.leaf[d.b.at]), nextA.sep) < 0 {
			return d.added()
		}
		return d.a.open()
	case closedB:
		if !d.a.ended() && d.l.order.compare(d.l.key(&d.a.leaf[d.a.at]), nextB.sep) < 0 {
			return d.removed()
		}
		return d.b.open()
	case d.a.ended():
		return d.added()
	case d.b.ended():
		return d.removed()
	}
	return d.items()
}

// items goes past the lower of the two items that come next, or past both.
func (d *differ[T]) items() error {
	old, new := &d.a.leaf[d.a.at], &d.b.leaf[d.b.at]
	switch side := d.l.order.compare(d.l.key(old), d.l.key(new)); {
	case side < 0:
		return d.removed()
	case side > 0:
		return d.added()
	}
	if err := d.fn(old, new); err != nil {
		return err
	}
	d.a.next()
	d.b.next()
	return nil
}

func (d *differ[T]) added() error {
	err := d.fn(nil, &d.b.leaf[d.b.at])
	d.b.next()
	return err
}

func (d *differ[T]) removed() error {
	err := d.fn(&d.a.leaf[d.a.at], nil)
	d.a.next()
	return err
}
