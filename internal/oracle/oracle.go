// Package oracle says what the history of one text file means: elements, the weave, hunks and gaps, conflict pairs, twins,
// undo, resolutions, regions and blocks, each as literally as the definition in docs/spec/algebra.md and with no thought of cost.
// Everything is a pure function of a set of changes. Only tests import it: the product is held to it.
package oracle

import (
	"math/rand"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Line names a line for ever: the change that inserted it and the byte where it begins in what that change inserted.
type Line = change.Pos

// None is the number of no change.
const None = change.Edge

// Node is an inserted line and where it hangs in the Fugue tree.
type Node struct {
	Line
	Parent Line
	Right  bool
}

// Deletion is a line as deleted by one change.
type Deletion struct {
	Line Line
	By   uint32
}

// Span is a stretch of the weave between two lines, without them.
type Span struct{ L, R Line }

// Hunk acts inside the gap between L and R: the nearest lines shown on either side when it was recorded, or the edge
// of an open block.
type Hunk struct {
	Span
	Ins      []Node
	Del      []Line
	Restores []Deletion // these count no longer
	Solves   []Span     // closes every pair that meets one, if both changes lie, not undone, in the past
	Gain     bool       // of an undoing change: it brought lines back
	effect   string     // equal effects are one edit made twice
}

// Adds reports whether the hunk does more than delete.
func (h *Hunk) Adds() bool { return h.Gain || len(h.Ins)+len(h.Restores)+len(h.Solves) > 0 }

// Change is hunks that do not overlap, or the undoing of an earlier change.
type Change struct {
	Num    uint32
	Hash   uint32
	Undoes uint32 // or None
	Hunks  []*Hunk
	Deps   []uint32 // none implied by another
	Past   Set      // all that it depends on
	stood  Set      // of these, what was not undone
	named  map[Pair]bool
}

// World holds every change ever recorded. A change's number is above those of what it depends on.
type World struct {
	Changes []*Change
	// Align pairs an old text with a new one: the new one's lines, and for each of the old which of these it stays as, or -1. The algebra
	// leaves open which of all good ways it is. Nil: the new lines as they come, by Match.
	Align func(old, now []string) (lines []string, stays []int)
	rng   *rand.Rand
	text  map[Line]string
	class map[Line]string // of a line: what its twins share with it
	loose loose
}

// loose puts back a first wording of one definition each, so that a test can see the laws find it out.
type loose struct {
	noRegion    bool // a record does not depend on the open region that its gap meets
	literalTwin bool // twins share their text, wherever it hangs
}

// NewWorld is a world without changes. rng gives them their hashes.
func NewWorld(rng *rand.Rand) *World {
	return &World{rng: rng, text: map[Line]string{}, class: map[Line]string{}}
}

// Text is what a line says.
func (w *World) Text(x Line) string { return w.text[x] }

// begin makes a change without hunks, with a hash of its own.
func (w *World) begin(undoes uint32) *Change {
	hash := uint32(0)
	for hash == 0 || slices.ContainsFunc(w.Changes, func(o *Change) bool { return o.Hash == hash }) {
		hash = w.rng.Uint32() >> 8
	}
	return w.Begin(hash, undoes)
}

// Begin makes a change without hunks. Where a text is one of many, each is a world of its own, in which every change has
// its number whether it touches the text or not; Write or Undo fill in what it does, Needs says what for that it depends
// on, and Know tells it what it depends on for the sake of all texts.
func (w *World) Begin(hash, undoes uint32) *Change {
	c := &Change{Num: uint32(len(w.Changes)), Hash: hash, Undoes: undoes, Past: Set{}, named: map[Pair]bool{}}
	w.Changes = append(w.Changes, c)
	return c
}

// Forget takes a change's hunks back.
func (c *Change) Forget() { c.Hunks, c.named = nil, map[Pair]bool{} }

// Know sets the past of a change, and what of it was not undone there.
func (c *Change) Know(past, stood Set) { c.Past, c.stood = past, stood }

// Reaches reports whether b is a or in a's past.
func (w *World) Reaches(a, b uint32) bool { return a == b || w.Changes[a].Past[b] }

// Concurrent reports whether neither of two changes depends on the other.
func (w *World) Concurrent(a, b uint32) bool { return !w.Reaches(a, b) && !w.Reaches(b, a) }

// Less orders changes by hash.
func (w *World) Less(a, b uint32) bool { return w.Changes[a].Hash < w.Changes[b].Hash }

// Undoes gives the change that c undoes.
func (w *World) Undoes(c uint32) (uint32, bool) {
	u := w.Changes[c].Undoes
	return u, u != None
}

func (w *World) compare(a, b Line) int {
	switch {
	case a == b:
		return 0
	case a.Change == b.Change && a.Off < b.Off, a.Change != b.Change && w.Less(a.Change, b.Change):
		return -1
	}
	return 1
}

// Closed reports whether a set holds all that its members depend on.
func (w *World) Closed(s Set) bool {
	for c := range s {
		if !s.Holds(w.Changes[c].Past) {
			return false
		}
	}
	return true
}

// Live is the changes of a set that no live change of it undoes.
func (w *World) Live(s Set) Set {
	live, undone := Set{}, Set{}
	for _, c := range slices.Backward(s.Sorted()) {
		if undone[c] {
			continue
		}
		live[c] = true
		if u := w.Changes[c].Undoes; u != None {
			undone[u] = true
		}
	}
	return live
}
