package cli

import (
	"bytes"
	"fmt"
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

// TestReadmeTour runs the tour of the README, its console blocks one after the other, and holds what it shows against what
// comes out. With -update it writes what comes out.
func TestReadmeTour(t *testing.T) {
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	tour := tourist{t: t, dir: t.TempDir()}
	rest, now := string(page), ""
	for {
		before, block, ok := strings.Cut(rest, "```console\n")
		now += before
		if !ok {
			break
		}
		block, rest, ok = strings.Cut(block, "```\n")
		if !ok {
			t.Fatal("a console block has no end")
		}
		now += "```console\n" + tour.run(block) + "```\n"
	}
	got, want := settled(now), settled(string(page))
	if *update && got != want {
		if err := os.WriteFile(readme, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("the README is now:\n%s\nand shows:\n%s", got, want)
	}
}

// tourist types what the README shows.
type tourist struct {
	t       *testing.T
	dir     string
	minutes int // so that ids are the same in each run, and with them the order of a conflict's sides
}

// run gives a block as it comes out.
func (w *tourist) run(block string) string {
	var now strings.Builder
	for line := range strings.Lines(block) {
		if !strings.HasPrefix(line, "$ ") {
			continue
		}
		now.WriteString(line)
		command := strings.TrimSpace(line[2:])
		// `cd` is the only thing that one command leaves to the next beside files.
		if command == "mkdir project && cd project" {
			w.dir += "/project"
			if err := os.Mkdir(w.dir, 0o777); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		w.minutes++
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = w.dir
		cmd.Env = append(os.Environ(), "OXY_NAME=Ada Lovelace", "OXY_EMAIL=ada@example.org", "HOME="+w.dir, "XDG_CONFIG_HOME="+w.dir,
			fmt.Sprintf("OXY_DATE=2026-11-30T%02d:%02d:00Z", 12+w.minutes/60, w.minutes%60))
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			w.t.Fatal(err)
		}
		now.Write(bytes.ReplaceAll(out, []byte(w.dir), []byte("/home/ada/project")))
	}
	return now.String()
}
