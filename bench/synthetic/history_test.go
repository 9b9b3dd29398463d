package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

// The two stores that are compared must hold the same history: what edits leave on disk is what Git is fed.
func TestGitGetsTheSameHistory(t *testing.T) {
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	h := History{Files: 130, Changes: 60}
	work := t.TempDir()
	disk := filepath.Join(work, "disk")
	if err := h.Import(disk); err != nil {
		t.Fatal(err)
	}
	for change := 2; change <= h.Changes; change++ {
		if err := h.Edit(disk, change); err != nil {
			t.Fatal(err)
		}
	}
	git := measure.Tool{Name: "git", Path: path, Env: measure.Environment(work)}
	size, err := gitStore(git, filepath.Join(work, "git"), h)
	if err != nil {
		t.Fatal(err)
	}
	if size.objects == 0 || size.whole <= size.objects {
		t.Errorf("sizes %+v", size)
	}
	if _, err := git.Run(filepath.Join(work, "git"), "checkout", "-q", "main"); err != nil {
		t.Fatal(err)
	}
	n, diffs, err := tree.Compare(disk, filepath.Join(work, "git"), ".git")
	if err != nil || n != h.Files+1 || len(diffs) > 0 {
		t.Errorf("compared %d files, %v, differences %q", n, err, diffs)
	}
	count, err := git.Output(filepath.Join(work, "git"), "rev-list", "--count", "main")
	if err != nil || count != "60\n" {
		t.Errorf("%q commits, %v", count, err)
	}
	hot, err := os.ReadFile(filepath.Join(disk, hotFile))
	if want := h.Changes / hotEvery; err != nil || bytes.Count(hot, []byte("\n")) != want {
		t.Errorf("hot.txt has %d lines, want %d; %v", bytes.Count(hot, []byte("\n")), want, err)
	}
}
