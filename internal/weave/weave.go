// Package weave holds one file: every line it ever had, in one order, as runs. It applies hunks, records edits as
// hunks, unites what two sets of changes made of a file, and tells what shows, who wrote or deleted it, and where
// changes conflict (docs/spec/algebra.md). It knows no paths, reads no text and does no I/O: positions
// are byte offsets in what each change inserted (docs/spec/weave.md).
package weave

import (
	"cmp"
	"errors"
	"fmt"
	mathbits "math/bits"
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
	// HasRight says that the run's last line has a right child. Every other line has: the next one.
	HasRight bool
	// Turned says that the run shows though it is deleted, or does not though nothing deletes it: deletions were taken back,
	// its own change was undone, or a twin shows in its stead.
	Turned bool
	Parent change.Pos
	Dead   Set   // the changes that delete it
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
	// Sources by number, 1 + where among them, each at its number's place or the next free one: made when wanted, for so many sources.
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
		for k := numberPlace(c, t); ; k = (k + 1) & (len(t) - 1) {
			switch i := t[k]; {
			case i == 0:
				return 0, false
			case w.Sources[i-1].Change == c:
				return int(i - 1), true
			}
		}
	}
	return slices.BinarySearchFunc(w.Sources, c, func(s Source, c uint32) int { return cmp.Compare(s.Change, c) })
}

// numberFrom is above how many sources a table of them is worth its room.
const numberFrom = 16

// numberPlace is where a number is first looked for in a table, which has a power of two of places.
func numberPlace(c uint32, t []int32) int {
	return int(c*2654435769>>7) & (len(t) - 1)
}

// number makes the table by which source finds one in a step or two, for work that asks for each run.
func (w *Weave) number() {
	n := len(w.Sources)
	if n < numberFrom || w.numbered == n {
		return
	}
	t := make([]int32, 2<<mathbits.Len(uint(n)))
	for i := range w.Sources {
		k := numberPlace(w.Sources[i].Change, t)
		for t[k] != 0 {
			k = (k + 1) & (len(t) - 1)
		}
		t[k] = int32(i) + 1
	}
	w.numbers, w.numbered = t, n
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
