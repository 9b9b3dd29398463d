package repo

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Move renames a file or directory in the working copy and notes it as a move for the next record.
func (r *Repo) Move(ctx context.Context, from, to string) error {
	_, err := transact(r, func(t *tx) (struct{}, error) { return struct{}{}, t.move(from, to) })
	return err
}

func (t *tx) move(from, to string) error {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return err
	}
	var st vfs.Stat
	if err := r.fs.Lstat(r.disk(to), &st); err == nil && st.Kind == vfs.KindDir {
		name := from[1+lastSlash(from):]
		if to == "" {
			to = name
		} else {
			to += "/" + name
		}
	}
	if err := safepath.Check(to); err != nil {
		return &Error{Text: "cannot move to " + safepath.Quote(to) + ": " + err.Error(), Err: err}
	}
	if err := r.refusePartly(base, from, "mv"); err != nil {
		return err
	}
	if err := r.refuseMoveOut(base, from, to); err != nil {
		return err
	}
	if taken, err := r.exists(to); err != nil {
		return fileError("move", err)
	} else if taken {
		return &Error{Text: "there is a file " + safepath.Quote(to) + " already", Next: "Move or remove it first."}
	}
	if there, err := r.exists(from); err != nil {
		return fileError("move", err)
	} else if !there {
		return &Error{Text: "there is no file " + safepath.Quote(from), Next: "If it was moved by hand already, that is found at commit."}
	}
	if from == "" || within(to, []string{from}) {
		return &Error{Text: fmt.Sprintf("cannot move %s into itself", safepath.Quote(from))}
	}
	pend, err := r.loadPending()
	if err != nil {
		return err
	}
	if err := r.refuseSubrepos(base, from, "moved"); err != nil {
		return err
	}
	tracked, err := r.trackedUnder(base, from)
	if err != nil {
		return err
	}
	before := slices.Clone(pend.Moves)
	moved := 0
	carried := map[string]bool{}
	for i := range pend.Moves { // what was moved into the directory before goes along
		if m := &pend.Moves[i]; within(m.To, []string{from}) {
			carried[m.To] = true
			m.To = to + m.To[len(from):]
			moved++
		}
	}
	for _, p := range tracked {
		there, err := r.exists(p)
		if err != nil {
			return fileError("move", err)
		}
		if there && !carried[p] {
			pend.note(p, to+p[len(from):])
			moved++
		}
	}
	if moved == 0 {
		return &Error{Text: safepath.Quote(from) + " was never recorded", Next: "Move it with mv: the next commit takes it as it is then."}
	}
	pend.Moves = slices.DeleteFunc(pend.Moves, func(m move) bool { return m.From == m.To })
	// The note comes first: without the move it says nothing, a move without a note may not be seen as one. What is
	// moved once more has two notes until that is done, of which the disk tells the right one.
	both := *pend
	if len(carried) > 0 {
		both.Moves = slices.Concat(before, pend.Moves)
	}
	if err := r.savePending(&both); err != nil {
		return err
	}
	if err := r.fs.MkdirAll(filepath.Dir(r.disk(to)), 0o777); err != nil {
		return fileError("move", err)
	}
	if err := r.fs.Rename(r.disk(from), r.disk(to)); err != nil {
		return fileError("move", err)
	}
	if len(carried) > 0 {
		_ = r.savePending(pend) // it only gets shorter
	}
	return nil
}

func lastSlash(p string) int {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			return i
		}
	}
	return -1
}
