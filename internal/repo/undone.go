package repo

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
)

// undoing reports whether change n takes another back.
func (r *Repo) undoing(n uint32) bool {
	b, err := r.bodyOf(n)
	return err == nil && b.undoes != NoState
}

// origin is what was undone first, through however many undoings; of another change it is the change itself.
func (r *Repo) origin(n uint32) (*originOf, error) {
	o := &originOf{change: n}
	for {
		b, err := r.bodyOf(o.change)
		if err != nil {
			return nil, storeError(err)
		}
		if b.undoes == NoState {
			o.files = b.files
			return o, nil
		}
		if b.undoes >= o.change {
			return nil, storeError(fmt.Errorf("change %d undoes change %d: %w", o.change, b.undoes, store.ErrDamaged))
		}
		if o.change == n {
			o.undone = b.undoes
		}
		o.change, o.taken, o.undoes = b.undoes, !o.taken, true
	}
}

// originOf is a change with what it did, or of an undoing, with what the change did that was undone first.
type originOf struct {
	change uint32
	undoes bool
	undone uint32 // by the change that was asked about, with undoes
	taken  bool   // an odd number of undoings lies between
	files  []change.File
}

// file finds what a change does to a file.
func (b *body) file(id change.FileID) (int, bool) {
	if int(id.Ord) < len(b.files) && b.files[id.Ord].ID == id { // it adds it
		return int(id.Ord), true
	}
	i := slices.IndexFunc(b.files, func(f change.File) bool { return f.ID == id })
	return i, i >= 0
}
