// Package worktree is the working copy: the manifest of what was last seen in it, the stat walk that finds what changed
// since, guarded reading of files, and checkout. It knows contents by path and hash, nothing of weaves or changes.
package worktree

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotFound says that there is no manifest: build one from the base state and scan.
	ErrNotFound = errors.New("no manifest")
	// ErrDamaged says that the manifest cannot be trusted: build it anew, with no entry valid. Nothing is lost by that.
	ErrDamaged = errors.New("manifest is damaged")
	// ErrStale says that another process moved the manifest to another base state meanwhile; nothing was saved.
	ErrStale = errors.New("manifest was moved to another state meanwhile")
	// ErrChanging says that a file changed each time while it was read.
	ErrChanging = errors.New("file keeps changing while it is read")
	// ErrWouldLose says that a checkout would overwrite contents that are recorded nowhere; nothing was touched. The
	// error is a *LoseError, which lists the paths.
	ErrWouldLose = errors.New("unrecorded contents would be lost")
)

// LoseError lists what a checkout would have lost.
type LoseError struct{ Paths []string }

// maxListed is how many paths the message itself names: a terminal's worth.
const maxListed = 10

func (e *LoseError) Error() string {
	shown, more := e.Paths, ""
	if len(shown) > maxListed {
		more = fmt.Sprintf(" and %d more", len(shown)-maxListed)
		shown = shown[:maxListed]
	}
	quoted := make([]string, len(shown))
	for i, p := range shown {
		quoted[i] = fmt.Sprintf("%q", p)
	}
	return fmt.Sprintf("%v: %s%s", ErrWouldLose, strings.Join(quoted, ", "), more)
}

// Is makes errors.Is(err, ErrWouldLose) true.
func (e *LoseError) Is(target error) bool { return target == ErrWouldLose }

// PathError is a failure that concerns one path of the working copy.
type PathError struct {
	Path string
	Err  error
}

func (e *PathError) Error() string { return fmt.Sprintf("%q: %v", e.Path, e.Err) }
func (e *PathError) Unwrap() error { return e.Err }
