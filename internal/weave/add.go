package weave

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Add gives the weave with one more change, whose past must be there; others may be that it does not know of. It is the
// union of the weave with the change and its past, and costs a copy and what lies in the change's gaps; where something
// there is not known to the change, a look at every hunk too. The weave is not changed.
func (w *Weave) Add(p Patch, h History) (*Weave, error) {
	all := w.Clone()
	if _, err := all.insert(p, h); err != nil {
		return nil, err
	}
	return all, nil
}

// Apply adds the hunks of a change whose past takes in all else that touched the places of its gaps: it is the
// last in a line of records. src says where its text lies; its Size must be what the hunks insert.
func (w *Weave) Apply(src Source, hunks []change.Hunk) error {
	return w.ApplyPatch(Patch{Source: src, Hunks: hunks}, nil)
}

// ApplyPatch is Apply for a change that may undo another or solve conflicts; only then is the history asked. A weave is
// spoilt by a patch that does not fit (ErrMismatch).
func (w *Weave) ApplyPatch(p Patch, history History) error {
	if n := len(w.Sources); n > 0 && w.Sources[n-1].Change >= p.Change {
		return fmt.Errorf("%w: change %d comes after %d", ErrMismatch, p.Change, w.Sources[n-1].Change)
	}
	a := applier{w: w, change: p.Change}
	if err := a.apply(p); err != nil {
		return err
	}
	switch {
	case p.Undoes != nil:
		return w.turn(len(w.Sources)-1, true, history)
	case w.acts[len(w.acts)-1].solves:
		return w.close(p.Hunks)
	}
	return nil
}

// insert is ApplyPatch beside changes that the patch's does not know of. It tells whether it met one.
func (w *Weave) insert(p Patch, h History) (met bool, err error) {
	if _, ok := w.source(p.Change); ok {
		return false, fmt.Errorf("%w: change %d is there already", ErrMismatch, p.Change)
	}
	a := applier{w: w, change: p.Change, h: h, known: map[uint32]bool{}, covers: map[coverBy]Cover{}}
	if err := a.apply(p); err != nil {
		return false, err
	}
	k, _ := w.source(p.Change)
	switch {
	case a.meets || p.Undoes != nil:
		return a.meets, w.turn(k, false, h)
	case w.acts[k].solves:
		return false, w.close(p.Hunks)
	}
	return false, nil
}

// turn finds which conflicts are open now that source k is there; fresh says that it conflicts with nothing itself: all that
// meets it lies in its past.
func (w *Weave) turn(k int, fresh bool, h History) (err error) {
	l := &looking{w: w, undoes: w.undoes()}
	out := make([]bool, len(w.Sources))
	out[k] = true
	before := l.without(out)
	w.open, err = w.reopen(func(i int) bool { return fresh && i == k || before(i) }, l.without(nil), h)
	return err
}

// applier puts one change into a weave.
type applier struct {
	w      *Weave
	change uint32
	// With a history there may be changes that this one does not know of: which, what covers become, and whether one acts where
	// this one does.
	h      History
	known  map[uint32]bool
	covers map[coverBy]Cover
	meets  bool
	alone  bool // it ends with errMeets where one does
	// That nothing shows or ceases to but what the change inserts and deletes; and what it deletes that showed, if that is to be told.
	plain, hide bool
	hidden      []change.Stretch
}

// knows reports whether c is the change or in its past.
func (a *applier) knows(c uint32) bool {
	if a.h == nil {
		return true
	}
	k, asked := a.known[c]
	if !asked {
		k = a.h.Reaches(a.change, c)
		a.known[c] = k
	}
	return k
}

func (a *applier) apply(p Patch) error {
	w := a.w
	if p.Undoes != nil {
		if _, ok := w.Source(*p.Undoes); !ok {
			return fmt.Errorf("%w: it undoes what did not touch the file", ErrMismatch)
		}
	}
	did, err := p.did()
	if err != nil {
		return err
	}
	if !a.spreading(p.Hunks) {
		var off uint32
		at := 0
		for i := range p.Hunks {
			h := &p.Hunks[i]
			if at, err = a.hunk(off, h, at); err != nil {
				return err
			}
			off += h.InsLen
		}
	}
	k := w.enter(&p, did)
	met := false
	if a.meets {
		if met, err = a.twins(k); err != nil {
			return err
		}
	}
	if a.plain = !w.odd || !met && w.turnsOnlyItsOwn(p); !a.plain {
		return w.settle()
	}
	if a.h != nil || w.odd {
		w.join()
	}
	return nil
}

