package repo

import (
	"cmp"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/sync"
)

// telling tells another repository of several states, each by what it has or was told before.
type telling struct {
	r      *Repo
	haves  map[[32]byte]bool // states that the other side has, and those that it was told; alterable
	before []StateRef        // the first that was told, of many the longest: what has no told state in its log may be near to it
	many   bool
}

// fewTold is up to how many names are told in the order in which they were asked for, all by the first.
const fewTold = 8

// newTelling begins to tell of so many states.
func (r *Repo) newTelling(haves map[[32]byte]bool, names int) *telling {
	t := &telling{r: r, haves: haves, many: names > fewTold}
	if t.many {
		if t.haves = maps.Clone(haves); t.haves == nil {
			t.haves = map[[32]byte]bool{}
		}
	}
	return t
}

// tell finds how to tell of a state. ok is false if nothing that the other side has is near.
func (t *telling) tell(s StateRef) (by told, ok bool, err error) {
	before := t.before
	if t.many && s.Num != NoState {
		by, ok, err = t.r.tellBy(s, t.haves, nil)
		if err != nil || ok && len(by.added)+len(by.removed) <= smallLog {
			return by, ok, err
		}
	}
	if by, ok, err = t.r.tellBy(s, t.haves, before); err != nil || !ok || len(t.before) == 0 {
		return by, ok, err
	}
	if by.base.Num != NoState && uint64(len(by.added)+len(by.removed)) > s.Len { // an orphan
		by, err = t.r.fromNothing(s)
	}
	return by, ok, err
}

// did says that the other side was told of a state.
func (t *telling) did(s StateRef) {
	if !t.many {
		if len(t.before) == 0 {
			t.before = append(t.before, s) // others are told by it: the receiver then has it as soon as it took one step
		}
		return
	}
	t.haves[s.ID] = true
	if len(t.before) == 0 || s.Len > t.before[0].Len {
		t.before = []StateRef{s}
	}
}

// toldRef is a name and the state that it has.
type toldRef struct {
	sync.Ref
	state StateRef
}

// inOrder gives the order in which names are told. Of many the shortest log comes first: so each is told by one that stands in its log, and
// a thousand tags take as much as what lies between them, not a thousand times the history.
func (t *telling) inOrder(refs []sync.Ref, stateOf func(sync.Ref) (StateRef, error)) ([]toldRef, error) {
	out := make([]toldRef, len(refs))
	for i, ref := range refs {
		s, err := stateOf(ref)
		if err != nil {
			return nil, err
		}
		out[i] = toldRef{ref, s}
	}
	if t.many {
		slices.SortStableFunc(out, func(a, b toldRef) int { return cmp.Compare(a.state.Len, b.state.Len) })
	}
	return out, nil
}
