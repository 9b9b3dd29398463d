package worktree

import (
	"cmp"
	"strings"
)

// comparePaths orders paths so that a directory is followed by all that lies beneath it: '/' comes before every other
// byte, where plain byte order would put "a-b" between "a" and "a/b".
func comparePaths(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := a[i], b[i]; x != y {
			if x == '/' {
				return -1
			}
			if y == '/' {
				return 1
			}
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareEntries orders files by directory, then name: the order of the manifest.
func compareEntries(a, b string) int {
	dirA, nameA := split(a)
	dirB, nameB := split(b)
	if dirA != dirB {
		return comparePaths(dirA, dirB)
	}
	return strings.Compare(nameA, nameB)
}

// split divides a path into its directory, "" for the root, and its last element.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
