package state

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Disputed says what of a file is not plain.
type Disputed uint8

// What may be disputed of a file.
const (
	DisputedPlace Disputed = 1 << iota
	DisputedMode
	DisputedBody
	DisputedLife
	DisputedText
	DisputedName // other files meet it at its place
	Several      // more than one value stands in a register, though none conflicts
	disputedUnknown
)

// Dispute is a file of which not everything is plain.
type Dispute struct {
	File  change.FileID
	Place string // where it would stand if no other file met it there
	// Shown is where it is shown; of a hidden file where the one is that is shown in its stead; empty for one that is
	// gone.
	Shown string
	Kinds Disputed
	// Hidden is what a hidden file is, its File and Path as above; nil for one that is not hidden.
	Hidden *Entry
	// Meets are the files that it meets at its place, ascending, and Dir tells that a directory is there too: only with
	// DisputedName.
	Meets []change.FileID
	Dir   bool
}

// disputesFill is how many bytes of disputes a block gets before another is begun: where thousands of files are
// disputed, those before the first that differs are written once.
const disputesFill = 64 << 10

// Disputed reports whether there is any file that is not plain.
func (t Tree) Disputed() bool { return t.root.Disputes != 0 }

// Disputes lists the files that are not plain, ascending. The tree of most states has none.
func (t Tree) Disputes() ([]Dispute, error) {
	if t.root.Disputes == 0 {
		return nil, nil
	}
	list, err := t.b.disputes(t.root.Disputes)
	if err != nil {
		return nil, fmt.Errorf("read disputes: %w", err)
	}
	return list, nil
}

func (b *Blocks) disputes(ref Ref) ([]Dispute, error) {
	links, err := b.links(kindDisputes, ref)
	if err != nil {
		return nil, err
	}
	total := uint64(0)
	for _, l := range links {
		n, ok := countDisputes(l.payload)
		if !ok {
			return nil, damaged(l.ref, "has no number of disputes")
		}
		total += n
	}
	list := make([]Dispute, 0, total)
	for _, l := range slices.Backward(links) {
		n := len(list)
		var ok bool
		if list, ok = decodeDisputes(l.ref, l.payload, list); !ok {
			return nil, damaged(l.ref, "has no disputes")
		}
		if n > 0 && compareFiles(list[n-1].File, list[n].File) >= 0 {
			return nil, damaged(l.ref, "is out of order")
		}
	}
	return list, nil
}

// WithDisputes returns the tree whose disputes are those of the list, which ascends by file, and no others. Where
// nothing differs from what the tree has, nothing is written and its root stays the same.
func (t Tree) WithDisputes(list []Dispute) (Tree, error) {
	for i := range list {
		if i > 0 && compareFiles(list[i-1].File, list[i].File) >= 0 {
			return Tree{}, fmt.Errorf("disputes: file %v comes after %v", list[i].File, list[i-1].File)
		}
		if err := list[i].check(); err != nil {
			return Tree{}, fmt.Errorf("dispute of file %v: %w", list[i].File, err)
		}
	}
	old, err := t.b.links(kindDisputes, t.root.Disputes)
	if err != nil {
		return Tree{}, fmt.Errorf("read disputes: %w", err)
	}
	var last Ref
	for buf := []byte(nil); len(list) > 0; {
		n := 0
		buf, n = appendDisputes(buf[:0], list, disputesFill)
		list = list[n:]
		if k := len(old); k > 0 && bytes.Equal(old[k-1].payload, buf) {
			last, old = old[k-1].ref, old[:k-1]
			continue
		}
		old = nil // what follows adds to other blocks than these
		if last, err = t.b.putLink(kindDisputes, last, buf); err != nil {
			return Tree{}, fmt.Errorf("store disputes: %w", err)
		}
	}
	t.root.Disputes = last
	return t, nil
}

func (d *Dispute) check() error {
	if err := checkPath(d.Place); err != nil {
		return err
	}
	if len(d.Shown) > MaxPath || d.Shown == "" && d.Hidden != nil {
		return fmt.Errorf("it is shown at a path of %d bytes", len(d.Shown))
	}
	if d.Kinds >= disputedUnknown {
		return fmt.Errorf("unknown kinds %#x", uint8(d.Kinds))
	}
	if d.Kinds&DisputedName == 0 && (d.Dir || len(d.Meets) > 0) {
		return fmt.Errorf("it meets others, but its name is not disputed")
	}
	for i := range d.Meets {
		if d.Meets[i] == d.File || i > 0 && compareFiles(d.Meets[i-1], d.Meets[i]) >= 0 {
			return fmt.Errorf("it meets %v", d.Meets)
		}
	}
	if e := d.Hidden; e != nil {
		if e.File != d.File || e.Path != d.Place {
			return fmt.Errorf("hidden is file %v of %q", e.File, e.Path)
		}
		return checkEntry(e)
	}
	return nil
}
