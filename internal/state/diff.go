package state

// Diff calls fn for each path at which two trees differ in anything, in order: with old nil where only b has an entry,
// new nil where only a has. Both are good during the call only. Where one tree came from the other by edits the cost
// is that of the pages that differ; trees that were built apart are compared entry by entry. Entries of different
// Blocks are not compared by Weave, which means nothing across files. An error from fn ends the walk and is returned.
func Diff(a, b Tree, fn func(old, new *Entry) error) error {
	left, err := newCursor(a.b, &pathLayout, a.root.Paths)
	if err != nil {
		return err
	}
	right, err := newCursor(b.b, &pathLayout, b.root.Paths)
	if err != nil {
		return err
	}
	d := differ{a: left, b: right, sameBlocks: a.b == b.b, fn: fn}
	for !left.ended() || !right.ended() {
		if err := d.step(); err != nil {
			return err
		}
	}
	return nil
}

type differ struct {
	a, b       *cursor[Entry]
	sameBlocks bool
	fn         func(old, new *Entry) error
}

// step goes past one page or entry, or opens one page.
func (d *differ) step() error {
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
		if !d.b.ended() && byPath.compare(d.b.leaf[d.b.at].Path, nextA.sep) < 0 {
			return d.added()
		}
		return d.a.open()
	case closedB:
		if !d.a.ended() && byPath.compare(d.a.leaf[d.a.at].Path, nextB.sep) < 0 {
			return d.removed()
		}
		return d.b.open()
	case d.a.ended():
		return d.added()
	case d.b.ended():
		return d.removed()
	}
	return d.entries()
}

// entries compares the two entries that come next.
func (d *differ) entries() error {
	old, new := &d.a.leaf[d.a.at], &d.b.leaf[d.b.at]
	switch side := byPath.compare(old.Path, new.Path); {
	case side < 0:
		return d.removed()
	case side > 0:
		return d.added()
	}
	if !d.equal(old, new) {
		if err := d.fn(old, new); err != nil {
			return err
		}
	}
	d.a.next()
	d.b.next()
	return nil
}

func (d *differ) equal(a, b *Entry) bool {
	if a.Hash != b.Hash || a.File != b.File || a.Size != b.Size || a.Kind != b.Kind || a.Exec != b.Exec {
		return false
	}
	if d.sameBlocks && a.Weave != b.Weave {
		return false
	}
	return a.Place == b.Place && a.Mode == b.Mode && a.Body == b.Body
}

func (d *differ) added() error {
	err := d.fn(nil, &d.b.leaf[d.b.at])
	d.b.next()
	return err
}

func (d *differ) removed() error {
	err := d.fn(&d.a.leaf[d.a.at], nil)
	d.a.next()
	return err
}
