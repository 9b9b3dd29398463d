package state

import (
	"fmt"
	"slices"
)

// Vacate returns the tree that knows of more paths vacated. The list ascends by path; its doubles and what is known
// count once.
func (t Tree) Vacate(list []Vacated) (Tree, error) {
	items, err := vacancies(list)
	if err != nil {
		return Tree{}, fmt.Errorf("vacate: %w", err)
	}
	ops := vacancyOps(items)
	ed := editor[vacancy]{b: t.b, l: &vacatedLayout}
	ed.replaced = func(i int, old *vacancy) error {
		if old != nil {
			items[i].by = append(items[i].by, old.by...)
		}
		items[i].tidy()
		return nil
	}
	if t.root.Vacated, err = ed.edit(t.root.Vacated, ops); err != nil {
		return Tree{}, fmt.Errorf("vacate: %w", err)
	}
	return t, nil
}

// Unvacate returns the tree that no longer knows of a list of paths vacated, which ascends by path. What it did not
// know is passed over; with nothing else in the list the tree stays as it is. Of a path that more than maxVacatedBy
// changes vacated the oldest do not come back.
func (t Tree) Unvacate(list []Vacated) (Tree, error) {
	items, err := vacancies(list)
	if err != nil {
		return Tree{}, fmt.Errorf("take vacated paths away: %w", err)
	}
	ops := vacancyOps(items)
	differs := false
	ed := editor[vacancy]{b: t.b, l: &vacatedLayout}
	ed.replaced = func(i int, old *vacancy) error {
		ops[i].item = nil
		if old == nil {
			return nil
		}
		slices.Sort(items[i].by)
		rest := numbersWithout(old.by, items[i].by)
		differs = differs || len(rest) < len(old.by)
		if len(rest) > 0 {
			items[i].by = rest
			ops[i].item = &items[i]
		}
		return nil
	}
	root, err := ed.edit(t.root.Vacated, ops)
	if err != nil {
		return Tree{}, fmt.Errorf("take vacated paths away: %w", err)
	}
	if differs {
		t.root.Vacated = root
	}
	return t, nil
}

// numbersWithout gives the numbers of a that b has not. Both ascend.
func numbersWithout(a, b []uint32) (out []uint32) {
	for _, n := range a {
		for len(b) > 0 && b[0] < n {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != n {
			out = append(out, n)
		}
	}
	return out
}

// DiffVacated calls fn, in order, for each path that changes vacated in b that did not in a, with these, ascending. by
// is good during the call only. Where one tree came from the other the cost is that of the pages that differ. An error
// from fn ends the walk and is returned.
func DiffVacated(a, b Tree, fn func(path string, by []uint32) error) error {
	return diffTrees(a.b, b.b, &vacatedLayout, a.root.Vacated, b.root.Vacated, func(old, new *vacancy) error {
		if new == nil {
			return nil
		}
		by := new.by
		if old != nil {
			if slices.Equal(old.by, by) {
				return nil
			}
			by = numbersWithout(by, old.by)
		}
		if len(by) == 0 {
			return nil
		}
		return fn(new.path, by)
	})
}

func vacancyOps(items []vacancy) []op[vacancy] {
	ops := make([]op[vacancy], len(items))
	for i := range items {
		ops[i] = op[vacancy]{key: items[i].path, item: &items[i]}
	}
	return ops
}

// vacancies puts together what was taken away from the same path.
func vacancies(list []Vacated) ([]vacancy, error) {
	items := make([]vacancy, 0, len(list))
	numbers := make([]uint32, len(list)) // of all items, side by side
	start := 0
	for i := range list {
		v := &list[i]
		numbers[i] = v.By
		if n := len(items); n > 0 && items[n-1].path == v.Path {
			items[n-1].by = numbers[start : i+1 : i+1]
			continue
		} else if n > 0 && ComparePaths(items[n-1].path, v.Path) > 0 {
			return nil, fmt.Errorf("%q comes after %q", v.Path, items[n-1].path)
		}
		if err := checkPath(v.Path); err != nil {
			return nil, err
		}
		start = i
		items = append(items, vacancy{path: v.Path, by: numbers[i : i+1 : i+1]})
	}
	return items, nil
}

// tidy orders the changes, each once. Of too many the newest stay.
func (v *vacancy) tidy() {
	slices.Sort(v.by)
	v.by = slices.Compact(v.by)
	v.by = v.by[max(0, len(v.by)-maxVacatedBy):]
}
