package ui

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Ask prints a question and reads a line; at the end of the input it gives io.EOF.
func Ask(in *bufio.Reader, out io.Writer, question string) (string, error) {
	if _, err := io.WriteString(out, question); err != nil {
		return "", err
	}
	line, err := in.ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return strings.TrimSpace(line), err
}

// Confirm asks a question that is answered by yes or no. Anything but a clear yes is no.
func Confirm(in *bufio.Reader, out io.Writer, question string) (bool, error) {
	answer, err := Ask(in, out, question+" [y/N] ")
	if err == io.EOF {
		fmt.Fprintln(out)
		return false, nil
	}
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}
