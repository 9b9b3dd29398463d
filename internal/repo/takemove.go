package repo

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
)

// moves gives where files go whose place was decided. That nothing is there yet is looked at before anything is done.
func (s *resolving) moves() (out []move, err error) {
	for i := range s.files {
		o := &s.files[i]
		if o.to == "" || o.dead {
			continue
		}
		if err := s.r.refuseMoveOut(s.base, o.path, o.to); err != nil {
			return nil, err
		}
		if taken, err := s.r.exists(o.to); err != nil {
			return nil, fileError("move", err)
		} else if taken {
			return nil, &Error{Text: "there is a file " + safepath.Quote(o.to) + " already", Next: "Move or remove it first."}
		}
		out = append(out, move{o.path, o.to})
	}
	return out, nil
}

// keepMoves keeps the moves of working files that an operation does, so that undo takes them back: their paths, each with a
// NUL behind, which no path has.
func (t *tx) keepMoves(moves []move) error {
	var b []byte
	for _, m := range moves {
		b = append(append(append(append(b, m.From...), 0), m.To...), 0)
	}
	if len(b) > maxSettled {
		return &Error{Text: "too many files would be moved at once", Next: "Decide the conflicts of fewer files at a time."}
	}
	if len(b) > 0 {
		t.view.Kept[keptMoves] = b
	}
	return nil
}

// keptMovesOf reads what keepMoves kept.
func keptMovesOf(kept []byte) (out []move) {
	parts := bytes.Split(kept, []byte{0})
	for ; len(parts) >= 2; parts = parts[2:] {
		out = append(out, move{string(parts[0]), string(parts[1])})
	}
	return out
}

// moveAll moves working files.
func (t *tx) moveAll(moves []move) error {
	for _, m := range moves {
		if err := t.move(m.From, m.To); err != nil {
			return err
		}
	}
	return nil
}

// moveBack takes moves back, as far as the files are still where they were moved to.
func (t *tx) moveBack(moves []move) error {
	r := t.r
	pend, err := r.loadPending()
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(moves) {
		if there, err := r.exists(m.To); err != nil {
			return fileError("move back", err)
		} else if !there {
			continue
		}
		if taken, err := r.exists(m.From); err != nil {
			return fileError("move back", err)
		} else if taken {
			return &Error{Text: "there is a file " + safepath.Quote(m.From) + " by now, where " + safepath.Quote(m.To) + " was before", Next: "Move or remove one of them first."}
		}
		if err := r.fs.MkdirAll(filepath.Dir(r.disk(m.From)), 0o777); err != nil {
			return fileError("move back", err)
		}
		if err := r.fs.Rename(r.disk(m.To), r.disk(m.From)); err != nil {
			return fileError("move back", err)
		}
		if slices.ContainsFunc(pend.Moves, func(p move) bool { return p.To == m.To }) {
			pend.note(m.To, m.From)
			if err := r.savePending(pend); err != nil {
				return err
			}
		}
	}
	return nil
}
