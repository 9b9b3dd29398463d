package ui

import (
	"os/exec"
	"runtime"
	"strings"
)

// person makes a command of a line that a person set, such as `less -R` or `code --wait`. The shell reads it only when
// there is something for it to read.
func person(line string, args ...string) *exec.Cmd {
	if runtime.GOOS != "windows" && strings.ContainsAny(line, "|&;<>()$`\\\"'*?[#~=%") {
		return exec.Command("sh", append([]string{"-c", line + ` "$@"`, line}, args...)...)
	}
	words := append(strings.Fields(line), args...)
	return exec.Command(words[0], words[1:]...)
}
