package state

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Vacated says that a change took a file away from a path: it moved it or removed it. Whoever puts another file there,
// above or beneath, depends on that change.
type Vacated struct {
	Path string
	By   uint32 // local number
}

// vacancy is a path from which files were taken away, with the changes that did so, ascending.
type vacancy struct {
	path string
	by   []uint32
}

var vacatedLayout = layout[vacancy]{
	leafKind: kindVacatedLeaf, innerKind: kindVacatedInner, order: byPath,
	key:    func(v *vacancy) string { return v.path },
	size:   func(*vacancy) uint64 { return 0 },
	append: appendVacancy,
	decode: decodeVacancies,
}

func appendVacancy(buf []byte, prev, v *vacancy) []byte {
	n := 0
	if prev != nil {
		n = shared(prev.path, v.path)
	}
	buf = appendKey(buf, n, v.path)
	buf = binary.AppendUvarint(buf, uint64(len(v.by)))
	last := uint32(0)
	for _, c := range v.by {
		buf = binary.AppendUvarint(buf, uint64(c-last))
		last = c
	}
	return buf
}

// decodeVacancies appends the vacancies of a leaf to items. The paths are slices of one string.
func decodeVacancies(_ Ref, payload []byte, items []vacancy, s *scratch) ([]vacancy, bool) {
	r := reader{buf: payload}
	s.reset()
	start := len(items)
	for first := true; len(r.buf) > 0; first = false {
		s.key(&r, byPath, first)
		n := r.uvarint()
		if n == 0 || n > uint64(len(r.buf)) {
			r.fail()
			break
		}
		by := make([]uint32, n)
		last := uint64(0)
		for i := range by {
			d := r.uvarint()
			if last += d; i > 0 && d == 0 || d > 1<<32-1 || last > 1<<32-1 {
				r.fail()
			}
			by[i] = uint32(last)
		}
		items = append(items, vacancy{by: by})
	}
	if r.bad || s.starts[min(1, len(s.starts)-1)] == 0 {
		return items[:start], false
	}
	text := string(s.text)
	for i := range items[start:] {
		items[start+i].path = text[s.starts[i]:s.starts[i+1]]
	}
	return items, true
}

// Vacate returns the tree that knows of more paths vacated. The list ascends by path, then change; doubles and what is
// known count once.
func (t Tree) Vacate(list []Vacated) (Tree, error) {
	if len(list) == 0 {
		return t, nil
	}
	var ops []op[vacancy]
	for i := range list {
		v := &list[i]
		if err := checkPath(v.Path); err != nil {
			return Tree{}, fmt.Errorf("vacate: %w", err)
		}
		if n := len(ops); n > 0 && ops[n-1].key == v.Path {
			ops[n-1].item.by = append(ops[n-1].item.by, v.By)
			continue
		} else if n > 0 && ComparePaths(ops[n-1].key, v.Path) > 0 {
			return Tree{}, fmt.Errorf("vacate: %q comes after %q", v.Path, ops[n-1].key)
		}
		ops = append(ops, op[vacancy]{key: v.Path, item: &vacancy{path: v.Path, by: []uint32{v.By}}})
	}
	ed := editor[vacancy]{b: t.b, l: &vacatedLayout}
	ed.replaced = func(i int, old *vacancy) error {
		item := ops[i].item
		if old != nil {
			item.by = append(item.by, old.by...)
		}
		slices.Sort(item.by)
		item.by = slices.Compact(item.by)
		return nil
	}
	var err error
	if t.root.Vacated, err = ed.edit(t.root.Vacated, ops); err != nil {
		return Tree{}, fmt.Errorf("vacate: %w", err)
	}
	return t, nil
}

// Vacated lists, in no order and with repeats, the changes that took a file away from path, from above it or from
// beneath it.
func (t Tree) Vacated(path string) (by []uint32, err error) {
	if t.root.Vacated == 0 {
		return nil, nil
	}
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		c, err := newCursor(t.b, &vacatedLayout, t.root.Vacated)
		if err != nil {
			return nil, err
		}
		if err := c.seek(path[:i]); err != nil {
			return nil, err
		}
		for {
			v, err := c.item()
			if err != nil {
				return nil, err
			}
			at := v != nil && v.path == path[:i]
			if v == nil || !at && (i < len(path) || !strings.HasPrefix(v.path, path+"/")) {
				break
			}
			by = append(by, v.by...)
			c.next()
		}
	}
	return by, nil
}
