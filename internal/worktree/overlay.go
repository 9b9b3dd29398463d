package worktree

import (
	"slices"
	"strings"
)

// overDir is what changed in one directory since the base file was written. Every parent of a changed directory has one.
type overDir struct {
	base  int // the directory's number in the base, or -1
	names map[string]overEntry
	info  DirInfo // with seen, in place of the base's
	seen  bool
	delta int      // how many entries more than in the base are in and beneath it
	subs  []string // directories in it that the base lacks, ascending
}

type overEntry struct {
	Entry
	gone bool
}

// dirRef names a directory in both layers; the zero number of base with a nil over is the root of a base without changes.
type dirRef struct {
	base int // or -1
	over *overDir
}

type namedRef struct {
	dirRef
	name string // lives as long as the mapping
}

type namedEntry struct {
	name string // lives as long as the mapping
	Entry
}

// ref finds a directory by path.
func (m *Manifest) ref(path string) dirRef {
	if o := m.over[path]; o != nil {
		return dirRef{o.base, o}
	}
	return dirRef{m.base.findDir(path), nil}
}

// baseRef is the directory with this number in the base.
func (m *Manifest) baseRef(i int) dirRef {
	if len(m.over) == 0 {
		return dirRef{i, nil}
	}
	return dirRef{i, m.over[m.base.dirPath(i)]}
}

// live counts the entries in and beneath a directory. With none it is not tracked, whatever the layers know of it.
func (m *Manifest) live(d dirRef) int {
	n := 0
	if d.base >= 0 {
		n = m.base.total(d.base)
	}
	if d.over != nil {
		n += d.over.delta
	}
	return n
}

func (m *Manifest) info(d dirRef) DirInfo {
	switch {
	case d.over != nil && d.over.seen:
		return d.over.info
	case d.base >= 0:
		return m.base.info(d.base)
	}
	return DirInfo{}
}

// appendEntries appends the entries of one directory in byte order.
func (m *Manifest) appendEntries(buf []namedEntry, d dirRef) ([]namedEntry, error) {
	var blk block
	if d.base >= 0 {
		var err error
		if blk, err = m.base.block(d.base); err != nil {
			return buf, err
		}
	}
	start := len(buf)
	n := blk.len()
	buf = slices.Grow(buf, n)[:start+n]
	for j := range n {
		buf[start+j].name = blk.name(j)
		blk.entry(j, &buf[start+j].Entry)
	}
	if d.over == nil || len(d.over.names) == 0 {
		return buf, nil
	}
	kept := buf[:start]
	for _, e := range buf[start:] {
		if _, changed := d.over.names[e.name]; !changed {
			kept = append(kept, e)
		}
	}
	buf = kept
	for name, o := range d.over.names {
		if !o.gone {
			buf = append(buf, namedEntry{name, o.Entry})
		}
	}
	slices.SortFunc(buf[start:], func(a, b namedEntry) int { return strings.Compare(a.name, b.name) })
	return buf, nil
}

// children lists the tracked directories in a directory, in byte order.
func (m *Manifest) children(d dirRef) []namedRef {
	var out []namedRef
	if d.base >= 0 {
		skip := len(m.base.dirPath(d.base))
		if skip > 0 {
			skip++
		}
		for i, end := d.base+1, m.base.end(d.base); i < end; i = m.base.end(i) {
			if c := m.baseRef(i); m.live(c) > 0 {
				out = append(out, namedRef{c, m.base.dirPath(i)[skip:]})
			}
		}
	}
	if d.over == nil || len(d.over.subs) == 0 {
		return out
	}
	for _, sub := range d.over.subs {
		_, name := split(sub)
		if o := m.over[sub]; m.live(dirRef{-1, o}) > 0 {
			out = append(out, namedRef{dirRef{-1, o}, name})
		}
	}
	slices.SortFunc(out, func(a, b namedRef) int { return strings.Compare(a.name, b.name) })
	return out
}

// child is the tracked directory of one name in a directory.
func (m *Manifest) child(path string) (dirRef, bool) {
	d := m.ref(path)
	return d, m.live(d) > 0
}

// overDir makes the overlay of a directory, and of its parents.
func (m *Manifest) overDir(path string) *overDir {
	if o := m.over[path]; o != nil {
		return o
	}
	path = strings.Clone(path)
	o := &overDir{base: m.base.findDir(path)}
	m.over[path] = o
	if path != "" {
		dir, _ := split(path)
		up := m.overDir(dir)
		if o.base < 0 {
			i, _ := slices.BinarySearch(up.subs, path)
			up.subs = slices.Insert(up.subs, i, path)
		}
	}
	return o
}

// put sets an entry.
func (m *Manifest) put(path string, e *Entry) error {
	dir, name := split(path)
	o := m.overDir(dir)
	_, was, err := m.lookupIn(dirRef{o.base, o}, name)
	if err != nil {
		return err
	}
	if o.names == nil {
		o.names = map[string]overEntry{}
	}
	o.names[strings.Clone(name)] = overEntry{Entry: *e}
	if !was {
		m.grow(dir, 1)
	}
	return nil
}

// remove deletes an entry and tells whether it was there. What is on disk under its name is not tracked from now on, so
// the directory's names must be read again although its times are the same; also those of the directory that holds the
// last tracked one.
func (m *Manifest) remove(path string) (bool, error) {
	dir, name := split(path)
	o := m.overDir(dir)
	_, was, err := m.lookupIn(dirRef{o.base, o}, name)
	if err != nil || !was {
		return false, err
	}
	if o.names == nil {
		o.names = map[string]overEntry{}
	}
	o.names[strings.Clone(name)] = overEntry{gone: true}
	m.grow(dir, -1)
	for {
		o.info, o.seen = DirInfo{}, true
		if dir == "" || m.live(dirRef{o.base, o}) > 0 {
			return true, nil
		}
		dir, _ = split(dir)
		o = m.overDir(dir)
	}
}

// grow counts entries more in a directory and all around it.
func (m *Manifest) grow(dir string, by int) {
	for {
		m.overDir(dir).delta += by
		if dir == "" {
			return
		}
		dir, _ = split(dir)
	}
}
