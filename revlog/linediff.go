package revlog

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// differ makes deltas of whole lines. It looks for lines that stand once in either text and in the same order, and again
// between those; what is left is replaced as it is. So a delta is right whatever was found, and short for texts that were
// edited here and there, which manifests and sources are.
type differ struct {
	a, b   []int32 // the lines' numbers: equal lines have equal ones
	aAt    []int32 // where each line of a begins, and its end
	bAt    []int32
	heads  []int32 // hash table of lines: number of the first in each bucket, and of the next
	nexts  []int32
	lines  [][]byte
	seen   []lineCount
	anchor []pair
	piles  []int32
	back   []int32
	reach  []int32
	hunks  []hunk
}

// lineCount is how often a line stands in a stretch of either text, and where in them it does if that is once.
type lineCount struct{ a, b, atA, atB int32 }

type pair struct{ a, b int32 }

// delta appends to dst the delta that makes b of a. Both are shorter than 2 GiB.
func (d *differ) delta(dst, a, b []byte) []byte {
	// What is alike at both ends is left out, back to a line's edge: most edits are in one place.
	front := commonPrefix(a, b)
	front = bytes.LastIndexByte(a[:front], '\n') + 1
	x, y := a[front:], b[front:]
	end := commonSuffix(x, y)
	if i := bytes.IndexByte(x[len(x)-end:], '\n'); i >= 0 && end > 0 {
		// The suffix begins inside a line unless both are cut right after a newline.
		if !startsLine(x, len(x)-end) || !startsLine(y, len(y)-end) {
			end -= i + 1
		}
	} else if end < len(x) || end < len(y) {
		end = 0
	}
	x, y = x[:len(x)-end], y[:len(y)-end]
	d.hunks = d.hunks[:0]
	if len(x) == 0 || len(y) == 0 {
		if len(x)+len(y) > 0 {
			d.hunks = append(d.hunks, hunk{0, int32(len(x)), int32(len(y)), 0})
		}
	} else {
		d.number(x, y)
		d.compare(0, len(d.a), 0, len(d.b), 0)
	}
	for _, h := range d.hunks {
		dst = binary.BigEndian.AppendUint32(dst, uint32(h.start)+uint32(front))
		dst = binary.BigEndian.AppendUint32(dst, uint32(h.end)+uint32(front))
		dst = binary.BigEndian.AppendUint32(dst, uint32(h.size))
		dst = append(dst, y[h.at:h.at+uint32(h.size)]...)
	}
	return dst
}

func startsLine(b []byte, at int) bool { return at == 0 || b[at-1] == '\n' }

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= 8 && binary.LittleEndian.Uint64(a[i-8:]) == binary.LittleEndian.Uint64(b[i-8:]) {
		i -= 8
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}

// number splits both texts into lines and gives equal lines equal numbers.
func (d *differ) number(x, y []byte) {
	total := bytes.Count(x, newline) + bytes.Count(y, newline) + 2
	buckets := 1
	for buckets < total {
		buckets *= 2
	}
	d.heads = slices.Grow(d.heads[:0], buckets)[:buckets]
	for i := range d.heads {
		d.heads[i] = -1
	}
	d.nexts, d.lines = d.nexts[:0], d.lines[:0]
	d.a, d.aAt = d.split(d.a[:0], d.aAt[:0], x)
	d.b, d.bAt = d.split(d.b[:0], d.bAt[:0], y)
	d.seen = slices.Grow(d.seen[:0], len(d.lines))[:len(d.lines)]
	clear(d.seen)
}

var newline = []byte{'\n'}

func (d *differ) split(numbers, at []int32, text []byte) ([]int32, []int32) {
	for from := 0; from < len(text); {
		end := bytes.IndexByte(text[from:], '\n') + from + 1
		if end == from {
			end = len(text)
		}
		at = append(at, int32(from))
		numbers = append(numbers, d.intern(text[from:end]))
		from = end
	}
	return numbers, append(at, int32(len(text)))
}

func (d *differ) intern(line []byte) int32 {
	h := uint64(len(line))
	rest := line
	for len(rest) >= 8 {
		h = (h ^ binary.LittleEndian.Uint64(rest)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
		rest = rest[8:]
	}
	for _, c := range rest {
		h = (h ^ uint64(c)) * 0x9e3779b97f4a7c15
	}
	h ^= h >> 32
	bucket := &d.heads[h&uint64(len(d.heads)-1)]
	for n := *bucket; n >= 0; n = d.nexts[n] {
		if bytes.Equal(d.lines[n], line) {
			return n
		}
	}
	n := int32(len(d.lines))
	d.lines = append(d.lines, line)
	d.nexts = append(d.nexts, *bucket)
	*bucket = n
	return n
}

// maxDiffDepth ends the search between anchors, whose stretches shrink with each level.
const maxDiffDepth = 64

// compare finds hunks between the lines [a0, a1) of a and [b0, b1) of b.
func (d *differ) compare(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 && b0 == b1 {
		return
	}
	if a0 == a1 || b0 == b1 || depth == maxDiffDepth {
		d.replace(a0, a1, b0, b1)
		return
	}
	from := len(d.anchor)
	d.anchors(a0, a1, b0, b1)
	if len(d.anchor) == from {
		if !d.edits(a0, a1, b0, b1) {
			d.replace(a0, a1, b0, b1)
		}
		return
	}
	for i := from; i < len(d.anchor); i++ {
		p := d.anchor[i]
		if int(p.a) < a0 || int(p.b) < b0 {
			continue // inside what an earlier anchor grew to
		}
		d.compare(a0, int(p.a), b0, int(p.b), depth+1)
		a0, b0 = int(p.a), int(p.b)
		for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
			a0, b0 = a0+1, b0+1
		}
	}
	d.anchor = d.anchor[:from]
	d.compare(a0, a1, b0, b1, depth+1)
}

