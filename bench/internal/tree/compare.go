package tree

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Compare checks that got holds exactly the files and links of want: bytes, executable bit, link targets. Empty
// directories do not count, and neither do the names in skip at the top. It returns how many files and links it
// compared, and the differences, at most maxDiffs of them.
func Compare(want, got string, skip ...string) (n int, diffs []string, err error) {
	note := func(format string, args ...any) { diffs = append(diffs, fmt.Sprintf(format, args...)) }
	err = walk(want, skip, func(path string, d fs.DirEntry) error {
		n++
		what, err := differs(filepath.Join(want, path), filepath.Join(got, path))
		if err != nil {
			return err
		}
		if what != "" {
			note("%s: %s", path, what)
		}
		return stopAt(diffs)
	})
	if err != nil && err != fs.SkipAll {
		return n, diffs, err
	}
	err = walk(got, skip, func(path string, d fs.DirEntry) error {
		if _, err := os.Lstat(filepath.Join(want, path)); err != nil {
			note("%s: not in the original", path)
		}
		return stopAt(diffs)
	})
	if err == fs.SkipAll {
		err = nil
	}
	return n, diffs, err
}

// maxDiffs is enough to see a pattern.
const maxDiffs = 10

func stopAt(diffs []string) error {
	if len(diffs) >= maxDiffs {
		return fs.SkipAll
	}
	return nil
}

// walk visits files and links, and names each by its path below root. It returns fs.SkipAll when visit does.
func walk(root string, skip []string, visit func(path string, d fs.DirEntry) error) error {
	stopped := false
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel := path[len(root)+1:]
		for _, s := range skip {
			if rel != s {
				continue
			}
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		err = visit(rel, d)
		stopped = err == fs.SkipAll
		return err
	})
	if err == nil && stopped {
		return fs.SkipAll
	}
	return err
}

// differs says in what two files differ, or nothing.
func differs(want, got string) (string, error) {
	a, err := os.Lstat(want)
	if err != nil {
		return "", err
	}
	b, err := os.Lstat(got)
	if err != nil {
		return "missing", nil
	}
	switch {
	case a.Mode().Type() != b.Mode().Type():
		return "another kind of file", nil
	case a.Mode()&fs.ModeSymlink != 0:
		x, err := os.Readlink(want)
		if err != nil {
			return "", err
		}
		if y, err := os.Readlink(got); err != nil || x != y {
			return "another link", err
		}
		return "", nil
	case a.Mode()&0o100 != b.Mode()&0o100:
		return "another executable bit", nil
	case a.Size() != b.Size():
		return "another size", nil
	}
	x, err := os.ReadFile(want)
	if err != nil {
		return "", err
	}
	y, err := os.ReadFile(got)
	if err != nil || !bytes.Equal(x, y) {
		return "other bytes", err
	}
	return "", nil
}

// Warm reads every file below root, so that the first to be measured finds the caches as the second does.
func Warm(root string) error {
	return walk(root, nil, func(path string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(filepath.Join(root, path))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(io.Discard, f)
		return err
	})
}

// Size is what the files below root hold in bytes, and how many there are. Sums of lengths, not of disk blocks:
// blocks would charge the store for the file system that it happens to be on.
func Size(root string) (bytes int64, files int, err error) {
	err = walk(root, nil, func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil {
			return err
		}
		bytes += info.Size()
		files++
		return nil
	})
	return bytes, files, err
}

// Append adds text to a file.
func Append(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
