package repo

import (
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// Stray is a file that one side of a merge put beneath a directory that the other side moved away.
type Stray struct {
	Path string // where it is
	To   string // where it would be, had it been there when the directory moved
}

// strays finds, in the union of two sides, the files that changes of one put beneath a directory which a change of the
// other moved.
func (r *Repo) strays(s StateRef, ours, theirs []uint32) ([]Stray, error) {
	tree, err := r.tree(s.Num)
	if err != nil {
		return nil, err
	}
	var out []Stray
	for _, side := range [2][2][]uint32{{ours, theirs}, {theirs, ours}} {
		moves, err := r.dirMoves(side[0])
		if err != nil || len(moves) == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		for _, n := range side[1] {
			b, err := r.bodyOf(n)
			if err != nil {
				return nil, storeError(err)
			}
			for i := range b.files {
				f := &b.files[i]
				if f.Writes&change.WritesPlace == 0 {
					continue
				}
				to := followMoves(moves, f.Path)
				if to == f.Path {
					continue
				}
				at, ok, err := tree.ByFile(f.ID)
				if err != nil {
					return nil, err
				}
				if ok && at.Shown() && at.Path == f.Path {
					out = append(out, Stray{f.Path, to})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Stray) int { return state.ComparePaths(a.Path, b.Path) })
	return slices.Compact(out), nil
}

// dirMoves lists the directories that changes moved whole, in the order of the log.
func (r *Repo) dirMoves(changes []uint32) (out []change.DirMove, err error) {
	for _, n := range changes {
		b, err := r.bodyOf(n)
		if err != nil {
			return nil, storeError(err)
		}
		out = append(out, b.moves...)
	}
	return out, nil
}

// followMoves gives where moves, one after the other, take a path.
func followMoves(moves []change.DirMove, path string) string {
	for _, m := range moves {
		if rest, ok := strings.CutPrefix(path, m.From+"/"); ok {
			path = m.To + "/" + rest
		}
	}
	return path
}
