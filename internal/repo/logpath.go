package repo

import (
	"errors"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// mayTouch is what is known of a change that touched what stands, or stood, at some paths, without a look at it.
type mayTouch struct {
	sure bool // it did
	look bool // it added, moved or removed a file that stands elsewhere: whether it brought it there, only it tells
	// edited is a file that stands elsewhere and whose lines it wrote, if wrote: that counts if a later change took the file away from there.
	edited change.FileID
	wrote  bool
}

// mayTouch gives the changes among which are all that touched what stands, or stood, at some paths, from what is kept of those files:
// who wrote their lines, acted on them, and took one away from there. ok is false where that is not known without a look at every
// change: beneath directories, or where files are in conflict.
func (r *Repo) mayTouch(t state.Tree, paths []string) (may map[uint32]mayTouch, ok bool, err error) {
	if t.Disputed() {
		return nil, false, nil
	}
	files := map[change.FileID]bool{} // true for one that stands there
	for _, p := range paths {
		if p == "" {
			return nil, false, nil
		}
		beneath := false
		err := t.Walk(p, func(e *state.Entry) error {
			beneath = beneath || e.Path != p
			files[e.File] = true
			if beneath {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, false, err
		}
		if beneath {
			return nil, false, nil
		}
		by, err := t.Vacated(p)
		if err != nil || len(by) > mostVacated {
			return nil, false, err
		}
		for _, n := range by {
			o, err := r.origin(n)
			if err != nil {
				return nil, false, err
			}
			for i := range o.files {
				left, err := r.leaves(&o.files[i], r.undoing(n))
				if err != nil {
					return nil, false, err
				}
				for _, l := range left {
					if id := o.files[i].ID; overlaps(l, p) && !files[id] {
						files[id] = false
					}
				}
			}
		}
	}
	may = map[uint32]mayTouch{}
	for id, here := range files {
		gone := false // it stood last at one of the paths
		if !here {
			at, ok, err := t.ByFile(id)
			if err != nil {
				return nil, false, err
			}
			gone = ok && within(at.Path, paths)
		}
		err := r.eachThatActed(t, id, func(n uint32, edited bool) {
			m := may[n]
			switch {
			case here || edited && gone:
				m.sure = true
			case edited && (m.edited == id || !m.wrote):
				m.edited, m.wrote = id, true
			default:
				m.look = true
			}
			may[n] = m
		})
		if err != nil {
			return nil, false, err
		}
	}
	return may, true, nil
}

var errEnough = errors.New("enough is known")

// mostVacated is up to how many changes that took files away from a path are looked at; fewer are kept of each place than would make a
// state's knowledge of them partial.
const mostVacated = 256

// eachThatActed calls fn for every change that did anything to a file, perhaps twice; edited says that it wrote lines of it.
func (r *Repo) eachThatActed(t state.Tree, id change.FileID, fn func(n uint32, edited bool)) error {
	w, err := wasIn(t, nil, id)
	if err != nil || !w.known {
		return err
	}
	fn(id.Change, false)
	f := &fuse{r: r}
	x := &fused{id: id, was: w, exists: w.alive, entry: w.entry}
	acts, err := f.actsOf(w.entry.Acts)
	if err != nil {
		return err
	}
	for _, a := range acts {
		fn(a.Change, false)
	}
	if w.entry.Weave == 0 {
		return nil // nobody edited it
	}
	if err := f.load(x); err != nil {
		return err
	}
	for _, s := range x.weave.w.Sources {
		fn(s.Change, true)
	}
	return nil
}
