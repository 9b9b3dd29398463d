// Package tree copies, compares, reads and measures directories of files for the benchmarks.
package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Mirror makes dst what src is: contents, modes, times and links. What is already equal by size and time stays
// untouched, and what src does not have goes, so that a tree edited by an earlier run is put right in seconds.
func Mirror(src, dst string) error {
	info, err := os.Lstat(src)
	if err != nil {
		return err
	}
	if err := mirrorDir(src, dst, info); err != nil {
		return fmt.Errorf("copy %s to %s: %w", src, dst, err)
	}
	return nil
}

func mirrorDir(src, dst string, info fs.FileInfo) error {
	if err := os.Mkdir(dst, info.Mode().Perm()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool, len(entries))
	for _, e := range entries {
		wanted[e.Name()] = true
		if err := mirrorEntry(filepath.Join(src, e.Name()), filepath.Join(dst, e.Name())); err != nil {
			return err
		}
	}
	present, err := os.ReadDir(dst)
	if err != nil {
		return err
	}
	for _, e := range present {
		if wanted[e.Name()] {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dst, e.Name())); err != nil {
			return err
		}
	}
	// Last, since what went on inside has changed it.
	return os.Chtimes(dst, info.ModTime(), info.ModTime())
}

func mirrorEntry(src, dst string) error {
	want, err := os.Lstat(src)
	if err != nil {
		return err
	}
	have, err := os.Lstat(dst)
	if err == nil {
		if same(want, have) {
			return nil
		}
		if have.Mode().Type() != want.Mode().Type() || !want.IsDir() {
			if err := os.RemoveAll(dst); err != nil {
				return err
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch want.Mode().Type() {
	case fs.ModeDir:
		return mirrorDir(src, dst, want)
	case fs.ModeSymlink:
		target, err := os.Readlink(src)
		if err != nil {
			return err
		}
		return os.Symlink(target, dst)
	case 0:
		return copyFile(src, dst, want)
	default:
		return fmt.Errorf("%s is neither file, directory nor link", src)
	}
}

// same reports whether two files need no comparing: only regular files, by size, mode and time.
func same(a, b fs.FileInfo) bool {
	return a.Mode().IsRegular() && a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func copyFile(src, dst string, info fs.FileInfo) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := os.Chmod(dst, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(dst, info.ModTime(), info.ModTime())
}
