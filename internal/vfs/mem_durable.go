package vfs

// nameOp is a change of names that a power cut may take back, the whole of it.
type nameOp struct {
	from, to name   // a create has no from, a remove no to
	node     *inode // what the names stand for
	back     *inode // of an exchange: what from stands for afterwards
	gone     *inode // a directory that had to be empty to be removed or replaced
	wanted   bool   // a directory of it was synced; it waits for another that it depends on
}

// name is an entry of a directory; the zero value is none.
type name struct {
	dir  *inode
	name string
}

func (o *nameOp) apply(namesOf func(dir *inode) map[string]*inode) {
	if o.from.dir != nil {
		delete(namesOf(o.from.dir), o.from.name)
	}
	if o.to.dir != nil {
		namesOf(o.to.dir)[o.to.name] = o.node
	}
	if o.back != nil {
		namesOf(o.from.dir)[o.from.name] = o.back
	}
}

func (o *nameOp) creates() bool { return o.from.dir == nil }

// movesDir tells of a directory's move to another parent. Were two of them kept in another order, a directory could
// end up beneath itself.
func (o *nameOp) movesDir() bool {
	return o.node.kind == KindDir && o.from.dir != nil && o.to.dir != nil && o.from.dir != o.to.dir
}

// touched sums up changes of names, to tell whether another depends on one of them.
type touched struct {
	names    map[name]bool
	created  map[*inode]bool
	parents  map[*inode]bool
	gone     map[*inode]bool
	movesDir bool
}

func newTouched() *touched {
	return &touched{map[name]bool{}, map[*inode]bool{}, map[*inode]bool{}, map[*inode]bool{}, false}
}

func (t *touched) add(o *nameOp) {
	for _, n := range []name{o.from, o.to} {
		if n.dir != nil {
			t.names[n] = true
			t.parents[n.dir] = true
		}
	}
	t.created[o.node] = t.created[o.node] || o.creates()
	if o.gone != nil {
		t.gone[o.gone] = true
	}
	t.movesDir = t.movesDir || o.movesDir()
}

// shares tells whether o and a change in t are of the same name, or both move directories. Two changes of one file share
// a name too: what one calls it, or what the changes between them do.
func (t *touched) shares(o *nameOp) bool {
	return t.names[o.from] || t.names[o.to] || t.movesDir && o.movesDir()
}

// settle goes through changes from the oldest and splits them into those to apply, for which keep says so and which
// depend on no change that is left, and the others.
func settle(ops []*nameOp, keep func(*nameOp) bool) (kept, left []*nameOp) {
	late := newTouched()
	for _, o := range ops {
		ready := keep(o) && !late.shares(o) && !late.created[o.to.dir] && !late.parents[o.gone]
		if ready {
			kept = append(kept, o)
		} else {
			left = append(left, o)
			late.add(o)
		}
	}
	return kept, left
}

// syncNames makes the names in dir durable, and with them the earlier changes that these came from.
func (m *Mem) syncNames(dir *inode) {
	later := newTouched()
	for i := len(m.pending) - 1; i >= 0; i-- {
		o := m.pending[i]
		inGone := later.gone[o.from.dir] || later.gone[o.to.dir]
		if o.wanted || o.from.dir == dir || o.to.dir == dir || later.shares(o) || inGone {
			o.wanted = true
			later.add(o)
		}
	}
	kept, left := settle(m.pending, func(o *nameOp) bool { return o.wanted })
	for _, o := range kept {
		o.apply(func(dir *inode) map[string]*inode { return dir.durable })
	}
	m.pending = left
}
