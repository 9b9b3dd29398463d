package repo

import "github.com/oxy-vcs/oxy/internal/state"

// Comparison is what two states have in common and each by itself.
type Comparison struct {
	A, B         StateRef
	Shared       uint64   // how many changes both have
	OnlyA, OnlyB []uint32 // the others, latest in the log first
}

// Compare compares the sets of changes of two states.
func (r *Repo) Compare(a, b StateRef) (*Comparison, error) {
	c := &Comparison{A: a, B: b}
	beyondA, beyondB, err := r.apart(a.Num, b.Num)
	if err != nil {
		return nil, err
	}
	c.OnlyA, c.OnlyB = beyondA.only(&beyondB), beyondB.only(&beyondA)
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
