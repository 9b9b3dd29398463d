package refs

import (
	"bytes"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

// PackedRef is a line of packed-refs with what a tag on it was peeled to, or zero.
type PackedRef struct {
	Name       string
	ID, Peeled object.ID
}

// ParsePacked reads a packed-refs file and gives its refs in order; their names are still to be checked. An empty file
// (fsck's emptyPackedRefsFile) has none. Names must ascend only where the header says that they do, as for Git. Errors
// wrap ErrPacked or are those of give.
func ParsePacked(f object.Format, b []byte, give func(PackedRef) error) error {
	bad := func(why string, line []byte) error { return fmt.Errorf("%w: %s: %.120q", ErrPacked, why, line) }
	sorted := false
	var ref PackedRef
	flush := func() error {
		if ref.Name == "" {
			return nil
		}
		return give(ref)
	}
	before := []byte(nil)
	for first := true; len(b) > 0; first = false {
		line, rest, terminated := bytes.Cut(b, []byte{'\n'})
		if !terminated {
			return bad("line without an end", line)
		}
		b = rest
		switch {
		case line != nil && bytes.HasPrefix(line, []byte("#")):
			traits, found := bytes.CutPrefix(line, []byte("# pack-refs with: "))
			if !found || !first {
				return bad("header", line)
			}
			sorted = bytes.Contains(append(traits[:len(traits):len(traits)], ' '), []byte("sorted "))
		case bytes.HasPrefix(line, []byte("^")):
			id, err := object.ParseID(f, line[1:])
			if err != nil || ref.Name == "" || !ref.Peeled.IsZero() || id.IsZero() {
				return bad("peeled id", line)
			}
			ref.Peeled = id
		default:
			end := 2 * f.Size()
			if len(line) < end+2 || line[end] != ' ' {
				return bad("line", line)
			}
			id, err := object.ParseID(f, line[:end])
			if err != nil || id.IsZero() {
				return bad("id", line)
			}
			name := line[end+1:]
			if sorted && before != nil && bytes.Compare(before, name) >= 0 {
				return bad("not in order", line)
			}
			before = name
			if err := flush(); err != nil {
				return err
			}
			ref = PackedRef{Name: string(name), ID: id}
		}
	}
	return flush()
}
