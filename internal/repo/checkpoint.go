package repo

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
)

// Checkpoint keeps the tree of the current state, so that it and what follows it is read at once.
func (r *Repo) Checkpoint() (StateRef, error) {
	var s StateRef
	err := r.update("checkpoint", func(v *store.View) error {
		var err error
		if s, err = r.stateRef(baseOf(v)); err != nil {
			return err
		}
		if v.Base < 0 {
			return errNothingToKeep
		}
		if _, err := r.tree(baseOf(v)); err != nil {
			return err
		}
		if !slices.Contains(v.Checkpoints, baseOf(v)) {
			v.Checkpoints = append(v.Checkpoints, baseOf(v))
			slices.Sort(v.Checkpoints)
		}
		return nil
	})
	return s, err
}

// Checkpoints lists the states that are kept.
func (r *Repo) Checkpoints() ([]StateRef, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	var out []StateRef
	for _, n := range v.Checkpoints {
		s, err := r.stateRef(n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// minStatePrefix is how much of a state's id names it.
const minStatePrefix = 4

// DropCheckpoint no longer keeps the tree of a state: of a revision, or of the state with an id that begins so. Nothing
// of the history goes with it, and the tree is made again whenever it is asked for.
func (r *Repo) DropCheckpoint(name string) (StateRef, error) {
	var s StateRef
	err := r.update("checkpoint", func(v *store.View) error {
		var err error
		if s, err = r.checkpointNamed(v, name); err != nil {
			return err
		}
		v.Checkpoints = slices.DeleteFunc(v.Checkpoints, func(n uint32) bool { return n == s.Num })
		return nil
	})
	return s, err
}

func (r *Repo) checkpointNamed(v *store.View, name string) (StateRef, error) {
	var found []StateRef
	for _, n := range v.Checkpoints {
		s, err := r.stateRef(n)
		if err != nil {
			return s, err
		}
		if len(name) >= minStatePrefix && strings.HasPrefix(hex.EncodeToString(s.ID[:]), name) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		if n, err := r.resolve(v, name); err == nil && slices.Contains(v.Checkpoints, n) {
			return r.stateRef(n)
		}
		return StateRef{}, &Error{Text: fmt.Sprintf("no checkpoint is at %s", safepath.Quote(name)), Next: "See which there are with: oxy checkpoint list"}
	case 1:
		return found[0], nil
	}
	return StateRef{}, &Error{Text: fmt.Sprintf("%d checkpoints have ids that begin with %s", len(found), name), Next: "Give more of the id."}
}