// did is what a weave keeps of a patch, whose hunks insert what it says.
func (p *Patch) did() (act, error) {
	did := act{hunks: p.Hunks, undo: p.Undoes}
	var off uint32
	for i := range p.Hunks {
		h := &p.Hunks[i]
		if h.InsLen > math.MaxUint32-off {
			return did, fmt.Errorf("%w: it inserts too much", ErrMismatch)
		}
		off += h.InsLen
		did.restores = did.restores || len(h.Res) > 0
		did.solves = did.solves || len(h.Solves) > 0
	}
	if off != p.Size {
		return did, fmt.Errorf("%w: its hunks insert %d bytes of %d", ErrMismatch, off, p.Size)
	}
	return did, nil
}

// enter adds a patch to the sources, and gives where among them it is.
func (w *Weave) enter(p *Patch, did act) int {
	w.numbers, w.numbered = nil, 0
	k, _ := w.source(p.Change)
	w.Sources = slices.Insert(w.Sources, k, p.Source)
	w.acts = slices.Insert(w.acts, k, did)
	w.odd = w.odd || did.restores || did.undo != nil
	return k
}

// turnsOnlyItsOwn tells of a patch, which is in the weave and made no twins, that no run shows or ceases to by it but what it inserts
// and deletes: these kill and hang tell already. For it counts, nothing that is there takes its deletions back, and
// of twins it deletes all or none.
func (w *Weave) turnsOnlyItsOwn(p Patch) bool {
	if p.Undoes != nil {
		return false
	}
	var del []change.Stretch
	for i := range p.Hunks {
		if len(p.Hunks[i].Res) > 0 {
			return false
		}
		if len(w.twins) > 0 {
			del = append(del, p.Hunks[i].Del...)
		}
	}
	if len(del) == 0 {
		return true
	}
	slices.SortFunc(del, func(a, b change.Stretch) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Off, b.Off))
	})
	return !slices.ContainsFunc(w.twins, func(t twins) bool { return t.split(del) })
}

// twins finds what the change inserted as others did that it does not know of, and tells whether there is any.
func (a *applier) twins(k int) (found bool, err error) {
	var own []hunk
	if err := a.w.eachHunk(k, func(h hunk) {
		if h.inserts() {
			own = append(own, h)
		}
	}); err != nil || len(own) == 0 {
		return false, err
	}
	u := uniter{of: map[change.Pos]int{}}
	for i := range a.w.Sources {
		if i == k {
			continue
		}
		var alike [][2]hunk
		if err := a.w.eachHunk(i, func(h hunk) {
			for _, o := range own {
				if o.formKey() == h.formKey() && h.inserts() && sameForm(&o, &h) && !a.knows(h.change) {
					alike = append(alike, [2]hunk{o, h})
				}
			}
		}); err != nil {
			return false, err
		}
		for _, pair := range alike {
			found, err := twinsOf(&pair[0], &pair[1], a.h)
			if err != nil {
				return false, err
			}
			for _, t := range found {
				u.add(t)
			}
		}
	}
	if len(u.all) == 0 {
		return false, nil
	}
	for _, t := range a.w.twins {
		u.add(t)
	}
	a.w.twins = u.sorted(a.h)
	a.w.odd = true
	return true, nil
}

// Clone gives a copy that can be changed on its own.
func (w *Weave) Clone() *Weave {
	c := &Weave{Runs: slices.Clone(w.Runs), Tail: w.Tail, Sources: slices.Clone(w.Sources), acts: slices.Clone(w.acts),
		twins: slices.Clone(w.twins), open: slices.Clone(w.open), odd: w.odd, numbers: w.numbers, numbered: w.numbered}
	w.shareSets(c)
	return c
}
