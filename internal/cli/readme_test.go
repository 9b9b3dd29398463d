package cli

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const readme = "../../README.md"

// changing finds what differs from run to run: ids, dates, ages.
var changing = []struct {
	find *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8,}\b`), "ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}`), "DATE"},
	{regexp.MustCompile(`just now|\d+ seconds ago`), "AGO"},
	{regexp.MustCompile(`Initialised \S+;`), "Initialised DIR;"},
}

func settled(s string) string {
	for _, c := range changing {
		s = c.find.ReplaceAllString(s, c.as)
	}
	return s
}

// TestReadmeTour runs the tour of the README, and holds what it shows against what comes out. With -update it writes
// what comes out.
func TestReadmeTour(t *testing.T) {
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), "```console\n")
	tour, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("the README has no tour")
	}
	dir := t.TempDir()
	var now strings.Builder
	for line := range strings.Lines(tour) {
		if !strings.HasPrefix(line, "$ ") {
			continue
		}
		// `cd` is the only thing that one command leaves to the next beside files.
		command := strings.TrimSpace(line[2:])
		if rest, ok := strings.CutPrefix(command, "mkdir project && cd project"); ok && rest == "" {
			dir += "/project"
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			now.WriteString(line)
			continue
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "OXY_NAME=Ada Lovelace", "OXY_EMAIL=ada@example.org", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Fatal(err)
		}
		now.WriteString(line)
		now.Write(bytes.ReplaceAll(out, []byte(dir), []byte("/home/ada/project")))
	}
	if *update {
		if err := os.WriteFile(readme, []byte(before+"```console\n"+now.String()+"```\n"+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := settled(now.String()), settled(tour); got != want {
		t.Errorf("the tour is now:\n%s\nthe README shows:\n%s", got, want)
	}
}
