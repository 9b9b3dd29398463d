package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
)

// Comparison is what two states have in common and each by itself.
type Comparison struct {
	A, B         StateRef
	Shared       uint64   // how many changes both have
	OnlyA, OnlyB []uint32 // the others, latest in the log first
}

// Compare compares the sets of changes of two states.
func (r *Repo) Compare(a, b StateRef) (*Comparison, error) {
	c := &Comparison{A: a, B: b}
	var err error
	if c.OnlyA, c.OnlyB, err = r.apart(a.Num, b.Num); err != nil {
		return nil, err
	}
	// Both may have taken in the same change since their logs parted.
	inA, inB := setOfAll(c.OnlyA), setOfAll(c.OnlyB)
	c.OnlyA = slices.DeleteFunc(c.OnlyA, inB.Has)
	c.OnlyB = slices.DeleteFunc(c.OnlyB, inA.Has)
	c.Shared = a.Len - uint64(len(c.OnlyA))
	return c, nil
}

func setOfAll(nums []uint32) state.Set {
	var b state.SetBuilder
	for _, n := range nums {
		b.Add(n)
	}
	return b.Set()
}
