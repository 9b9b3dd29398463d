package bridge

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/history"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// gathered is a commit, of which the steps come one by one.
type gathered struct {
	id      object.ID
	commit  object.Commit
	parents []object.ID
	files   []repo.ImportedFile
	modes   []byte
	blobs   []byte
	lacks   func(id object.ID, isNew bool) bool // tells, and is told, whether Git itself lacks a blob
}

// add takes in a step.
func (g *gathered) add(f object.Format, s *history.Step) {
	g.id, g.parents = s.ID, append(g.parents[:0], s.Parents...)
	for i := range s.Rows {
		g.row(f, &s.Rows[i])
	}
}

// done takes what the last step says of the commit.
func (g *gathered) done(s *history.Step) {
	g.commit = s.Commit
	g.commit.Rest = bytes.Clone(s.Commit.Rest)
}

// row takes in what the commit has at a path.
func (g *gathered) row(f object.Format, r *history.Row) {
	now, was := r.Sides[0], tree.Side{}
	if len(r.Sides) > 1 {
		was = r.Sides[1]
	}
	if now == was {
		return // only other parents differ
	}
	directory := now.Mode.Bare() == object.ModeTree || was.Mode.Bare() == object.ModeTree
	if directory || now.Mode != 0 && (odd(now.Mode) || odd(was.Mode)) {
		g.modes = appendMode(g.modes, now, r.Path)
	}
	if directory {
		return
	}
	file := repo.ImportedFile{Path: string(r.Path)}
	switch now.Mode.Bare() {
	case 0:
		file.Gone = true
	case object.ModeSubmodule:
		file.Kind = change.Subrepo
		file.Data = append([]byte{}, now.ID[:f.Size()]...)
	case object.ModeLink:
		file.Kind = change.Link
	case object.ModeExec:
		file.Exec = true
	}
	if blob := !file.Gone && file.Kind != change.Subrepo; blob && g.lacks(now.ID, r.Missing) {
		g.blobs = append(append(append(g.blobs, now.ID[:f.Size()]...), r.Path...), 0)
		file.Data = fmt.Appendf(nil, "Git lacked this content, its blob %s.\n", f.AppendHex(nil, now.ID))
		g.files = append(g.files, file)
		return
	}
	switch {
	case r.HasBlob:
		file.Data = append([]byte{}, r.Blob...)
	case file.Gone || file.Kind == change.Subrepo:
	default:
		for k, side := range r.Sides[1:] {
			if side.ID == now.ID && side.Mode.Bare() != object.ModeSubmodule && side.Mode.Bare() != object.ModeTree {
				file.Like = k + 1
				break
			}
		}
	}
	g.files = append(g.files, file)
}

// odd tells of a mode that a state of oxy's does not: of an old tree, of an odd tool, of a directory by itself.
func odd(m object.Mode) bool {
	switch m {
	case 0, object.ModeFile, object.ModeExec, object.ModeLink, object.ModeSubmodule:
		return false
	}
	return true
}

// appendMode appends what a path's mode is to be, where it or the one before is odd: the mode in octal, with a leading zero where
// it has one, and another where that is a directory's that is empty; 0 for a directory that is no longer there by itself; a space, the path, a zero byte.
func appendMode(b []byte, now tree.Side, path []byte) []byte {
	if now.Mode&object.ModePadded != 0 {
		b = append(b, '0')
		if now.Mode.Bare() == object.ModeTree && !now.ID.IsZero() {
			b = append(b, '0')
		}
	}
	b = strconv.AppendUint(b, uint64(now.Mode.Bare()), 8)
	b = append(append(b, ' '), path...)
	return append(b, 0)
}

// imported is what the repository takes of the commit.
func (g *gathered) imported(f object.Format, states []uint32) *repo.Imported {
	native, fields := g.commit.Split()
	c := &repo.Imported{Parents: states, Files: g.files, Message: native.Message,
		Author: change.Person{Name: native.Name, Email: native.Email}, Time: change.Time{Sec: native.Sec, Zone: native.Zone}}
	for _, x := range fields {
		c.Extra = append(c.Extra, change.Field{Key: x.Key, Value: x.Value})
	}
	c.Extra = append(c.Extra, change.Field{Key: fieldCommit, Value: string(g.id[:f.Size()])})
	if len(g.blobs) > 0 {
		c.Extra = append(c.Extra, change.Field{Key: fieldBlobs, Value: string(g.blobs)})
	}
	if len(g.modes) > 0 {
		c.Extra = append(c.Extra, change.Field{Key: fieldModes, Value: string(g.modes)})
	}
	if len(g.commit.Parents) > 0 {
		var ids []byte
		for i := range g.commit.Parents {
			ids = append(ids, g.commit.Parents[i][:f.Size()]...)
		}
		c.Extra = append(c.Extra, change.Field{Key: fieldParents, Value: string(ids)})
	}
	slices.SortFunc(c.Extra, func(a, b change.Field) int { return cmp.Compare(a.Key, b.Key) })
	return c
}
