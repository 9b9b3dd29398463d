// Package weave holds one file: every line it ever had, in one order, as runs. It applies hunks, records edits as
// hunks, unites what two sets of changes made of a file, and tells what shows, who wrote or deleted it, and where
// changes conflict (docs/spec/algebra.md). It knows no paths, reads no text and does no I/O: positions
// are byte offsets in what each change inserted (docs/spec/weave.md).
package weave

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// ErrMismatch says that a hunk names a place that the weave does not have: the change does not belong here.
var ErrMismatch = errors.New("the change does not fit the file")

// Run is a maximal stretch of adjacent bytes, whole lines, from one change that share their fate.
type Run struct {
	Change   uint32 // local number
	Off, Len uint32 // where in what that change inserted into this file
	// Head marks the first run of an inserted stretch: its first line is a child of the line at Parent, on the left side
	// or the right. Every other line of a stretch is the right child of the line before it.
	Head, Left bool
	Parent     change.Pos
	// HasRight says that the run's last line has a right child. Every other line has: the next one.
	HasRight bool
	Dead     Set // the changes that delete it
	// Turned says that the run shows though it is deleted, or does not though nothing deletes it: deletions were taken back,
	// its own change was undone, or a twin shows in its stead.
	Turned bool
	Before Cover // of the place before the run
	Inside Cover // of the places between its lines; what covers them covers Before too, or did
}

// Shown reports whether the run shows where no block does. Dead alone does not say it: see Turned.
func (r *Run) Shown() bool { return (r.Dead == 0) != r.Turned }

// split gives the first n bytes of a run and the rest; 0 < n < Len.
func (r Run) split(n uint32) (left, right Run) {
	left, right = r, r
	left.Len = n
	left.HasRight = true
	right.Off += n
	right.Len -= n
	right.Head, right.Left, right.Parent = false, false, change.Pos{}
	right.Before = left.Inside
	return left, right
}

// continues reports whether next, adjacent, is the same run going on.
func (r *Run) continues(next *Run) bool {
	return next.Change == r.Change && next.Off == r.Off+r.Len && !next.Head && next.Dead == r.Dead && next.Turned == r.Turned &&
		next.Before == r.Inside && next.Inside == r.Inside
}

// Source says where the text of one change in this file lies.
type Source struct {
	Change uint32
	Ord    uint32      // the file's ordinal in that change
	Size   uint32      // bytes
	Hash   change.Hash // of the content, zero when it comes with the change itself
}

// Weave is one file. The zero value is a file that never had a line. What only reads one keeps what it found in it, so a
// weave is not for two goroutines at once.
type Weave struct {
	Runs    []Run
	Tail    Cover    // of the place before the end
	Sources []Source // ascending by change
	acts    []act    // of each source, what it did
	twins   []twins
	open    []Pair // in order
	odd     bool   // something was undone or restored, or has twins: deleters alone do not say what shows
	sets    [][]uint32
	// Sets by hash, made when first needed: some that weaves made from this one, or it from one, find there too, and others.
	shared, index map[uint64]Set
	// Of each number from the first source's on, 1 + the source that has it: made when wanted, for so many sources.
	numbers  []int32
	numbered int
}

// New is a file of one stretch, as a change adds it. Size may be 0.
func New(src Source) *Weave {
	w := &Weave{Sources: []Source{src}, acts: make([]act, 1)}
	own := w.single(src.Change)
	w.Tail.Add = own
	if src.Size > 0 {
		c := Cover{Add: own}
		w.Runs = []Run{{Change: src.Change, Len: src.Size, Head: true, Parent: change.Start, Before: c, Inside: c}}
	}
	return w
}

// Size is how many bytes show.
func (w *Weave) Size() (n uint64) {
	for i := range w.Runs {
		if w.Runs[i].Shown() {
			n += uint64(w.Runs[i].Len)
		}
	}
	return n
}

// Source finds where a change's text lies.
func (w *Weave) Source(c uint32) (Source, bool) {
	i, ok := w.source(c)
	if !ok {
		return Source{}, false
	}
	return w.Sources[i], true
}

// source gives where among the sources a change is. Where it would stand is told only while no table is made.
func (w *Weave) source(c uint32) (int, bool) {
	if t := w.numbers; len(t) > 0 && w.numbered == len(w.Sources) {
		i := uint64(c) - uint64(w.Sources[0].Change)
		if i >= uint64(len(t)) || t[i] == 0 {
			return 0, false
		}
		return int(t[i] - 1), true
	}
	return slices.BinarySearchFunc(w.Sources, c, func(s Source, c uint32) int { return cmp.Compare(s.Change, c) })
}

// Where a table of sources by number is worth its room: above so many sources, and with room for so many numbers each.
const (
	numberFrom  = 64
	numberShare = 64
)

// number makes the table by which source finds one in a step, for work that asks for each run.
func (w *Weave) number() {
	n := len(w.Sources)
	if n < numberFrom || w.numbered == n {
		return
	}
	span := uint64(w.Sources[n-1].Change) - uint64(w.Sources[0].Change) + 1
	w.numbers, w.numbered = nil, n
	if span > uint64(n)*numberShare {
		return
	}
	w.numbers = make([]int32, span)
	for i, s := range w.Sources {
		w.numbers[s.Change-w.Sources[0].Change] = int32(i) + 1
	}
}

// split cuts run i so that its first part has n bytes; 0 < n < Len.
func (w *Weave) split(i int, n uint32) {
	left, right := w.Runs[i].split(n)
	w.Runs[i] = left
	w.Runs = slices.Insert(w.Runs, i+1, right)
}

// startAt gives the index of the run that begins at p, splitting one if need be; len(Runs) for End.
func (w *Weave) startAt(p change.Pos, from int) (int, error) {
	if p == change.End {
		return len(w.Runs), nil
	}
	for _, span := range [2][2]int{{from, len(w.Runs)}, {0, from}} {
		for i := span[0]; i < span[1]; i++ {
			r := &w.Runs[i]
			if r.Change != p.Change || p.Off < r.Off || p.Off >= r.Off+r.Len {
				continue
			}
			if p.Off > r.Off {
				w.split(i, p.Off-r.Off)
				i++
			}
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: no line begins at %d.%d", ErrMismatch, p.Change, p.Off)
}

// endAt gives the index after the run that ends at p, splitting one if need be; 0 for Start.
func (w *Weave) endAt(p change.Pos, from int) (int, error) {
	if p == change.Start {
		return 0, nil
	}
	for _, span := range [2][2]int{{from, len(w.Runs)}, {0, from}} {
		for i := span[0]; i < span[1]; i++ {
			r := &w.Runs[i]
			if r.Change != p.Change || p.Off <= r.Off || p.Off > r.Off+r.Len {
				continue
			}
			if p.Off < r.Off+r.Len {
				w.split(i, p.Off-r.Off)
			}
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("%w: no line ends at %d.%d", ErrMismatch, p.Change, p.Off)
}
