package safepath

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Rel turns an argument of the command line, relative to cwd or absolute, into a path in the repository whose working
// copy lies at root; the root itself is "". It goes by names alone: root and cwd must be absolute, and both with their
// symbolic links resolved or both not. Errors wrap those of Check, ErrOutside when the argument leaves the root.
func Rel(root, cwd, arg string) (string, error) {
	if arg == "" {
		return "", refuse(arg, ErrMalformed)
	}
	if !filepath.IsAbs(root) || !filepath.IsAbs(cwd) {
		return "", fmt.Errorf("find %s: root %s and directory %s must be absolute", Quote(arg), Quote(root), Quote(cwd))
	}
	target := arg
	if !filepath.IsAbs(arg) {
		target = filepath.Join(cwd, arg)
	}
	rel, err := filepath.Rel(root, target)
	if err != nil { // on Windows, another drive
		return "", refuse(arg, ErrOutside)
	}
	rel = filepath.ToSlash(rel)
	if rel == "." {
		return "", nil
	}
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return "", refuse(arg, ErrOutside)
	}
	if err := Check(rel); err != nil {
		return "", err
	}
	return rel, nil
}
