package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// pending is what a person noted for the next record beyond what the disk shows: wc/pending, JSON, and absent when
// there is nothing. Bytes that are not UTF-8 would not survive JSON, so paths are kept as bytes.
type pending struct {
	Moves     []move
	Untracked []string
}

type move struct{ From, To string }

type pendingFile struct {
	Moves     [][2][]byte `json:"moves,omitempty"`
	Untracked [][]byte    `json:"untracked,omitempty"`
}

// maxPending bounds the file: a move of a hundred thousand files.
const maxPending = 64 << 20

func (r *Repo) pendingName() string { return filepath.Join(r.dir, "wc", "pending") }

func (r *Repo) loadPending() (*pending, error) {
	b, err := r.fs.ReadFile(r.pendingName(), maxPending)
	if errors.Is(err, fs.ErrNotExist) {
		return &pending{}, nil
	}
	if err != nil {
		return nil, readError("what is noted for the next record", err)
	}
	var f pendingFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, &Error{Text: fmt.Sprintf("%s is damaged: %v", r.pendingName(), err),
			Next: "Delete it: moves are then found by content, and oxy untrack has to be said again.", Err: err}
	}
	p := &pending{}
	for _, m := range f.Moves {
		p.Moves = append(p.Moves, move{string(m[0]), string(m[1])})
	}
	for _, u := range f.Untracked {
		p.Untracked = append(p.Untracked, string(u))
	}
	return p, nil
}

func (r *Repo) savePending(p *pending) error {
	if len(p.Moves)+len(p.Untracked) == 0 {
		if err := r.fs.Remove(r.pendingName()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fileError("note it for the next record", err)
		}
		return nil
	}
	var f pendingFile
	for _, m := range p.Moves {
		f.Moves = append(f.Moves, [2][]byte{[]byte(m.From), []byte(m.To)})
	}
	for _, u := range p.Untracked {
		f.Untracked = append(f.Untracked, []byte(u))
	}
	b, err := json.Marshal(&f)
	if err != nil {
		return err
	}
	if err := vfs.WriteFileAtomic(r.fs, r.pendingName(), append(b, '\n'), true); err != nil {
		return fileError("note it for the next record", err)
	}
	return nil
}

// note adds a move, joining it with one that led to where it begins.
func (p *pending) note(from, to string) {
	for i := range p.Moves {
		if p.Moves[i].To == from {
			p.Moves[i].To = to
			if p.Moves[i].From == to {
				p.Moves = slices.Delete(p.Moves, i, i+1)
			}
			return
		}
	}
	for i := range p.Moves { // noted before, by a command that did not get to the move
		if p.Moves[i].From == from {
			p.Moves[i].To = to
			return
		}
	}
	p.Moves = append(p.Moves, move{from, to})
}
