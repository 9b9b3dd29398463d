package repo

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// touchedFiles keeps in mind on which files changes act, and which changes act on a file. Of two states that went apart long ago one
// has thousands of changes and the other a few, as a topic has beside its trunk: then the few files of the few are asked about, and the
// thousands are not gone through. It is for one goroutine.
type touchedFiles struct {
	origin func(n uint32) (*originOf, error)
	files  [][]change.FileID // by change; nil for not known
	known  state.Set         // the changes that are
	acting map[change.FileID][]uint32
}

func newTouchedFiles(origin func(n uint32) (*originOf, error)) *touchedFiles {
	return &touchedFiles{origin: origin, acting: map[change.FileID][]uint32{}}
}

// learn has it know what some changes act on.
func (t *touchedFiles) learn(changes state.Set) error {
	unknown := changes.Minus(t.known)
	if unknown.Empty() {
		return nil
	}
	var learnt state.SetBuilder
	defer func() { t.known = t.known.Union(learnt.Set()) }() // where one cannot be read, those before it too
	for n := range unknown.All() {
		o, err := t.origin(n)
		if err != nil {
			return err
		}
		ids := make([]change.FileID, len(o.files))
		for i := range o.files {
			ids[i] = o.files[i].ID
		}
		if need := int(n) + 1 - len(t.files); need > 0 {
			t.files = append(t.files, make([][]change.FileID, need)...)
		}
		t.files[n] = ids
		for _, id := range ids {
			t.acting[id] = insertAscending(t.acting[id], n)
		}
		learnt.Add(n)
	}
	return nil
}

// insertAscending puts a number into an ascending list, mostly at its end.
func insertAscending(list []uint32, n uint32) []uint32 {
	if k := len(list); k == 0 || list[k-1] < n {
		return append(list, n)
	}
	i, found := slices.BinarySearch(list, n)
	if found { // one that acts on a file twice
		return list
	}
	return slices.Insert(list, i, n)
}

// each calls fn for the files on which changes act, once for each change.
func (t *touchedFiles) each(changes state.Set, fn func(n uint32, id change.FileID)) error {
	if err := t.learn(changes); err != nil {
		return err
	}
	for n := range changes.All() {
		for _, id := range t.files[n] {
			fn(n, id)
		}
	}
	return nil
}

// by tells whether one of some changes, all of which were learnt, acts on a file.
func (t *touchedFiles) by(id change.FileID, changes state.Set) bool {
	least, ok := changes.Least()
	if !ok {
		return false
	}
	for _, n := range slices.Backward(t.acting[id]) {
		if n < least {
			return false
		}
		if changes.Has(n) {
			return true
		}
	}
	return false
}
