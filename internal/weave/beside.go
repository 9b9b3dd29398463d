package weave

import (
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// errMeets ends the adding of a patch that acts where one acts that it does not know of.
var errMeets = errors.New("it meets what it does not know of")

// Beside is Add of several, ascending, none of which undoes another, where none meets what it does not know of: ok is false where one
// does, and Merge must look at it. It costs a copy and what lies in their gaps.
func (w *Weave) Beside(ps []Patch, h History) (all *Weave, ok bool, err error) {
	all = w.Clone()
	for _, p := range ps {
		if _, there := all.source(p.Change); there || p.Undoes != nil {
			return nil, false, nil
		}
		a := applier{w: all, change: p.Change, h: h, known: map[uint32]bool{}, covers: map[coverBy]Cover{}, alone: true}
		if err := all.put(&a, p); errors.Is(err, errMeets) {
			return nil, false, nil
		} else if err != nil {
			return nil, false, err
		}
	}
	return all, true, nil
}

// ApplyBeside adds in place what Beside added to this very weave. Where a patch meets nothing that it does not know of, the places of its
// gaps hold nothing unknown either, and it goes in as if it knew all: no history is asked.
func (w *Weave) ApplyBeside(src Source, hunks []change.Hunk) error {
	if _, ok := w.source(src.Change); ok {
		return fmt.Errorf("%w: change %d is there already", ErrMismatch, src.Change)
	}
	return w.put(&applier{w: w, change: src.Change}, Patch{Source: src, Hunks: hunks})
}

func (w *Weave) put(a *applier, p Patch) error {
	if err := a.apply(p); err != nil {
		return err
	}
	if k, _ := w.source(p.Change); w.acts[k].solves {
		return w.close(p.Hunks)
	}
	return nil
}
