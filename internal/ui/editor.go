package ui

import (
	"fmt"
	"io"
	"strings"
)

// EditorLine chooses the editor: OXY_EDITOR, the setting, VISUAL, EDITOR, vi. set is false when it is only a guess.
func EditorLine(env func(string) string, setting string) (line string, set bool) {
	for _, line := range []string{env("OXY_EDITOR"), setting, env("VISUAL"), env("EDITOR")} {
		if strings.TrimSpace(line) != "" {
			return line, true
		}
	}
	return "vi", false
}

// Edit lets the person edit a file.
func Edit(line, file string, in io.Reader, out, errs io.Writer) error {
	cmd := person(line, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the editor %q: %w", line, err)
	}
	return nil
}
