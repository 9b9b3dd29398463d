package state

import "github.com/oxy-vcs/oxy/internal/change"

// WeaveBuiltOn reports whether a file's weave adds to another one of it: a file's first weave, told by 0, is what every other
// adds to. False says nothing where a weave was stored anew since.
func (b *Blocks) WeaveBuiltOn(ref, on Ref) (bool, error) {
	return builtOn(ref, on, b.weavePrev)
}

// ActsBuiltOn is WeaveBuiltOn for the acts on a file.
func (b *Blocks) ActsBuiltOn(ref, on Ref) (bool, error) {
	return builtOn(ref, on, func(ref Ref) (Ref, error) {
		prev, _, err := b.getLink(kindActs, ref)
		return prev, err
	})
}

func builtOn(ref, on Ref, before func(Ref) (Ref, error)) (bool, error) {
	for on != 0 && ref != on {
		if ref == 0 || ref.offset() < on.offset() { // a block adds to one before it
			return false, nil
		}
		prev, err := before(ref)
		if err != nil {
			return false, err
		}
		ref = prev
	}
	return true, nil
}

// DiffFiles calls fn for each file of which two trees do not know the same, but for what stands at its path: for each that came,
// went, moved or was hidden, and for those that are gone and of which more or less is kept. What it costs is as for Diff.
func DiffFiles(a, b Tree, fn func(id change.FileID) error) error {
	return diffTrees(a.b, b.b, &fileLayout, a.root.Files, b.root.Files, func(old, new *fileItem) error {
		switch {
		case old == nil:
			return fn(new.file)
		case new == nil:
			return fn(old.file)
		case old.path == new.path && old.status == new.status && old.by == new.by && old.weave == new.weave && old.acts == new.acts:
			return nil
		}
		return fn(old.file)
	})
}
