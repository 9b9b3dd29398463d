package repo

import (
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// OpDetail is what an operation did.
type OpDetail struct {
	OpInfo
	Kind             string // what it was, as docs/spec/repo.md lists them
	CurrentFrom      string // the current bookmark before, "" for none
	CurrentTo        string
	BaseFrom, BaseTo StateRef // the working copy's
	Bookmarks, Tags  []NameStep
	Gained, Lost     []uint32 // changes that came into the reach of what has a name, and went out of it; latest first
}

// NameStep is where a bookmark or tag was before an operation, and after.
type NameStep struct {
	Name     string
	From, To *StateRef // nil: it was not there
}

// LastOp is the number of the last operation.
func (r *Repo) LastOp() uint32 { return r.store.NumOps() - 1 }

// ShowOp tells what an operation did.
func (r *Repo) ShowOp(n uint32) (*OpDetail, error) {
	if err := r.checkOp(n); err != nil {
		return nil, err
	}
	info, err := r.opInfo(n)
	if err != nil {
		return nil, err
	}
	after, err := r.store.OpView(n)
	if err != nil {
		return nil, storeError(err)
	}
	before := store.NewView()
	if first, _ := foreign(after); n > first {
		if before, err = r.store.OpView(n - 1); err != nil {
			return nil, storeError(err)
		}
	}
	d := &OpDetail{OpInfo: *info, Kind: string(after.Kept[keptKind]), CurrentFrom: before.Current, CurrentTo: after.Current}
	if d.BaseFrom, err = r.stateRef(baseOf(before)); err != nil {
		return nil, err
	}
	if d.BaseTo, err = r.stateRef(baseOf(after)); err != nil {
		return nil, err
	}
	if d.Bookmarks, err = r.nameSteps(before.Bookmarks, after.Bookmarks); err != nil {
		return nil, err
	}
	if d.Tags, err = r.nameSteps(before.Tags, after.Tags); err != nil {
		return nil, err
	}
	was, is, err := r.reachable(before, after)
	if err != nil {
		return nil, err
	}
	d.Gained, d.Lost = latestFirst(is.Minus(was)), latestFirst(was.Minus(is))
	return d, nil
}

func latestFirst(s state.Set) []uint32 { return slices.Collect(s.Down()) }

// nameSteps lists the names that differ, in order.
func (r *Repo) nameSteps(before, after map[string]uint32) (out []NameStep, err error) {
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		from, was := before[name]
		to, is := after[name]
		if was == is && from == to {
			continue
		}
		step := NameStep{Name: name}
		if was {
			if step.From, err = r.refTo(from); err != nil {
				return nil, err
			}
		}
		if is {
			if step.To, err = r.refTo(to); err != nil {
				return nil, err
			}
		}
		out = append(out, step)
	}
	return out, nil
}

func (r *Repo) refTo(n uint32) (*StateRef, error) {
	s, err := r.stateRef(n)
	return &s, err
}

// LastOf is the last change of a state's log; false when it has none.
func (r *Repo) LastOf(s StateRef) (uint32, bool, error) {
	n, _, ok, err := r.lastChange(s.Num)
	return n, ok, err
}
