package weave

import "slices"

// Add gives the weave with one more change, whose past must be there and whose number must be above all: beside changes
// that it does not know of, that is the union of this weave with its past and itself. The weave is not changed.
func (w *Weave) Add(p Patch, h History) (*Weave, error) {
	knows := func(c uint32) bool { return h.Reaches(p.Change, c) }
	if !slices.ContainsFunc(w.Sources, func(s Source) bool { return !knows(s.Change) }) {
		all := w.Clone()
		return all, all.ApplyPatch(p, h)
	}
	past, err := w.Only(knows, h)
	if err != nil {
		return nil, err
	}
	if err := past.ApplyPatch(p, h); err != nil {
		return nil, err
	}
	return Merge(w, past, h)
}

// Clone gives a copy that can be changed on its own.
func (w *Weave) Clone() *Weave {
	return &Weave{Runs: slices.Clone(w.Runs), Tail: w.Tail, Sources: slices.Clone(w.Sources), acts: slices.Clone(w.acts),
		twins: slices.Clone(w.twins), open: slices.Clone(w.open), odd: w.odd, sets: slices.Clone(w.sets)}
}
