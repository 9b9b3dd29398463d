// Package weave holds one file: every line it ever had, in one order, as runs. It applies hunks, records edits as
// hunks, and tells what shows and who wrote or deleted it. It knows no paths, reads no text and does no I/O: positions
// are byte offsets in what each change inserted (docs/spec/weave.md).
package weave

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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
	Dead     Set   // the changes that delete it
	Before   Cover // of the place before the run
	Inside   Cover // of the places between its lines; what covers them covers Before too, or did
}

// Cover lists the latest changes with a hunk over a place between two elements: those that add, and, of those that
// delete only, the ones not in the past of an adding one. A record depends on them (docs/spec/weave.md).
type Cover struct{ Add, Del Set }

// Set is a small set of changes: a number that stands for an ascending list kept in the weave. 0 is the empty set.
type Set uint32

// Source says where the text of one change in this file lies.
type Source struct {
	Change uint32
	Ord    uint32      // the file's ordinal in that change
	Size   uint32      // bytes
	Hash   change.Hash // of the content, zero when it comes with the change itself
}

// Weave is one file. The zero value is a file that never had a line.
type Weave struct {
	Runs    []Run
	Tail    Cover    // of the place before the end
	Sources []Source // ascending by change
	sets    [][]uint32
	index   map[uint64]Set // sets by hash, made when first needed
}

// New is a file of one stretch, as a change adds it. Size may be 0.
func New(src Source) *Weave {
	w := &Weave{Sources: []Source{src}}
	own := w.single(src.Change)
	w.Tail.Add = own
	if src.Size > 0 {
		c := Cover{Add: own}
		w.Runs = []Run{{Change: src.Change, Len: src.Size, Head: true, Parent: change.Start, Before: c, Inside: c}}
	}
	return w
}

// Members lists a set, ascending. The slice must not be changed.
func (w *Weave) Members(s Set) []uint32 {
	if s == 0 {
		return nil
	}
	return w.sets[s-1]
}

func (w *Weave) single(c uint32) Set { return w.set([]uint32{c}) }

// set gives the number of a set of ascending changes, keeping it when it is new.
func (w *Weave) set(m []uint32) Set {
	if len(m) == 0 {
		return 0
	}
	if w.index == nil {
		w.index = make(map[uint64]Set, len(w.sets))
		for i, s := range w.sets {
			w.index[hashSet(s)] = Set(i + 1)
		}
	}
	h := hashSet(m)
	for {
		s, ok := w.index[h]
		if !ok {
			break
		}
		if slices.Equal(w.sets[s-1], m) {
			return s
		}
		h++ // a collision: the next free number
	}
	w.sets = append(w.sets, slices.Clone(m))
	s := Set(len(w.sets))
	w.index[h] = s
	return s
}

