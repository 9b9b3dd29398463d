package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// ErrNoSuch is beneath an Error about a name that nothing has.
var ErrNoSuch = errors.New("no such bookmark, tag or change")

// storeError puts a fault of the store in words.
func storeError(err error) error {
	e := &Error{Text: err.Error(), Err: err}
	switch {
	case errors.Is(err, store.ErrNewerFormat):
		e.Text = strings.TrimSuffix(e.Text, "; use a newer oxy")
		e.Next = "Use the oxy that made it, or a later one. This one: oxy version"
	case errors.Is(err, store.ErrNotRepository):
		e.Next = "If only the file format in it was lost, copy that of another repository of oxy."
	case errors.Is(err, store.ErrLocked):
		e.Text = "another oxy is writing to this repository"
		e.Next = "Try again when it is done."
	case errors.Is(err, store.ErrRenumbered):
		e.Text = "another oxy dropped old history meanwhile"
		e.Next = "Run the command again. Nothing was recorded."
	case errors.Is(err, store.ErrDamaged):
		e.Next = "Copy " + DirName + " away before anything else; other copies of this repository are not affected."
	case errors.Is(err, fs.ErrPermission), isReadOnly(err), isNoSpace(err):
		return fileError("use the repository", err)
	}
	return e
}

// fileError puts a fault of the file system in words: what could not be done, and why.
func fileError(act string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	e := &Error{Text: "cannot " + act + ": " + err.Error(), Err: err}
	switch {
	case errors.Is(err, worktree.ErrChanging):
		e.Next = stopWriting
	case isReadOnly(err):
		e.Next = "What is there can be read, and nothing can be written. Nothing was recorded."
	case errors.Is(err, fs.ErrPermission):
		e.Next = "Check who may read and write there. Nothing was recorded."
	case isNoSpace(err):
		e.Next = "The disk is full. Make room and run the command again; nothing was lost."
	}
	return e
}

const stopWriting = "Stop what writes it, or list it in .oxyignore."

// readError is fileError of a file, named as a person knows it, that cannot be read.
func readError(what string, err error) error {
	cause := err
	if e := (*worktree.PathError)(nil); errors.As(err, &e) {
		cause = e.Err // what names the file already
	} else if e := (*fs.PathError)(nil); errors.As(err, &e) {
		cause = e.Err
	}
	err = fileError("read "+what, err)
	if e, ok := err.(*Error); ok && errors.Is(e.Err, cause) {
		e.Text = "cannot read " + what + ": " + cause.Error()
		if errors.Is(cause, fs.ErrPermission) {
			e.Next = "Check who may read it."
		}
	}
	return err
}

// problems is what a look at the working copy could not read, in one line; nil when there is nothing.
func problems(act string, errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	e := &Error{Text: "cannot " + act + ": " + errs[0].Error(), Next: "Make it readable, list it in .oxyignore, or name other paths.", Err: errs[0]}
	if len(errs) > 1 {
		e.Text += fmt.Sprintf("; and %d more", len(errs)-1)
	}
	if errors.Is(errs[0], worktree.ErrChanging) {
		e.Next = stopWriting
	}
	return e
}
