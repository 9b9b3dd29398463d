package change

import (
	"bytes"
	"fmt"
	"slices"
)

// eachRef calls fn with every ref in the files that names a change, so that it can be renumbered in place.
func eachRef(files []File, fn func(*Ref)) {
	pos := func(p *Pos) {
		if p.Change != Edge {
			fn(&p.Change)
		}
	}
	for i := range files {
		f := &files[i]
		fn(&f.ID.Change)
		for j := range f.Over {
			fn(&f.Over[j].Change)
		}
		for j := range f.Hunks {
			h := &f.Hunks[j]
			pos(&h.L)
			pos(&h.R)
			if h.Left {
				pos(&h.Parent)
			}
			for k := range h.Del {
				fn(&h.Del[k].Change)
			}
			for k := range h.Res {
				fn(&h.Res[k].Change)
				for l := range h.Res[k].By {
					fn(&h.Res[k].By[l])
				}
			}
			for k := range h.Solves {
				pos(&h.Solves[k].L)
				pos(&h.Solves[k].R)
			}
		}
	}
}

// Bind turns the refs of the change's files into local numbers: self for the change itself, and what number gives for
// the others.
func (c *Change) Bind(self uint32, number func(ID) (uint32, bool)) error {
	nums := make([]uint32, 1, 1+len(c.Deps)+len(c.Others))
	nums[0] = self
	for _, ids := range [][]ID{c.Deps, c.Others} {
		for _, id := range ids {
			n, ok := number(id)
			if !ok {
				return fmt.Errorf("change %s is missing", id.Short())
			}
			nums = append(nums, n)
		}
	}
	bad := false
	eachRef(c.Files, func(r *Ref) {
		if int(*r) >= len(nums) {
			bad = true
			return
		}
		*r = nums[*r]
	})
	if bad {
		return malformed("a ref names no change")
	}
	return nil
}

// Unbind is the way back: the files' local numbers become refs. It sets Others; Deps must be set, in order.
func (c *Change) Unbind(self uint32, id func(uint32) ID) {
	refs := map[uint32]Ref{self: Self}
	var others []uint32
	eachRef(c.Files, func(r *Ref) {
		if _, seen := refs[*r]; !seen {
			refs[*r] = 0
			others = append(others, *r)
		}
	})
	c.Others = nil
	for _, n := range others {
		other := id(n)
		if i, found := slices.BinarySearchFunc(c.Deps, other, compareIDs); found {
			refs[n] = Ref(i + 1)
		} else {
			c.Others = append(c.Others, other)
		}
	}
	SortIDs(c.Others)
	for _, n := range others {
		if i, found := slices.BinarySearchFunc(c.Others, id(n), compareIDs); found {
			refs[n] = Ref(len(c.Deps) + i + 1)
		}
	}
	eachRef(c.Files, func(r *Ref) { *r = refs[*r] })
	for i := range c.Files {
		slices.SortFunc(c.Files[i].Over, func(a, b Over) int {
			if overLess(a, b) {
				return -1
			}
			return 1
		})
	}
}

// SortIDs puts ids in the order in which a change lists them.
func SortIDs(ids []ID) { slices.SortFunc(ids, compareIDs) }

func compareIDs(a, b ID) int { return bytes.Compare(a[:], b[:]) }
