package bridge

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/oxy-vcs/oxy/revlog"
)

// record says of a path of a changeset what its file revision is, where that does not follow from the files (docs/spec/hg.md).
type record struct {
	kind   byte
	p1, p2 revlog.Node // of madeOf and madeWith: the revision's parents; of trusted p1 is the revision itself
	source string      // of copied: the path it was copied from, which has the copied revision in the first parent
	before []byte      // of madeWith: what stands before the contents
}

// The kinds of records.
const (
	same     = '=' // the first parent's revision, though the changeset says that it touches the path
	taken    = 't' // the second parent's
	madeOf   = 'p' // a new one with the given parents
	copied   = 'c' // a new one without first parent, copied; the second is what was at the path
	madeWith = 'm' // a new one with the given parents, and the given bytes before the contents
	trusted  = 'n' // the given one, of which Mercurial has no contents here
)

var errField = errors.New("malformed field of a change from Mercurial")

// appendRecord appends a record: its kind, the path's length and the path, and what its kind has.
func appendRecord(b []byte, path []byte, r *record) []byte {
	b = append(b, r.kind)
	b = append(binary.AppendUvarint(b, uint64(len(path))), path...)
	switch r.kind {
	case madeOf, madeWith:
		b = append(append(b, r.p1[:]...), r.p2[:]...)
	case trusted:
		b = append(b, r.p1[:]...)
	case copied:
		b = append(binary.AppendUvarint(b, uint64(len(r.source))), r.source...)
	}
	if r.kind == madeWith {
		b = append(binary.AppendUvarint(b, uint64(len(r.before))), r.before...)
	}
	return b
}

// parseRecords reads records, by path.
func parseRecords(s string) (map[string]record, error) {
	out := map[string]record{}
	b := []byte(s)
	bad := false
	take := func(n uint64) []byte {
		if n > uint64(len(b)) {
			bad = true
			return make([]byte, len(revlog.Node{})) // whoever takes a node gets one
		}
		part := b[:n]
		b = b[n:]
		return part
	}
	long := func() []byte {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			bad = true
			return nil
		}
		b = b[size:]
		return take(n)
	}
	node := func() revlog.Node { return revlog.Node(take(uint64(len(revlog.Node{})))) }
	for len(b) > 0 && !bad {
		r := record{kind: take(1)[0]}
		path := string(long())
		switch r.kind {
		case same, taken:
		case madeOf, madeWith:
			r.p1, r.p2 = node(), node()
		case trusted:
			r.p1 = node()
		case copied:
			r.source = string(long())
		default:
			bad = true
		}
		if r.kind == madeWith {
			r.before = bytes.Clone(long())
		}
		if _, twice := out[path]; twice {
			bad = true
		}
		out[path] = r
	}
	if bad {
		return nil, errField
	}
	return out, nil
}

// mark stands around a file's metadata.
const mark = "\x01\n"

// plainBefore is what stands before contents that have no metadata.
func plainBefore(contents []byte) string {
	if bytes.HasPrefix(contents, []byte(mark)) {
		return mark + mark
	}
	return ""
}

// copyBefore is what stands before the contents of a copy.
func copyBefore(source string, node revlog.Node) string {
	return mark + "copy: " + source + "\ncopyrev: " + node.String() + "\n" + mark
}

// usualParents are the parents that a new revision of a file has unless a record says others: what the changeset's parents have at
// the path.
func usualParents(n1, n2 revlog.Node) (p1, p2 revlog.Node) {
	switch {
	case n1 == revlog.NullNode:
		return n2, n1
	case n1 == n2:
		return n1, revlog.NullNode
	}
	return n1, n2
}
