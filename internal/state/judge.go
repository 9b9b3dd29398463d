package state

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Past answers which changes know of which, and orders changes by their hashes.
type Past interface {
	// Reaches reports whether b is a or in a's past.
	Reaches(a, b uint32) bool
	// Less orders changes by their hashes.
	Less(a, b uint32) bool
}

// Deed is what one change did to one file. An undoing did what the change did that was undone first, or took it back.
type Deed struct {
	Change uint32
	Undoes bool   // it takes back Undone
	Undone uint32 // with Undoes
	Taken  bool   // an odd number of undoings: what Did says is taken back
	Adds   bool   // Did is the adding of the file
	Origin uint32 // the change whose file Did is: Change itself unless it undoes
	Ord    uint32 // of the file in Origin
	Did    *change.File
}

// act is a deed on one register or on existence alone.
type act struct {
	*Deed
	reg register
	at  int // among all acts
}

type register uint8

const (
	regPlace register = iota
	regMode
	regBody
	regEdit // of a text: it speaks of the body, but takes no value's place
	regKeep
	regGone
)

// dead says that the act is that the file does not exist: a removal, or the taking back of its adding.
func (a act) dead() bool { return a.reg == regGone && !a.Taken || a.Adds && a.Taken }

// on is the register that the act speaks of; ok is false for one about existence alone.
func (a act) on() (register, bool) {
	switch a.reg {
	case regEdit:
		return regBody, true
	case regKeep, regGone:
		return 0, false
	}
	return a.reg, true
}

// sameEffect: of two acts that speak of one register.
func (a act) sameEffect(b act) bool {
	if a.Undoes || b.Undoes {
		return a.Undoes && b.Undoes && a.Undone == b.Undone
	}
	return sameValue(a, b)
}

// sameValue: of what two acts on one register speak of.
func sameValue(a, b act) bool {
	switch a.reg {
	case regPlace:
		return a.Did.Path == b.Did.Path
	case regMode:
		return a.Did.Exec == b.Did.Exec
	}
	x, y := a.kind(), b.kind()
	return x == y && (x == change.Text || a.Did.Size == b.Did.Size && a.Did.Content == b.Did.Content)
}

// ofText: what such acts mean beside each other the weave says.
func (a act) ofText() bool {
	return a.reg == regEdit || a.reg == regBody && !a.Undoes && a.Did.Kind == change.Text
}

// kind is what an act on the body makes of it.
func (a act) kind() change.Kind {
	if a.reg == regEdit {
		return change.Text
	}
	return a.Did.Kind
}

// Pair is two acts of concurrent live changes that clash and that nothing later settled.
type Pair struct {
	A, B  uint32   // changes, A the lower number
	Kinds Disputed // in what they differ
}

// Verdict is what the deeds of a set make of a file.
type Verdict struct {
	Exists bool
	// What stands in each register, the deed of least hash first: that is shown. Never empty.
	Place, Mode, Body []*Deed
	// BodyText says that text is shown: the first of Body is an edit, or made it text.
	BodyText bool
	Pairs    []Pair // open ones, in order
	// Divided are values that stand unlike the one that is shown, and of which no pair speaks: A is the deed that is shown, B the other.
	// Only undoings bring that about.
	Divided []Pair
	GoneBy  *Deed // of a file that does not exist: who removed it, the one of least hash
}

// Several reports whether more than one value stands in a register.
func (v *Verdict) Several() bool {
	return len(v.Place) > 1 || len(v.Mode) > 1 || slices.ContainsFunc(v.Body, func(d *Deed) bool { return d.Did.Writes&change.WritesBody != 0 }) && v.writes() > 1
}

func (v *Verdict) writes() (n int) {
	for _, d := range v.Body {
		if d.Did.Writes&change.WritesBody != 0 {
			n++
		}
	}
	return n
}

// Kinds sums up what is left to decide.
func (v *Verdict) Kinds() (k Disputed) {
	for _, p := range v.Pairs {
		k |= p.Kinds
	}
	for _, p := range v.Divided {
		k |= p.Kinds
	}
	return k
}

