package state

import (
	"encoding/binary"
	"strings"
)

// Vacated says that a change took a file away from a path: it moved it or removed it. Whoever puts another file there,
// above or beneath, depends on that change.
type Vacated struct {
	Path string
	By   uint32 // local number
}

// maxVacatedBy is how many changes are kept for a path, the newest. Otherwise a file that a program saves by renaming
// would grow its leaf beyond any page. Nothing is lost by it as long as each file that was put there depends on what
// took the one before it away: then the newest stands for all.
const maxVacatedBy = 512

// vacancy is a path from which files were taken away, with the changes that did so, ascending.
type vacancy struct {
	path string
	by   []uint32 // 1 to maxVacatedBy
}

var vacatedLayout = layout[vacancy]{
	leafKind: kindVacatedLeaf, innerKind: kindVacatedInner, order: byPath,
	key:    func(v *vacancy) string { return v.path },
	size:   func(*vacancy) uint64 { return 0 },
	append: appendVacancy,
	decode: decodeVacancies,
}

// Vacated lists, in no order and with repeats, the changes that took a file away from path, from above it or from
// beneath it: the newest maxVacatedBy for each place.
func (t Tree) Vacated(path string) (by []uint32, err error) {
	beneath := false
	for end := len(path); end > 0; {
		ref, payload, more, err := vacatedLayout.find(t.b, t.root.Vacated, path[:end])
		if err != nil || ref == 0 {
			return nil, err
		}
		f := vacancyFinder{finder: finder{order: byPath, want: path[:end]}, by: by, more: more}
		if !f.leaf(payload) {
			return nil, damaged(ref, "is no leaf page")
		}
		if end == len(path) {
			beneath = f.more
		}
		by, end = f.by, f.above
	}
	if !beneath {
		return by, nil
	}
	return t.vacatedBeneath(path, by)
}

// vacatedBeneath appends the changes that took files away from beneath a directory.
func (t Tree) vacatedBeneath(dir string, by []uint32) ([]uint32, error) {
	c, err := newCursor(t.b, &vacatedLayout, t.root.Vacated)
	if err != nil {
		return nil, err
	}
	if err := c.seek(dir + "/"); err != nil {
		return nil, err
	}
	for {
		v, err := c.item()
		if err != nil {
			return nil, err
		}
		if v == nil || !beneath(v.path, dir) {
			return by, nil
		}
		by = append(by, v.by...)
		c.next()
	}
}

// vacancyFinder looks in a leaf for a path and for those above it. All of these that do not come before the leaf's first
// key are in the leaf. One that does can only be above that key as well, for what lies between a directory and something
// beneath it is beneath it too: most leaves that the paths above belong in need not be read.
type vacancyFinder struct {
	finder
	by    []uint32 // gets the changes
	above int      // so much of the path is the longest that another leaf may have, 0 for none
	more  bool     // something may lie beneath the path; at first, in the leaves that follow
}

// leaf reads a leaf and reports whether it is one.
func (f *vacancyFinder) leaf(payload []byte) bool {
	r := reader{buf: payload}
	for first := true; len(r.buf) > 0; first = false {
		shares, suffix := r.key()
		side := f.next(shares, suffix)
		if first {
			f.above = f.parent(side)
		}
		if side > 0 {
			f.more = f.beneath(shares, suffix)
			break
		}
		n := shares + len(suffix)
		wanted := side == 0 || n == f.matched && f.want[n] == '/'
		f.by = r.vacatedBy(f.by, wanted)
	}
	return !r.bad
}

// parent returns the length of the longest path above the one that is wanted and above the first key of the leaf too,
// if that comes before it.
func (f *vacancyFinder) parent(side int) int {
	within := f.want
	if side < 0 {
		within = f.want[:f.matched]
	}
	return max(0, strings.LastIndexByte(within, '/'))
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

// vacatedBy reads the changes of a vacancy and appends them to by if they are wanted.
func (r *reader) vacatedBy(by []uint32, wanted bool) []uint32 {
	n := r.uvarint()
	if n == 0 || n > maxVacatedBy {
		r.fail()
	}
	last := uint64(0)
	for i := uint64(0); i < n && !r.bad; i++ {
		step := uint64(r.uint32())
		if last += step; last > 1<<32-1 || step == 0 && i > 0 {
			r.fail()
		}
		if wanted {
			by = append(by, uint32(last))
		}
	}
	return by
}

// decodeVacancies appends the vacancies of a leaf to items. The paths are slices of one string.
func decodeVacancies(_ Ref, payload []byte, items []vacancy, s *scratch) ([]vacancy, bool) {
	r := reader{buf: payload}
	s.reset()
	start := len(items)
	var numbers []uint32 // of all items, side by side
	for first := true; len(r.buf) > 0; first = false {
		s.key(&r, byPath, first)
		from := len(numbers)
		numbers = r.vacatedBy(numbers, true)
		items = append(items, vacancy{by: numbers[from:len(numbers):len(numbers)]})
	}
	if r.bad || s.starts[min(1, len(s.starts)-1)] == 0 { // only an inner page's first key may be empty
		return items[:start], false
	}
	text := string(s.text)
	for i := range items[start:] {
		items[start+i].path = text[s.starts[i]:s.starts[i+1]]
	}
	return items, true
}