// replace adds a hunk, or makes the last one longer if it touches it.
func (d *differ) replace(a0, a1, b0, b1 int) {
	h := hunk{d.aAt[a0], d.aAt[a1], d.bAt[b1] - d.bAt[b0], uint32(d.bAt[b0])}
	if n := len(d.hunks); n > 0 && d.hunks[n-1].end == h.start && d.hunks[n-1].at+uint32(d.hunks[n-1].size) == h.at {
		d.hunks[n-1].end = h.end
		d.hunks[n-1].size += h.size
		return
	}
	d.hunks = append(d.hunks, h)
}

// maxEdits is how many lines may differ in a stretch without anchors, such as one of equal lines, for the shortest way
// between its two sides to be sought. The search takes its square in time and memory.
const maxEdits = 128

// edits finds the least lines to delete and insert (Myers' greedy search), and reports whether there are few enough.
func (d *differ) edits(a0, a1, b0, b1 int) bool {
	n, m := a1-a0, b1-b0
	if max(n-m, m-n) > maxEdits {
		return false
	}
	// reach[k] is how far into a the diagonal k, places in a less places in b, gets with the edits made so far; those of each
	// number of edits are kept one after the other.
	width := 2*maxEdits + 3
	middle := maxEdits + 1
	d.reach = d.reach[:0]
	for e := 0; e <= maxEdits; e++ {
		d.reach = slices.Grow(d.reach, width)[:(e+1)*width]
		row := d.reach[e*width:]
		for k := -e; k <= e; k += 2 {
			x := int32(0)
			if e > 0 {
				x = d.from(e, k, width, middle)
			}
			y := x - int32(k)
			if x > int32(n) || y > int32(m) || y < 0 {
				row[middle+k] = -1 << 30
				continue
			}
			for int(x) < n && int(y) < m && d.a[a0+int(x)] == d.b[b0+int(y)] {
				x, y = x+1, y+1
			}
			row[middle+k] = x
			if int(x) == n && int(y) == m {
				d.retrace(e, k, width, middle, a0, b0)
				return true
			}
		}
	}
	return false
}

// from is where diagonal k begins with the e-th edit: below what k+1 reached, by an insertion, or right of k-1, by a deletion.
func (d *differ) from(e, k, width, middle int) int32 {
	before := d.reach[(e-1)*width : e*width]
	down, right := int32(-1<<30), int32(-1<<30)
	if k < e-1 {
		down = before[middle+k+1]
	}
	if k > 1-e {
		right = before[middle+k-1] + 1
	}
	return max(down, right)
}

// retrace adds the hunks of the way that ended on diagonal k after e edits, in order.
func (d *differ) retrace(e, k, width, middle, a0, b0 int) {
	if e == 0 {
		return
	}
	x := int(d.from(e, k, width, middle))
	y := x - k
	if k < e-1 && int(d.reach[(e-1)*width+middle+k+1]) == x {
		d.retrace(e-1, k+1, width, middle, a0, b0)
		d.replace(a0+x, a0+x, b0+y-1, b0+y)
		return
	}
	d.retrace(e-1, k-1, width, middle, a0, b0)
	d.replace(a0+x-1, a0+x, b0+y, b0+y)
}

// anchors appends the longest run of lines that stand once in either stretch and in the same order.
func (d *differ) anchors(a0, a1, b0, b1 int) {
	for i := a0; i < a1; i++ {
		c := &d.seen[d.a[i]]
		c.a++
		c.atA = int32(i)
	}
	for i := b0; i < b1; i++ {
		c := &d.seen[d.b[i]]
		c.b++
		c.atB = int32(i)
	}
	// Patience: each pile's top is the pair with the least place in b that ends a run of that length.
	from := len(d.anchor)
	d.piles, d.back = d.piles[:0], d.back[:0]
	for i := a0; i < a1; i++ {
		c := d.seen[d.a[i]]
		if c.a != 1 || c.b != 1 {
			continue
		}
		k := len(d.anchor) - from
		d.anchor = append(d.anchor, pair{c.atA, c.atB})
		at, _ := slices.BinarySearchFunc(d.piles, c.atB, func(top int32, b int32) int {
			return int(d.anchor[from+int(top)].b - b)
		})
		before := int32(-1)
		if at > 0 {
			before = d.piles[at-1]
		}
		d.back = append(d.back, before)
		if at == len(d.piles) {
			d.piles = append(d.piles, int32(k))
		} else {
			d.piles[at] = int32(k)
		}
	}
	for i := a0; i < a1; i++ {
		d.seen[d.a[i]] = lineCount{}
	}
	for i := b0; i < b1; i++ {
		d.seen[d.b[i]] = lineCount{}
	}
	n := len(d.piles)
	if n == 0 {
		return
	}
	found := d.anchor[from:]
	for i, k := n-1, d.piles[n-1]; k >= 0; i, k = i-1, d.back[k] {
		// The run's pairs are moved to the back half of the piles first: found is read from still.
		d.piles[i] = k
	}
	for i, k := range d.piles {
		found[i] = found[k] // k >= i: pairs lie in the order of a
	}
	d.anchor = d.anchor[:from+n]
}
