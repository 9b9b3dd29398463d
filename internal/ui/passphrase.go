package ui

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/term"
)

// ErrNobody says that there is nobody to ask.
var ErrNobody = errors.New("there is nobody to ask")

// AskSecret asks a person for something that must not be seen, such as a passphrase, on a terminal.
func AskSecret(in io.Reader, out io.Writer, question string) ([]byte, error) {
	fd, ok := in.(interface{ Fd() uintptr })
	if !ok || !IsTerminal(in) || !IsTerminal(out) {
		return nil, ErrNobody
	}
	out.Write(AppendClean(nil, question))
	b, err := term.ReadPassword(int(fd.Fd()))
	fmt.Fprintln(out)
	return b, err
}
