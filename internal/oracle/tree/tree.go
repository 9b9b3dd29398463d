// Package tree says what a history of many files means: identities, registers, existence, conflicts, undo, twins, names that meet,
// and, through the weaves of package oracle, texts. It is docs/spec/tree.md as a program, as literal and careless of cost as its
// other half. Everything is a pure function of a set of changes. Only tests import it: the product is held to it.
package tree

import (
	"fmt"
	"math/rand"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

// Set is a set of change numbers.
type Set = oracle.Set

// None is the number of no change.
const None = oracle.None

// File is an identity for ever: the change that added the file and which of its added files it is, in the order of paths.
type File struct{ Change, Ord uint32 }

// Reg is what an act of a change is about.
type Reg byte

// The registers; an edit is of a text and acts on the body; gone and keep speak of existence only.
const (
	Place Reg = 'p'
	Mode  Reg = 'm'
	Body  Reg = 'b'
	Edit  Reg = 'e'
	Keep  Reg = 'k'
	Gone  Reg = 'x'
)

// Ref names an act, and so a value: a change does one thing to one register of a file.
type Ref struct {
	Change uint32
	File   File
	Reg    Reg
}

// Op writes one register of a file, or says whether the file exists.
type Op struct {
	File    File
	Reg     Reg
	Path    string // of a place
	Exec    bool   // of a mode
	Kind    change.Kind
	Content string // of a body that is a value; of the adding of a text what it begins with
	Over    []Ref  // the values that it replaces
}

// TextEdit is hunks in a file's weave. In an undoing they only say where it acts.
type TextEdit struct {
	File  File
	Hunks []*oracle.Hunk
}

// Change is ops and edits, or the undoing of one earlier change.
type Change struct {
	Num    uint32
	Hash   uint32 // 24 bits
	Undoes uint32 // or None
	Ops    []Op
	Edits  []TextEdit
	Deps   []uint32 // none implied by another
	Past   Set      // all that it depends on
	stood  Set      // of these, what was not undone
}

// World holds every change ever recorded. A change's number is above those of what it depends on.
type World struct {
	Changes []*Change
	Label   func(File) string // what an aside adds to its path; nil: hash and ordinal
	// Blocks writes a block of a file's text; nil: as package oracle does. Its lines end with a line break, the same one.
	Blocks func(x File, it oracle.Item) string
	rng    *rand.Rand
	texts  map[File]*oracle.World
	align  func(old, now []string) ([]string, []int)
	loose  loose
}

// loose puts back a first wording of one definition each, so that a test can see the laws find it out.
type loose struct {
	noRegion       bool // settling whether a file exists depends on the removal only
	noAside        bool // a file shown aside may meet a newcomer
	noSlot         bool // a claim of a path does not depend on who stood there
	noConfirm      bool // who stays when names meet is not confirmed
	undoSupersedes bool // an undoing settles what is in its past
	editWrites     bool // an edit settles what stands in the register, as a body does
	editAlone      bool // an edit depends on nothing in the register
	noRivals       bool // an edit does not depend on the open conflicts of its body
	editFaint      bool // an edit does not stand in the register
	editSilent     bool // an edit does not clash with another body
}

// NewWorld is a world without changes. rng gives them their hashes.
func NewWorld(rng *rand.Rand) *World {
	return &World{rng: rng, texts: map[File]*oracle.World{}}
}

// Text is a file's weave, in which every change has its number.
func (w *World) Text(x File) *oracle.World { return w.texts[x] }

// Reaches reports whether b is a or in a's past.
func (w *World) Reaches(a, b uint32) bool { return a == b || w.Changes[a].Past[b] }

// Concurrent reports whether neither of two changes depends on the other.
func (w *World) Concurrent(a, b uint32) bool { return !w.Reaches(a, b) && !w.Reaches(b, a) }

// SetHash gives a change that was just recorded another hash of 24 bits: what is recorded does not depend on it, and
// the product's changes have theirs from what is recorded.
func (w *World) SetHash(c, hash uint32) {
	w.Changes[c].Hash = hash
	for _, t := range w.texts {
		t.Changes[c].Hash = hash
	}
}

// SetAlign sets how old and new texts are paired (oracle.World).
func (w *World) SetAlign(align func(old, now []string) (lines []string, stays []int)) {
	w.align = align
	for _, t := range w.texts {
		t.Align = align
	}
}

// ID is the name of a file that a person may see.
func (w *World) ID(x File) string { return fmt.Sprintf("%06x.%d", w.Changes[x.Change].Hash, x.Ord) }

// compare orders files: by the hash of the change that added them, then by ordinal.
func (w *World) compare(x, y File) int {
	if x.Change != y.Change {
		return int(w.Changes[x.Change].Hash) - int(w.Changes[y.Change].Hash)
	}
	return int(x.Ord) - int(y.Ord)
}

// op is what a ref names; nil for an edit.
func (w *World) op(r Ref) *Op {
	ops := w.Changes[r.Change].Ops
	if i := slices.IndexFunc(ops, func(o Op) bool { return o.File == r.File && o.Reg == r.Reg }); i >= 0 {
		return &ops[i]
	}
	return nil
}

// Op gives what the op that r names writes; false if r names none.
func (w *World) Op(r Ref) (Op, bool) {
	if o := w.op(r); o != nil {
		return *o, true
	}
	return Op{}, false
}

// begin makes an empty change, with a hash of its own, in all weaves too.
func (w *World) begin(undoes uint32) *Change {
	hash := uint32(0)
	for hash == 0 || slices.ContainsFunc(w.Changes, func(o *Change) bool { return o.Hash == hash }) {
		hash = w.rng.Uint32() >> 8
	}
	c := &Change{Num: uint32(len(w.Changes)), Hash: hash, Undoes: undoes, Past: Set{}, stood: Set{}}
	w.Changes = append(w.Changes, c)
	for _, t := range w.texts {
		t.Begin(hash, undoes)
	}
	return c
}

// Forget takes back the newest changes, from number c on.
func (w *World) Forget(c uint32) {
	w.Changes = w.Changes[:c]
	for x, t := range w.texts {
		if t.Changes = t.Changes[:c]; x.Change >= c {
			delete(w.texts, x)
		}
	}
}

// plant makes the weave of a file that a change adds, empty if it is not text.
func (w *World) plant(x File, content string) {
	t := oracle.NewWorld(nil)
	t.Align = w.align
	for _, c := range w.Changes {
		t.Begin(c.Hash, c.Undoes).Know(c.Past, c.stood)
	}
	st, c := t.Render(Set{}), t.Changes[x.Change]
	if err := t.Write(st, c, lines(content)); err != nil {
		panic(err) // no block is open in an empty weave
	}
	t.Needs(st, c)
	w.texts[x] = t
}

// know sets what a change depends on, the minimum of it and all, here and in every weave.
func (w *World) know(c *Change, deps Set) {
	c.Past, c.Deps = Set{}, nil
	for d := range deps {
		c.Past = c.Past.Union(w.Changes[d].Past).With(d)
	}
	c.stood = w.Live(c.Past)
	for _, d := range deps.Sorted() {
		if !slices.ContainsFunc(deps.Sorted(), func(e uint32) bool { return w.Changes[e].Past[d] }) {
			c.Deps = append(c.Deps, d)
		}
	}
	for _, t := range w.texts {
		t.Changes[c.Num].Know(c.Past, c.stood)
	}
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