func hashSet(m []uint32) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range m {
		h = (h ^ uint64(v)) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// add gives s with c.
func (w *Weave) add(s Set, c uint32) Set {
	m := w.Members(s)
	i, found := slices.BinarySearch(m, c)
	if found {
		return s
	}
	return w.set(slices.Insert(slices.Clone(m), i, c))
}

// Size is how many bytes show.
func (w *Weave) Size() (n uint64) {
	for i := range w.Runs {
		if w.Runs[i].Dead == 0 {
			n += uint64(w.Runs[i].Len)
		}
	}
	return n
}

// Source finds where a change's text lies.
func (w *Weave) Source(c uint32) (Source, bool) {
	i, ok := slices.BinarySearchFunc(w.Sources, c, func(s Source, c uint32) int { return cmp.Compare(s.Change, c) })
	if !ok {
		return Source{}, false
	}
	return w.Sources[i], true
}

// split cuts run i so that its first part has n bytes; 0 < n < Len.
func (w *Weave) split(i int, n uint32) {
	left := w.Runs[i]
	right := left
	right.Off += n
	right.Len -= n
	right.Head, right.Left, right.Parent = false, false, change.Pos{}
	right.Before = left.Inside
	left.Len = n
	left.HasRight = true
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

// Apply adds the hunks of a change whose past takes in all else that touched the places of its gaps: it is the
// last in a line of records. src says where its text lies; its Size must be what the hunks insert.
func (w *Weave) Apply(src Source, hunks []change.Hunk) error {
	if n := len(w.Sources); n > 0 && w.Sources[n-1].Change >= src.Change {
		return fmt.Errorf("%w: change %d comes after %d", ErrMismatch, src.Change, w.Sources[n-1].Change)
	}
	var off uint32
	at := 0
	for i := range hunks {
		h := &hunks[i]
		if h.InsLen > math.MaxUint32-off {
			return fmt.Errorf("%w: it inserts too much", ErrMismatch)
		}
		var err error
		if at, err = w.applyHunk(src.Change, off, h, at); err != nil {
			return err
		}
		off += h.InsLen
	}
	if off != src.Size {
		return fmt.Errorf("%w: its hunks insert %d bytes of %d", ErrMismatch, off, src.Size)
	}
	w.Sources = append(w.Sources, src)
	return nil
}

// applyHunk looks for the gap from run from on, where it is when hunks come in order, and gives where it ends.
func (w *Weave) applyHunk(c, off uint32, h *change.Hunk, from int) (int, error) {
	if len(h.Res) > 0 || len(h.Solves) > 0 {
		return 0, fmt.Errorf("%w: it settles a conflict, and this file has none", ErrMismatch)
	}
	l, err := w.endAt(h.L, from)
	if err != nil {
		return 0, err
	}
	r, err := w.startAt(h.R, l)
	if err != nil {
		return 0, err
	}
	if r < l {
		return 0, fmt.Errorf("%w: a gap ends before it begins", ErrMismatch)
	}
	for i, k := 0, l; i < len(h.Del); i++ {
		n := len(w.Runs)
		if k, err = w.kill(c, h.Del[i], k, r); err != nil {
			return 0, err
		}
		r += len(w.Runs) - n
	}
	w.cover(c, h.Adds(), l, r)
	if h.InsLen > 0 {
		run := Run{Change: c, Off: off, Len: h.InsLen, Head: true, Parent: h.L, Left: h.Left}
		if h.Left {
			run.Parent = h.Parent
			if l == len(w.Runs) || h.Parent != (change.Pos{Change: w.Runs[l].Change, Off: w.Runs[l].Off}) {
				return 0, fmt.Errorf("%w: its parent is not what follows the gap's left line", ErrMismatch)
			}
		} else if l > 0 {
			if w.Runs[l-1].HasRight {
				return 0, fmt.Errorf("%w: its parent has a right child already", ErrMismatch)
			}
			w.Runs[l-1].HasRight = true
		} else if len(w.Runs) > 0 {
			return 0, fmt.Errorf("%w: its parent has a right child already", ErrMismatch)
		}
		run.Before = Cover{Add: w.single(c)}
		run.Inside = run.Before
		w.Runs = slices.Insert(w.Runs, l, run)
		r++
	}
	return r, nil
}

// kill marks a stretch as deleted by c. It lies, perhaps in several runs, from run i on and before run r. kill gives
// the run after it.
func (w *Weave) kill(c uint32, s change.Stretch, i, r int) (int, error) {
	for ; s.Len > 0; i++ {
		if i >= r {
			return 0, fmt.Errorf("%w: it deletes what is not in its gap", ErrMismatch)
		}
		run := &w.Runs[i]
		if run.Change != s.Change || s.Off < run.Off || s.Off >= run.Off+run.Len {
			continue
		}
		if s.Off > run.Off {
			w.split(i, s.Off-run.Off)
			r++
			continue
		}
		if s.Len < run.Len {
			w.split(i, s.Len)
			r++
			run = &w.Runs[i]
		}
		run.Dead = w.add(run.Dead, c)
		s.Off += run.Len
		s.Len -= run.Len
	}
	return i, nil
}

// cover notes that a hunk of c lies over the places from before run l to before run r.
func (w *Weave) cover(c uint32, adds bool, l, r int) {
	own := w.single(c)
	over := func(v *Cover) {
		if adds {
			*v = Cover{Add: own}
		} else {
			v.Del = w.add(v.Del, c)
		}
	}
	for i := l; i < r; i++ {
		over(&w.Runs[i].Before)
		over(&w.Runs[i].Inside)
	}
	if r < len(w.Runs) {
		over(&w.Runs[r].Before)
	} else {
		over(&w.Tail)
	}
}
