// Package bridge brings Git's history into a repository of oxy's, proves that it is there to the last byte, and gives it back
// (docs/spec/git.md). It alone of the Git bridge's packages knows oxy's repositories.
package bridge

import (
	"encoding/binary"
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
	given  map[object.ID]bool // of states, those that are not from changes
	until  uint32             // how many states were looked at
	kept   uint32             // of how many of them it was kept what they are
	blobs  int                // of lacked, those of states
}

// knownFile keeps which commits are there, for the next import: to read it from all changes takes half a second of 85 000.
const knownFile = "git.commits"

// loadKnown reads from the changes which of them were commits.
func loadKnown(r *repo.Repo, f object.Format) (*known, error) {
	k := newKnown(f)
	return k, k.load(r)
}

// recallKnown is loadKnown for an import, which need not look again at what the one before looked at. A proof trusts in nothing but changes.
func recallKnown(r *repo.Repo, f object.Format) (*known, error) {
	k := newKnown(f)
	if data, states := r.Derived(knownFile); k.decode(data, states) {
		k.kept = states
	} else {
		k = newKnown(f)
	}
	return k, k.load(r)
}

func newKnown(f object.Format) *known {
	return &known{format: f, states: map[object.ID]uint32{}, lacked: map[object.ID]bool{}, given: map[object.ID]bool{}}
}

// keptEvery is of how many states it pays to keep again what all are.
const keptEvery = 64

// keep keeps for the next import what this one knows. upTo is how many states there were when it had the repository for itself: if others
// had come since they were looked at, it would not know them. Of blobs that were found lacking the commits may have been left out: then the
// next import looks.
func (k *known) keep(r *repo.Repo, upTo uint32) {
	if now := r.NumStates(); k.until == upTo && now-k.kept >= keptEvery && len(k.lacked) == k.blobs {
		r.KeepDerived(knownFile, now, k.encode())
	}
}

// A commit is kept as its state's number and its id, behind a byte that tells how long ids are and how many commits there are; what follows
// are ids of blobs.
const knownHeader = 1 + 4

// encode is what decode reads.
func (k *known) encode() []byte {
	b := make([]byte, knownHeader, knownHeader+len(k.states)*(4+k.format.Size()))
	b[0] = byte(k.format.Size())
	count := uint32(0)
	for id, s := range k.states {
		if !k.given[id] {
			b = append(binary.LittleEndian.AppendUint32(b, s), id[:k.format.Size()]...)
			count++
		}
	}
	binary.LittleEndian.PutUint32(b[1:], count)
	for id := range k.lacked {
		b = append(b, id[:k.format.Size()]...)
	}
	return b
}

// decode reads what encode gave; false where it did not.
func (k *known) decode(b []byte, states uint32) bool {
	size := k.format.Size()
	if len(b) < knownHeader || b[0] != byte(size) {
		return false
	}
	count := int(binary.LittleEndian.Uint32(b[1:]))
	b = b[knownHeader:]
	if count > len(b)/(4+size) {
		return false
	}
	k.states = make(map[object.ID]uint32, count)
	for range count {
		s := binary.LittleEndian.Uint32(b)
		if s >= states {
			return false
		}
		k.states[k.format.ID(b[4:])] = s
		b = b[4+size:]
	}
	for ; len(b) >= size; b = b[size:] {
		k.lacked[k.format.ID(b)] = true
	}
	return len(b) == 0
}

// load reads the changes that are not looked at yet.
func (k *known) load(r *repo.Repo) error {
	f := k.format
	k.until = r.NumStates()
	err := r.EachRecorded(k.kept, func(s uint32, c *change.Change) error {
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
	k.blobs = len(k.lacked)
	if err != nil {
		return err
	}
	given, err := loadExported(r, f)
	for id, s := range given {
		if _, ok := k.states[id]; !ok {
			k.states[id], k.given[id] = s, true
		}
	}
	return err
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