// Judge finds what the deeds of a set make of a file (docs/spec/tree.md). They ascend by change; the first is its adding.
func Judge(deeds []Deed, past Past) *Verdict {
	j := judge{past: past, deeds: deeds}
	j.sort()
	j.findLive()
	v := &Verdict{Place: j.standing(regPlace), Mode: j.standing(regMode), Body: j.standing(regBody)}
	v.Pairs = j.pairs()
	v.Exists = j.exists(v.Pairs)
	if !v.Exists {
		v.GoneBy = j.goneBy()
	} else {
		v.Divided = j.divided(v)
	}
	first := v.Body[0]
	v.BodyText = first.Did.Writes&change.WritesBody == 0 || first.Did.Kind == change.Text
	return v
}

// answers is what was found of an act, of its register and of existence.
type answers struct{ reg, life answer }

type answer uint8

const (
	unasked answer = iota
	yes
	no
)

type judge struct {
	past    Past
	deeds   []Deed
	acts    []act
	ops     []act           // of these, without edits: there may be thousands
	removed []act           // of these, that say the file does not exist
	live    map[uint32]bool // of each change of the deeds
	undoers map[uint32][]uint32
	found   []answers // of each act, what is settled
	// plain: nobody ever said that the file is gone and no body was written beside its first: edits decide nothing.
	plain bool
}

// sort takes the deeds apart into acts.
func (j *judge) sort() {
	j.undoers = map[uint32][]uint32{}
	j.plain = true
	add := func(d *Deed, reg register) {
		a := act{d, reg, len(j.acts)}
		j.acts = append(j.acts, a)
		if a.dead() || a.reg == regGone || a.reg == regBody && (d.Undoes || !d.Adds) {
			j.plain = false
		}
	}
	for i := range j.deeds {
		d := &j.deeds[i]
		if d.Undoes {
			j.undoers[d.Undone] = append(j.undoers[d.Undone], d.Change)
		}
		w := d.Did.Writes
		for _, r := range [...]struct {
			bit change.Writes
			reg register
		}{{change.WritesPlace, regPlace}, {change.WritesMode, regMode}, {change.WritesBody, regBody}, {change.Keep, regKeep}, {change.Gone, regGone}} {
			if w&r.bit != 0 {
				add(d, r.reg)
			}
		}
		if w&change.WritesBody == 0 && len(d.Did.Hunks) > 0 {
			add(d, regEdit)
		}
	}
	j.found = make([]answers, len(j.acts))
	for _, a := range j.acts {
		if a.reg != regEdit {
			j.ops = append(j.ops, a)
		}
		if a.dead() {
			j.removed = append(j.removed, a)
		}
	}
	if j.plain { // the edits decide nothing
		j.acts = j.ops
	}
}

// findLive: a change counts unless a live change undoes it.
func (j *judge) findLive() {
	j.live = map[uint32]bool{}
	for i := len(j.deeds) - 1; i >= 0; i-- {
		c := j.deeds[i].Change
		j.live[c] = !slices.ContainsFunc(j.undoers[c], func(u uint32) bool { return j.live[u] })
	}
}

// knew reports whether a was in the past of c and not undone there.
func (j *judge) knew(c, a uint32) bool {
	if c == a || !j.past.Reaches(c, a) {
		return false
	}
	return !slices.ContainsFunc(j.undoers[a], func(u uint32) bool { return j.knew(c, u) })
}

// settled reports whether a later op settles what a says: of existence one that says otherwise, of a register an op on it.
func (j *judge) settled(a act, life bool) bool {
	of := &j.found[a.at].reg
	if life {
		of = &j.found[a.at].life
	}
	if *of == unasked {
		if *of = no; j.settler(a, life) {
			*of = yes
		}
	}
	return *of == yes
}

// settler looks for an op that settles what a says, from the next one on: of a long row each knows the one before, and asking the last
// one would walk down its whole past.
func (j *judge) settler(a act, life bool) bool {
	by := j.ops
	if life && a.dead() {
		by = j.acts
	} else if life {
		by = j.removed
	}
	from, _ := slices.BinarySearchFunc(by, a.Change+1, func(b act, c uint32) int { return cmp.Compare(b.Change, c) })
	for _, b := range by[from:] {
		if b.Undoes || !j.live[b.Change] {
			continue
		}
		if life && a.dead() != b.dead() || !life && !b.dead() && sameRegister(a, b) {
			if j.knew(b.Change, a.Change) {
				return true
			}
		}
	}
	return false
}

func sameRegister(a, b act) bool {
	x, ok := a.on()
	y, also := b.on()
	return ok && also && x == y
}

