package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

// The exit codes.
const (
	exitDone        = 0
	exitNo          = 1
	exitError       = 2
	exitInterrupted = 130 // as shells tell it: 128 and the signal's number
)

// errNo is an answer of "no" that the output told already.
var errNo = errors.New("no")

// errEnough ends an iteration that gave all that was asked for.
var errEnough = errors.New("enough")

// errInterrupted is Ctrl-C where nothing could have been recorded.
var errInterrupted = errors.New("interrupted")

// usage is a command line that cannot be understood.
func usage(verb, format string, args ...any) error {
	return &repo.Error{Text: fmt.Sprintf(format, args...), Next: "See what it takes with: oxy help " + verb}
}

// saidByRepo tells an error of the work from one of the output: a broken pipe may be the way to another repository, too.
func saidByRepo(err error) bool {
	_, ok := errors.AsType[*repo.Error](err)
	return ok
}

// report tells a person what went wrong, in a line, and what to do next, in another.
func (a *app) report(err error) int {
	switch {
	case err == nil:
		return exitDone
	case err == errNo:
		return exitNo
	case errors.Is(err, syscall.EPIPE) && !saidByRepo(err):
		return exitDone // the reader has seen enough
	case err == errInterrupted:
		a.complain("interrupted", "")
		return exitInterrupted
	case errors.Is(err, context.Canceled):
		if e, ok := errors.AsType[*repo.Error](err); ok && e.Next != "" {
			a.complain("interrupted", e.Next)
			return exitInterrupted
		}
		a.complain("interrupted; nothing was recorded", "")
		return exitInterrupted
	}
	code, next := exitError, ""
	if e, ok := errors.AsType[*repo.Error](err); ok {
		next = e.Next
		if e.No {
			code = exitNo
		}
	}
	a.complain(err.Error(), next)
	return code
}

// complain writes to standard error. Errors joined of many stay one line.
func (a *app) complain(text, next string) {
	line := ui.AppendClean([]byte("oxy: "), strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	line = append(line, '\n')
	if next != "" {
		line = ui.AppendClean(line, strings.ReplaceAll(next, "\n", "; "))
		line = append(line, '\n')
	}
	a.stdio.Err.Write(line)
}

// warn tells of something that does not keep the command from its work.
func (a *app) warn(text string) {
	line := ui.AppendClean([]byte("oxy: "), text)
	a.stdio.Err.Write(append(line, '\n'))
}
