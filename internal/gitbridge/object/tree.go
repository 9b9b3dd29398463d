package object

import (
	"bytes"
	"errors"
	"fmt"
)

// Mode is the mode of a tree's entry, with a mark for one that is told with a leading zero.
type Mode uint32

// The modes that are taken. Others are refused as ErrMode.
const (
	ModeFile      Mode = 0o100644
	ModeExec      Mode = 0o100755
	ModeGroup     Mode = 0o100664 // a file in trees of Git's first months; files otherwise
	ModeLink      Mode = 0o120000
	ModeSubmodule Mode = 0o160000
	ModeTree      Mode = 0o040000
	// ModePadded marks a mode that is told with one leading zero, as some old tools did: "040000".
	ModePadded Mode = 1 << 31
)

// Bare is the mode without the mark.
func (m Mode) Bare() Mode { return m &^ ModePadded }

// What makes a tree one that cannot be taken.
var (
	// ErrTree is a tree that ends within an entry or has a mode that is no number: fsck's badTree.
	ErrTree = errors.New("tree is cut short or malformed")
	// ErrMode is fsck's badFilemode, and zeroPaddedFilemode with more than one zero.
	ErrMode = errors.New("mode that is not taken")
	// ErrTreeOrder is fsck's treeNotSorted.
	ErrTreeOrder = errors.New("tree is not in order")
	// ErrTreeTwice is fsck's duplicateEntries.
	ErrTreeTwice = errors.New("tree has a name twice")
	// ErrTreeName is a name that is empty or has a slash: fsck's emptyName and fullPathname.
	ErrTreeName = errors.New("tree has a name that is none")
	// ErrNullID is fsck's nullSha1.
	ErrNullID = errors.New("tree names the null object")
)

// Entry is one entry of a tree; Name and ID alias the tree. ID has as many bytes as ids have.
type Entry struct {
	Mode Mode
	Name []byte
	ID   []byte
}

// NextEntry takes the first entry of what is left of a tree, which must not be empty. It judges the entry alone; its
// place among the others is Order's.
func NextEntry(f Format, b []byte) (e Entry, rest []byte, err error) {
	nul := bytes.IndexByte(b, 0)
	end := nul + 1 + f.Size()
	if nul < 0 || end > len(b) {
		return Entry{}, nil, ErrTree
	}
	e.ID = b[nul+1 : end]
	switch { // nearly all are one of these
	case nul >= 7 && string(b[:7]) == "100644 ":
		e.Mode, e.Name = ModeFile, b[7:nul]
	case nul >= 6 && string(b[:6]) == "40000 ":
		e.Mode, e.Name = ModeTree, b[6:nul]
	default:
		if e.Mode, e.Name, err = splitMode(b[:nul]); err != nil {
			return Entry{}, nil, err
		}
	}
	if len(e.Name) == 0 || bytes.IndexByte(e.Name, '/') >= 0 {
		return Entry{}, nil, fmt.Errorf("%w: %.80q", ErrTreeName, e.Name)
	}
	if isNull(e.ID) {
		return Entry{}, nil, fmt.Errorf("%w: %.80q", ErrNullID, e.Name)
	}
	return e, b[end:], nil
}

// splitMode parts what stands before an entry's NUL.
func splitMode(b []byte) (m Mode, name []byte, err error) {
	i := 0
	for i < len(b) && b[i] != ' ' {
		d := b[i] - '0'
		if d > 7 || i > 7 {
			return 0, nil, ErrTree
		}
		m = m<<3 | Mode(d)
		i++
	}
	if i == len(b) || i == 0 {
		return 0, nil, ErrTree
	}
	digits := 6
	switch m {
	case ModeFile, ModeExec, ModeGroup, ModeLink, ModeSubmodule:
	case ModeTree:
		digits = 5
	default:
		digits = 0
	}
	switch {
	case digits == i:
	case digits > 0 && digits+1 == i:
		m |= ModePadded
	default:
		return 0, nil, fmt.Errorf("%w: %.12q of %.80q", ErrMode, b[:i], b[i+1:])
	}
	return m, b[i+1:], nil
}