// standing gives the deeds whose values stand in a register, by their hashes.
func (j *judge) standing(reg register) (out []*Deed) {
	for _, a := range j.acts {
		if r, ok := a.on(); ok && r == reg && !a.Undoes && j.live[a.Change] && !j.settled(a, false) {
			out = append(out, a.Deed)
		}
	}
	if out == nil { // its adding is undone, yet something of it counts: as it was born
		out = append(out, &j.deeds[0])
	}
	slices.SortFunc(out, func(a, b *Deed) int { return j.byHash(a.Change, b.Change) })
	return out
}

func (j *judge) byHash(a, b uint32) int {
	switch {
	case a == b:
		return 0
	case j.past.Less(a, b):
		return -1
	}
	return 1
}

// clash reports in what two acts differ, if their changes are concurrent.
func (j *judge) clash(a, b act) Disputed {
	var kind Disputed
	if a.dead() != b.dead() {
		kind = DisputedLife
	} else {
		if a.dead() || !sameRegister(a, b) || a.sameEffect(b) || a.ofText() && b.ofText() {
			return 0
		}
		r, _ := a.on()
		kind = [...]Disputed{DisputedPlace, DisputedMode, DisputedBody}[r]
	}
	if a.Undoes && (b.Undoes && a.Undone == b.Undone || !j.past.Reaches(b.Change, a.Undone)) {
		return 0
	}
	if b.Undoes && !j.past.Reaches(a.Change, b.Undone) {
		return 0
	}
	return kind
}

// pairs lists the clashing acts of concurrent live changes that nothing settled, once for two changes. Of a row of thousands nearly all
// are settled: these are left out first.
func (j *judge) pairs() (out []Pair) {
	var open, edits, dead, alive []act
	for _, a := range j.acts {
		if !j.live[a.Change] {
			continue
		}
		if _, ok := a.on(); ok && !a.dead() && !j.settled(a, false) {
			if a.reg == regEdit {
				edits = append(edits, a)
			} else {
				open = append(open, a)
			}
		}
		if len(j.removed) == 0 || j.settled(a, true) {
			continue
		}
		if a.dead() {
			dead = append(dead, a)
		} else {
			alive = append(alive, a)
		}
	}
	add := func(a, b act) {
		if a.Change > b.Change {
			a, b = b, a
		}
		if a.Change == b.Change {
			return
		}
		if kind := j.clash(a, b); kind != 0 && !j.past.Reaches(b.Change, a.Change) {
			out = append(out, Pair{a.Change, b.Change, kind})
		}
	}
	for i, a := range open {
		for _, b := range open[:i] {
			add(a, b)
		}
		for _, b := range edits { // what two edits do beside each other the weave says
			add(a, b)
		}
	}
	for _, a := range dead {
		for _, b := range alive {
			add(a, b)
		}
	}
	return mergePairs(out)
}

// mergePairs orders pairs and joins those of two changes.
func mergePairs(ps []Pair) []Pair {
	slices.SortFunc(ps, func(x, y Pair) int {
		if x.A != y.A {
			return int(int64(x.A) - int64(y.A))
		}
		return int(int64(x.B) - int64(y.B))
	})
	out := ps[:0]
	for _, p := range ps {
		if n := len(out); n > 0 && out[n-1].A == p.A && out[n-1].B == p.B {
			out[n-1].Kinds |= p.Kinds
			continue
		}
		out = append(out, p)
	}
	return out
}

// exists: some counting op says so and no later removal settles it; or it is in dispute, for nothing is hidden by a conflict.
func (j *judge) exists(pairs []Pair) bool {
	if j.plain {
		return true
	}
	for _, a := range j.acts {
		if !a.Undoes && j.live[a.Change] && !a.dead() && !j.settled(a, true) {
			return true
		}
	}
	return slices.ContainsFunc(pairs, func(p Pair) bool { return p.Kinds&DisputedLife != 0 })
}

// goneBy is who removed the file, or took back its adding.
func (j *judge) goneBy() (out *Deed) {
	for _, a := range j.acts {
		if a.dead() && j.live[a.Change] && (out == nil || j.past.Less(a.Change, out.Change)) {
			out = a.Deed
		}
	}
	if out == nil {
		out = &j.deeds[len(j.deeds)-1]
	}
	return out
}
