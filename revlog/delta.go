package revlog

import (
	"encoding/binary"
	"math"
)

// hunk replaces the bytes [start, end) of one text by a stretch of an arena. A delta is a list of hunks in the order of
// the text, none overlapping the next; hunks that touch follow each other in the new text as in the list.
type hunk struct {
	start, end int32
	size       int32  // of what is inserted
	at         uint32 // where in the arena that begins
}

// hunkHeader is the length of start, end and size as stored, 4 bytes each, in front of what is inserted.
const hunkHeader = 12

// parseDelta appends to list the hunks of the delta that is arena[from:]. How long the text is that they are for is
// checked when they are applied.
func parseDelta(list []hunk, arena []byte, from int) ([]hunk, error) {
	last := int32(0)
	for p := from; p < len(arena); {
		if len(arena)-p < hunkHeader {
			return list, corrupt("its delta ends inside a hunk's header")
		}
		h := arena[p : p+hunkHeader]
		start := int32(binary.BigEndian.Uint32(h))
		end := int32(binary.BigEndian.Uint32(h[4:]))
		size := int32(binary.BigEndian.Uint32(h[8:]))
		p += hunkHeader
		if start < last || end < start {
			return list, corrupt("a hunk of its delta replaces bytes %d to %d, after one that ended at %d", start, end, last)
		}
		if size < 0 || int(size) > len(arena)-p {
			return list, corrupt("a hunk of its delta inserts %d bytes where %d are left", size, len(arena)-p)
		}
		list = append(list, hunk{start, end, size, uint32(p)})
		p += int(size)
		last = end
	}
	return list, nil
}

// compose appends to out the delta that does what a and then b do. Deltas of a chain are composed first, so that a long
// text is copied once and not once for each delta.
func compose(out, a, b []hunk) ([]hunk, error) {
	// shift is what a added before the place reached: a byte at p of the middle text that a did not insert comes from
	// p-shift of the first.
	shift := 0
	i := 0
	var rest hunk // what is left of a[i]
	if len(a) > 0 {
		rest = a[0]
	}
	next := func() {
		shift += int(rest.size) - int(rest.end-rest.start)
		i++
		if i < len(a) {
			rest = a[i]
		}
	}
	for _, h := range b {
		start, end := int(h.start), int(h.end)
		// What a did before this hunk stays.
		for i < len(a) && int(rest.start)+shift+int(rest.size) <= start {
			out = append(out, rest)
			next()
		}
		from := start - shift
		if i < len(a) && int(rest.start)+shift < start {
			// The hunk begins inside what a inserted: the front part stays and takes what a deleted with it.
			front := rest
			front.size = int32(start - int(rest.start) - shift)
			out = append(out, front)
			shift += int(front.size) - int(front.end-front.start)
			rest.start, rest.size, rest.at = rest.end, rest.size-front.size, rest.at+uint32(front.size)
			from = int(rest.start)
		}
		// What a inserted inside this hunk goes, and what it deleted is deleted by the hunk.
		for i < len(a) && int(rest.start)+shift+int(rest.size) <= end {
			next()
		}
		to := end - shift
		if i < len(a) && int(rest.start)+shift < end {
			gone := int32(end - int(rest.start) - shift)
			shift += int(gone) - int(rest.end-rest.start)
			rest.start, rest.size, rest.at = rest.end, rest.size-gone, rest.at+uint32(gone)
			to = int(rest.start)
		}
		if to > math.MaxInt32 || from < 0 || to < from {
			return out, corrupt("a hunk of a delta reaches beyond its text")
		}
		out = append(out, hunk{int32(from), int32(to), h.size, h.at})
	}
	if i < len(a) {
		out = append(out, rest)
		out = append(out, a[i+1:]...)
	}
	return out, nil
}

// patchedSize is how long a text of the given length is after the hunks, or an error if they do not fit it.
func patchedSize(length int, list []hunk) (int, error) {
	size := length
	for _, h := range list {
		size += int(h.size) - int(h.end-h.start)
	}
	if n := len(list); n > 0 && int(list[n-1].end) > length {
		return 0, corrupt("a delta replaces up to byte %d of a text of %d", list[n-1].end, length)
	}
	return size, nil
}

// patch writes to out, as long as patchedSize says, what the hunks make of text.
func patch(out, text, arena []byte, list []hunk) {
	last, n := 0, 0
	for _, h := range list {
		n += copy(out[n:], text[last:h.start])
		n += copy(out[n:], arena[h.at:h.at+uint32(h.size)])
		last = int(h.end)
	}
	copy(out[n:], text[last:])
}
