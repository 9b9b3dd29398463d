package state

import (
	"cmp"
	"slices"
)

// DiffRest compares all that two trees of one state keep beside their entries, which Diff compares: where each file stands,
// stood or would stand and who removed it; what was done to it; the disputes; and who took files away from which paths. It
// calls fn with the path of each that differs and with what it is. References into the two files mean nothing to each other,
// so what they lead to is compared. An error from fn ends the walk and is returned.
func DiffRest(a, b Tree, fn func(path, what string) error) error {
	acts := func(path string, x, y Ref) error {
		same, err := sameActs(a.b, b.b, x, y)
		if err != nil || same {
			return err
		}
		return fn(path, "what was done to it")
	}
	err := diffTrees(a.b, b.b, &pathLayout, a.root.Paths, b.root.Paths, func(old, new *Entry) error {
		if old == nil || new == nil {
			return nil // Diff tells
		}
		return acts(old.Path, old.Acts, new.Acts)
	})
	if err != nil {
		return err
	}
	err = diffTrees(a.b, b.b, &fileLayout, a.root.Files, b.root.Files, func(old, new *fileItem) error {
		switch {
		case old == nil:
			return fn(new.path, "a file that it lacks")
		case new == nil:
			return fn(old.path, "a file that there never was")
		case old.status != new.status, old.status != fileGone && old.path != new.path:
			return fn(old.path, "where a file is")
		case old.acts == 0 && new.acts == 0 && (old.path != new.path || old.by != new.by):
			// Of a file that several changes moved or removed side by side, the last one that was put is named: that depends on
			// the order in which they came, and is for people to read only.
			return fn(old.path, "where a file was last")
		}
		return acts(old.path, old.acts, new.acts)
	})
	if err != nil {
		return err
	}
	err = diffTrees(a.b, b.b, &vacatedLayout, a.root.Vacated, b.root.Vacated, func(old, new *vacancy) error {
		if old != nil && new != nil && slices.Equal(old.by, new.by) {
			return nil
		}
		return fn(cmp.Or(new, old).path, "who took files away")
	})
	if err != nil {
		return err
	}
	return diffDisputes(a, b, fn)
}

// sameActs compares two chains: the changes and ordinals, in whatever order they were put, for that tells nothing.
func sameActs(a, b *Blocks, x, y Ref) (bool, error) {
	if x == 0 || y == 0 || a == b && x == y {
		return x == y, nil
	}
	p, err := a.Acts(x)
	if err != nil {
		return false, err
	}
	q, err := b.Acts(y)
	if err != nil {
		return false, err
	}
	byChange := func(a, b Act) int { return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Ord, b.Ord)) }
	slices.SortFunc(p, byChange)
	slices.SortFunc(q, byChange)
	return slices.Equal(p, q), nil
}

func diffDisputes(a, b Tree, fn func(path, what string) error) error {
	p, err := a.Disputes()
	if err != nil {
		return err
	}
	q, err := b.Disputes()
	if err != nil {
		return err
	}
	for len(p) > 0 || len(q) > 0 {
		side := 0
		switch {
		case len(p) == 0:
			side = 1
		case len(q) == 0:
			side = -1
		default:
			side = compareFiles(p[0].File, q[0].File)
		}
		path := ""
		switch {
		case side < 0:
			path, p = p[0].Place, p[1:]
		case side > 0:
			path, q = q[0].Place, q[1:]
		default:
			if !sameDispute(&p[0], &q[0]) {
				path = p[0].Place
			}
			p, q = p[1:], q[1:]
		}
		if path == "" {
			continue
		}
		if err := fn(path, "the conflicts of a file"); err != nil {
			return err
		}
	}
	return nil
}

func sameDispute(a, b *Dispute) bool {
	if a.Place != b.Place || a.Shown != b.Shown || a.Kinds != b.Kinds || a.Dir != b.Dir || !slices.Equal(a.Meets, b.Meets) {
		return false
	}
	if a.Hidden == nil || b.Hidden == nil {
		return a.Hidden == b.Hidden
	}
	return sameEntry(a.Hidden, b.Hidden, false)
}