// Skip says of a tree that was checked where the name of its first entry lies, whether that is a directory, and where
// the next entry begins.
func Skip(f Format, b []byte) (name []byte, isTree bool, next int) {
	nul := bytes.IndexByte(b, 0)
	switch {
	case b[5] == ' ':
		return b[6:nul], true, nul + 1 + f.Size()
	case b[6] == ' ':
		return b[7:nul], b[0] == '0', nul + 1 + f.Size()
	}
	return b[8:nul], false, nul + 1 + f.Size()
}

// IsTree tells whether the entry is a directory.
func (e *Entry) IsTree() bool { return e.Mode.Bare() == ModeTree }

// CompareNames orders names as in a tree: a directory as if its name ended in a slash.
func CompareNames(a []byte, aTree bool, b []byte, bTree bool) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return int(after(a, n, aTree)) - int(after(b, n, bTree))
}

// after is the byte at n, or what stands behind the name.
func after(name []byte, n int, tree bool) byte {
	switch {
	case n < len(name):
		return name[n]
	case tree:
		return '/'
	}
	return 0
}

// Order checks that entries of one tree come in order and that no name comes twice. The zero value is ready; it aliases
// the tree.
type Order struct {
	prev  Entry
	files [][]byte // names of files that begin the name before: a directory of the same name may come yet
}

// Reset makes it ready for another tree.
func (o *Order) Reset() { o.prev, o.files = Entry{}, o.files[:0] }

// Next takes the next entry. Errors wrap ErrTreeTwice or ErrTreeOrder.
func (o *Order) Next(e *Entry) error {
	if o.prev.Name != nil {
		if bytes.Equal(o.prev.Name, e.Name) {
			return fmt.Errorf("%w: %.80q", ErrTreeTwice, e.Name)
		}
		if CompareNames(o.prev.Name, o.prev.IsTree(), e.Name, e.IsTree()) >= 0 {
			return fmt.Errorf("%w: %.80q after %.80q", ErrTreeOrder, e.Name, o.prev.Name)
		}
	}
	o.prev = *e
	for len(o.files) > 0 && !bytes.HasPrefix(e.Name, o.files[len(o.files)-1]) {
		o.files = o.files[:len(o.files)-1]
	}
	if !e.IsTree() {
		o.files = append(o.files, e.Name)
		return nil
	}
	// "a", "a.b", "a/": the directory stands away from the file, but every name between begins with the file's.
	for i := len(o.files) - 1; i >= 0; i-- {
		if len(o.files[i]) == len(e.Name) {
			return fmt.Errorf("%w: %.80q", ErrTreeTwice, e.Name)
		}
	}
	return nil
}

// AppendEntry appends an entry as it stands in a tree.
func AppendEntry(b []byte, e *Entry) []byte {
	if e.Mode&ModePadded != 0 {
		b = append(b, '0')
	}
	m := e.Mode.Bare()
	if m != ModeTree {
		b = append(b, '0'+byte(m>>15))
	}
	for shift := 12; shift >= 0; shift -= 3 {
		b = append(b, '0'+byte(m>>shift)&7)
	}
	b = append(append(b, ' '), e.Name...)
	return append(append(b, 0), e.ID...)
}

// CheckTree checks a whole tree by itself.
func CheckTree(f Format, raw []byte) error {
	var order Order
	for len(raw) > 0 {
		e, rest, err := NextEntry(f, raw)
		if err != nil {
			return err
		}
		if err := order.Next(&e); err != nil {
			return err
		}
		raw = rest
	}
	return nil
}

func isNull(id []byte) bool {
	for _, c := range id { // nearly always ends at the first
		if c != 0 {
			return false
		}
	}
	return true
}
