package repo

import (
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/state"
)

func similarity(a, b *state.Entry) int {
	if a.Hash == b.Hash {
		return 100
	}
	return 0
}

func (r *Repo) measureSimilar(d *DiffSet, i int) int {
	a, errA := d.Old(nil, i)
	b, errB := d.New(nil, i)
	if errA != nil || errB != nil {
		return 0
	}
	return diff.Similarity(a, b)
}

// pairMoves joins removed and added files that are alike, where identities do not tell.
func (r *Repo) pairMoves(d *DiffSet) {
	var from, to []diff.Candidate
	var fromAt, toAt []int
	sizes := map[int64]bool{}
	for i := range d.Files {
		if f := &d.Files[i]; f.What == Removed && f.Old.Size > 0 {
			from = append(from, diff.Candidate{Name: f.Old.Path, Hash: f.Old.Hash, Size: f.Old.Size, Load: fingerprinter(d.Old, i, f.Old)})
			fromAt = append(fromAt, i)
			sizes[f.Old.Size] = true
		}
	}
	if len(from) == 0 {
		return
	}
	// New contents are read when they are compared, and not kept: there may be a build's whole output of them.
	var buf []byte
	for i := range d.Files {
		f := &d.Files[i]
		if f.What != Added || f.New.Size == 0 || f.New.Size > change.MaxText {
			continue
		}
		if f.New.Hash == (change.Hash{}) && sizes[f.New.Size] {
			var err error
			if buf, err = d.New(buf[:0], i); err != nil {
				continue
			}
			f.New.Hash = hashOf(buf)
		}
		to = append(to, diff.Candidate{Name: f.New.Path, Hash: f.New.Hash, Size: f.New.Size, Load: fingerprinter(d.New, i, f.New)})
		toAt = append(toAt, i)
	}
	drop := map[int]bool{}
	moved := map[int]FileChange{}
	for _, p := range diff.Renames(from, to, similar) {
		a, b := fromAt[p.Removed], toAt[p.Added]
		old, now := d.Files[a].Old, d.Files[b].New
		if (old.Kind == change.Link) != (now.Kind == change.Link) {
			continue
		}
		moved[b] = FileChange{What: Moved, Old: old, New: now, Similar: p.Similarity}
		drop[a] = true
	}
	rest := d.Files[:0:0]
	for i := range d.Files {
		if f, ok := moved[i]; ok {
			rest = append(rest, f)
		} else if !drop[i] {
			rest = append(rest, d.Files[i])
		}
	}
	d.Files = rest
}
