package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

// roundtrip records the tree, takes every file of it away, brings it back and compares it with the source: bytes,
// executable bits and links.
func (b *bench) roundtrip() error {
	const (
		lone   = "COPYING" // the only file of the first change
		ignore = ".gitignore"
	)
	oxy := b.sides[1]
	b.say("copy the tree")
	if err := tree.Mirror(b.source, oxy.root); err != nil {
		return err
	}
	// The tree ignores its own dot files; here they shall come along.
	if err := os.WriteFile(filepath.Join(oxy.root, ignore), nil, 0o644); err != nil {
		return err
	}
	steps := [][]string{
		{"init"},
		{"commit", "-m", "One file", lone},
		{"commit", "-m", "The tree"},
		{"checkout", "main:1"},
	}
	for _, args := range steps {
		b.say("oxy %s", strings.Join(args, " "))
		if _, err := oxy.tool.Run(oxy.root, args...); err != nil {
			return err
		}
	}
	// What checkout left, empty directories and ignored files, must not pass for what it will write.
	entries, err := os.ReadDir(oxy.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == lone || e.Name() == oxy.store {
			continue
		}
		b.say("%s was still there", e.Name())
		if err := os.RemoveAll(filepath.Join(oxy.root, e.Name())); err != nil {
			return err
		}
	}
	b.say("oxy checkout main")
	if _, err := oxy.tool.Run(oxy.root, "checkout", "main"); err != nil {
		return err
	}
	n, diffs, err := tree.Compare(b.source, oxy.root, oxy.store, ignore)
	if err != nil {
		return err
	}
	if len(diffs) > 0 {
		return fmt.Errorf("not what was recorded:\n%s", strings.Join(diffs, "\n"))
	}
	fmt.Printf("%d files and links came back byte for byte, with their executable bits.\n", n)
	return nil
}
