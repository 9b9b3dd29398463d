// Package bridge brings Git's history into a repository of oxy's, proves that it is there to the last byte, and gives it back
// (docs/spec/git.md). It alone of the Git bridge's packages knows oxy's repositories.
package bridge

import (
	"fmt"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// The fields of a change that was a commit, beside those of package object.
const (
	fieldBlobs   = "git.blobs"   // contents that Git itself lacked: of each its blob's id, as bytes, its path and a zero byte
	fieldCommit  = "git.commit"  // the commit's id, as bytes
	fieldModes   = "git.modes"   // see modes
	fieldParents = "git.parents" // the ids of its parents, as bytes, one after the other
)

// known tells which commits are in a repository, and which states they lead to.
type known struct {
	format object.Format
	states map[object.ID]uint32
	lacked map[object.ID]bool // blobs that Git itself did not have
}

// loadKnown reads from the changes which of them were commits.
func loadKnown(r *repo.Repo, f object.Format) (*known, error) {
	k := &known{format: f, states: map[object.ID]uint32{}, lacked: map[object.ID]bool{}}
	err := r.EachRecorded(0, func(s uint32, c *change.Change) error {
		v, ok := field(c.Extra, fieldCommit)
		if !ok {
			return nil
		}
		if len(v) != f.Size() {
			return &repo.Error{Text: fmt.Sprintf("the repository holds history from Git with ids of %d bytes, and here they have %d", len(v), f.Size()),
				Next: "Import it into a repository of its own."}
		}
		k.states[f.ID([]byte(v))] = s
		if v, ok := field(c.Extra, fieldBlobs); ok {
			blobs, err := parseBlobs(f, v)
			if err != nil {
				return err
			}
			for _, id := range blobs {
				k.lacked[id] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	given, err := loadExported(r, f)
	for id, s := range given {
		if _, ok := k.states[id]; !ok {
			k.states[id] = s
		}
	}
	return k, err
}

func field(fields []change.Field, key string) (string, bool) {
	for _, f := range fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// parseBlobs reads which contents Git lacked, by path.
func parseBlobs(f object.Format, s string) (map[string]object.ID, error) {
	out := map[string]object.ID{}
	for s != "" {
		if len(s) < f.Size() {
			return nil, object.ErrField
		}
		id := f.ID([]byte(s[:f.Size()]))
		path, rest, ok := strings.Cut(s[f.Size():], "\x00")
		if !ok {
			return nil, object.ErrField
		}
		out[path], s = id, rest
	}
	return out, nil
}
