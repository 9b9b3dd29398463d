package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/revlog"
)

// What is made has the size that was asked for, merges, moves and branches, is the same each time, and Mercurial accepts it.
func TestMakeRepository(t *testing.T) {
	const changesets = 250
	var tips []revlog.Node
	var dir string
	for range 2 {
		dir = filepath.Join(t.TempDir(), "made")
		if err := makeRepository(dir, changesets, 120); err != nil {
			t.Fatal(err)
		}
		l, err := revlog.Open(filepath.Join(dir, ".hg/store/00changelog.i"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		s, err := l.Summary()
		if err != nil {
			t.Fatal(err)
		}
		if s.Revisions != changesets || s.Merges == 0 {
			t.Errorf("%+v", s)
		}
		if faults := l.Verify(nil); len(faults) > 0 {
			t.Error(faults)
		}
		tip, err := l.Node(l.Tip())
		if err != nil {
			t.Fatal(err)
		}
		tips = append(tips, tip)
	}
	if tips[0] != tips[1] {
		t.Error("another one is made each time")
	}
	hg, err := exec.LookPath("hg")
	if err != nil {
		t.Skip("Mercurial is not installed")
	}
	cmd := exec.Command(hg, "-R", dir, "verify")
	cmd.Env = append(os.Environ(), "HGRCPATH=", "HGPLAIN=1")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
		t.Errorf("hg verify: %v\n%s", err, out)
	}
}
