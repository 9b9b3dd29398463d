package repo

import (
	"cmp"
	"errors"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
)

// Compression finds what is alike only within a frame. So gc has like lie beside like: all that changes brought of a file in
// one stretch, oldest first, and files in the order of their paths. On the Linux tree neighbours are more alike than files of one
// name, or of one ending, in different directories (docs/spec/store.md).

// placed is a content and of which file it is.
type placed struct {
	blob uint32
	file change.FileID
}

// contentOrder gives the contents in the order in which they shall lie.
func (r *Repo) contentOrder() ([]store.Placed, error) {
	s := r.store
	var list []placed
	seen := make([]bool, s.NumBlobs())
	paths := map[change.FileID]string{} // where each was last
	for n := range s.NumChanges() {
		rec, err := s.Change(n)
		if err != nil {
			return nil, storeError(err)
		}
		c, err := change.DecodeTrusted(rec.Meta, rec.Body)
		if err == nil {
			err = c.Bind(n, s.FindChange)
		}
		if err != nil {
			return nil, storeError(errors.Join(store.ErrDamaged, err))
		}
		for i := range c.Files {
			f := &c.Files[i]
			id := f.ID
			if f.IsNew() {
				id = change.FileID{Change: n, Ord: uint32(i)}
			}
			if f.Writes&change.WritesPlace != 0 {
				paths[id] = f.Path
			}
			if f.Size == 0 {
				continue
			}
			if b, ok := s.BlobNumber(f.Content); ok && !seen[b] {
				seen[b] = true
				list = append(list, placed{b, id})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b placed) int {
		if a.file == b.file {
			return 0
		}
		p, q := paths[a.file], paths[b.file]
		return cmp.Or(cmp.Compare(p, q), cmp.Compare(a.file.Change, b.file.Change), cmp.Compare(a.file.Ord, b.file.Ord))
	})
	order := make([]store.Placed, len(list))
	for i, p := range list {
		order[i] = store.Placed{Blob: p.blob, Same: i > 0 && p.file == list[i-1].file}
	}
	return order, nil
}
