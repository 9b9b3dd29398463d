// Package ui is what a person's terminal needs: colour, the pager, progress, dates, questions and the editor. It knows
// nothing of commands and prints no results.
package ui

import (
	"io"

	"golang.org/x/term"
)

// IsTerminal reports whether a person looks at what is written to, or types what is read from, f.
func IsTerminal(f any) bool {
	fd, ok := f.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(fd.Fd()))
}

// plainWidth is taken where nobody can tell how wide lines may be: a pipe, a file.
const plainWidth = 80

// Width is how many columns w has.
func Width(w io.Writer) int {
	if fd, ok := w.(interface{ Fd() uintptr }); ok {
		if n, _, err := term.GetSize(int(fd.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return plainWidth
}
