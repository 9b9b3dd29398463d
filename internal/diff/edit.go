// Package diff compares contents line by line and writes what differs for people and for patch. It knows bytes
// only: no paths beyond the names it prints, no repository, no terminal, no I/O. The choices are in docs/spec/diff.md.
package diff

// Edit replaces lines A0..A1 of a by lines B0..B1 of b, half-open and counted from 0. The offsets are the same
// edges in bytes: a[AOff0:AOff1] is replaced by b[BOff0:BOff1].
//
// A list of edits ascends, and between two of them lies at least one matched line.
type Edit struct {
	A0, A1, B0, B1             int
	AOff0, AOff1, BOff0, BOff1 int
	// Blank says that only blank lines are touched. It is set only under Options.IgnoreBlankLines, and such an edit
	// counts for nothing but must stay in the list: it keeps the line numbers of both sides in step.
	Blank bool
}

// Options say which differences do not count. With either of the first two on, applying the edits to a gives b only
// up to white space.
type Options struct {
	IgnoreAllSpace    bool // white space never counts, nor does a missing last line end
	IgnoreSpaceChange bool // a run of white space equals any other, and none at a line's end
	IgnoreBlankLines  bool // edits of blank lines are marked Blank
	// Minimal lifts the bound on effort: the result is a shortest script, at a cost that grows with the product of
	// size and difference.
	Minimal bool
}

func (o *Options) ignoresSpace() bool { return o.IgnoreAllSpace || o.IgnoreSpaceChange }

// Count returns how many lines edits add and delete.
func Count(edits []Edit) (added, deleted int) {
	for i := range edits {
		if e := &edits[i]; !e.Blank {
			added += e.B1 - e.B0
			deleted += e.A1 - e.A0
		}
	}
	return added, deleted
}
