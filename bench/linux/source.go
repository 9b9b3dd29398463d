package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

// Where Debian's package linux-source-6.1 puts the tree.
const (
	archive = "/usr/src/linux-source-6.1.tar.xz"
	unpacks = "linux-source-6.1" // the archive's only top directory
)

// source returns the tree as unpacked, and unpacks it first where that was not done yet.
func source(dir string, say func(string, ...any)) (string, error) {
	root := filepath.Join(dir, "source", unpacks)
	done := filepath.Join(dir, "source", "complete")
	if _, err := os.Stat(done); err == nil {
		return root, nil
	}
	if _, err := os.Stat(archive); err != nil {
		return "", fmt.Errorf("%w (on Debian: apt-get install linux-source-6.1, or make bench-linux, which does it)", err)
	}
	say("unpack %s", archive)
	if err := os.RemoveAll(filepath.Dir(root)); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		return "", err
	}
	if out, err := exec.Command("tar", "-xJf", archive, "-C", filepath.Dir(root)).CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack %s: %w: %s", archive, err, out)
	}
	if err := openIgnore(filepath.Join(root, ".gitignore")); err != nil {
		return "", err
	}
	// Only now: an unpacking that was broken off is begun again.
	return root, os.WriteFile(done, nil, 0o644)
}

// openIgnore takes Debian's two rules out of the tree's .gitignore: they ignore everything outside debian/, which
// is not there.
func openIgnore(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	kept, cut := bytes.CutSuffix(text, []byte("/*\n!/debian/\n"))
	if !cut {
		return errors.New(file + " does not end in the rules /* and !/debian/: is this Debian's tree?")
	}
	return os.WriteFile(file, kept, 0o644)
}

// prepare makes the two working trees equal to the source, without a repository, and reads both.
func (b *bench) prepare() error {
	for _, s := range b.sides {
		b.say("copy the tree for %s", s.tool.Name)
		if err := tree.Mirror(b.source, s.root); err != nil {
			return err
		}
	}
	for _, s := range b.sides {
		if err := tree.Warm(s.root); err != nil {
			return err
		}
	}
	return nil
}
