// Package safepath is the only gate for names and paths that come from outside: from a repository's content on their
// way to a working copy, and from a person. It works on names alone and knows neither files nor repositories. The rules
// and their reasons stand in docs/spec/names.md.
package safepath

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// MaxPath is the longest path in bytes: PATH_MAX of Linux, beyond which no file can be opened by path.
	MaxPath = 4096
	// MaxName is the longest path element in bytes: NAME_MAX of every usual file system.
	MaxName = 255
)

// What Check and its kin find. Errors wrap one of these with the path, quoted.
var (
	// ErrMalformed is a path that no repository holds: empty, with an empty or "." element, or with a NUL.
	ErrMalformed = errors.New("malformed path")
	// ErrOutside is a path that leads out of its root: absolute or with "..".
	ErrOutside = errors.New("path leads outside")
	// ErrTooLong is a path over MaxPath or an element over MaxName.
	ErrTooLong = errors.New("path is too long")
	// ErrReserved is an element that is ".oxy" or ".git", or opens one of them on some file system.
	ErrReserved = errors.New("name is reserved for a repository's own files")
	// ErrNotPortable is a name that Windows cannot hold.
	ErrNotPortable = errors.New("name cannot exist on Windows")
	// ErrBookmark is a name that is no good for a bookmark.
	ErrBookmark = errors.New("not a bookmark name")
)

// Check tells whether path, elements separated by "/", may stand in a repository and be written beneath the root of a
// working copy on any system. Whether Windows can hold it is left to CheckPortable.
func Check(path string) error {
	if len(path) > MaxPath {
		return refuse(path, ErrTooLong)
	}
	if strings.HasPrefix(path, "/") {
		return refuse(path, ErrOutside)
	}
	start, wary := 0, false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c > '\\' && c < utf8.RuneSelf: // first, for nearly all bytes are small letters
		case c > '/' && c < '\\':
		case c == '/':
			if err := checkName(path[start:i], wary); err != nil {
				return refuse(path, err)
			}
			start, wary = i+1, false
		case c == 0:
			return refuse(path, ErrMalformed)
		case c == '\\' || c >= utf8.RuneSelf: // with these an element may be an alias whatever it begins with
			wary = true
		}
	}
	if err := checkName(path[start:], wary); err != nil {
		return refuse(path, err)
	}
	return nil
}

// CheckName is Check for a single element: a name in a directory.
func CheckName(name string) error {
	if strings.IndexByte(name, '/') >= 0 {
		return refuse(name, ErrMalformed)
	}
	return Check(name)
}

// checkName judges an element without NUL; wary says that it may be an alias whatever it begins with.
func checkName(name string, wary bool) error {
	if name == "" {
		return ErrMalformed
	}
	switch name[0] {
	case '.':
		if name == "." {
			return ErrMalformed
		}
		if name == ".." {
			return ErrOutside
		}
		wary = true
	case 'g', 'G', 'o', 'O':
		wary = wary || len(name) > 4 && name[3] == '~'
	}
	if len(name) > MaxName {
		return ErrTooLong
	}
	if wary && Reserved(name) {
		return ErrReserved
	}
	return nil
}

// maxQuoted bounds what an error shows of a path: what is refused for its length is not printed in full.
const maxQuoted = 200

func refuse(path string, why error) error {
	if len(path) > maxQuoted {
		return fmt.Errorf("%s (%d bytes): %w", Quote(path[:maxQuoted]), len(path), why)
	}
	return fmt.Errorf("%s: %w", Quote(path), why)
}
