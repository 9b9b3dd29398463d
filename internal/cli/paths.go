package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/oxy-vcs/oxy/internal/repo"
)

// paths shows repository paths as a person in the working directory would write them.
type paths struct {
	here []string // the elements of the working directory's own repository path
}

func newPaths(here string) *paths {
	p := &paths{}
	if here != "" && here != "." {
		p.here = strings.Split(here, "/")
	}
	return p
}

// append appends path, relative and quoted where it needs to be.
func (p *paths) append(dst []byte, path string) []byte {
	if len(p.here) == 0 {
		return appendQuoted(dst, path)
	}
	rest, up := path, 0
	for i, element := range p.here {
		first, after, found := strings.Cut(rest, "/")
		if !found || first != element {
			up = len(p.here) - i
			break
		}
		rest = after
	}
	if up == 0 && rest == "" {
		return append(dst, "./"...)
	}
	if up == 0 {
		return appendQuoted(dst, rest)
	}
	return appendQuoted(dst, strings.Repeat("../", up)+rest)
}

// text is append for a single path.
func (p *paths) text(path string) string { return string(p.append(nil, path)) }

// show gives how to show paths. It needs the open repository.
func (a *app) show() *paths {
	if a.shown == nil {
		a.shown = newPaths("")
		if dir, err := a.cwd(); err == nil && dir != a.repo.Root() {
			if here, err := a.repo.Rel(dir, "."); err == nil {
				a.shown = newPaths(here)
			}
		}
	}
	return a.shown
}

// rel turns the paths of a command line into repository paths.
func (a *app) rel(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	dir, err := a.cwd()
	if err != nil {
		return nil, err
	}
	out := make([]string, len(args))
	for i, arg := range args {
		if arg == "" {
			return nil, &repo.Error{Text: "a path is empty", Next: "write . for the current directory"}
		}
		if out[i], err = a.repo.Rel(dir, arg); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// needsQuotes reports whether path holds a byte that a line of text cannot hold as it is.
func needsQuotes(path string) bool {
	plain := true
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c < 0x20 || c == 0x7f || c == '"' || c == '\\' {
			return true
		}
		plain = plain && c < 0x80
	}
	return !plain && !printable(path)
}

// printable reports whether s is UTF-8 without characters that command a terminal or turn the text's direction.
func printable(s string) bool {
	for i, r := range s {
		switch {
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(s[i:]); size <= 1 {
				return false
			}
		case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return false
		}
	}
	return true
}

// appendQuoted appends path as Git and patch read it: as it is, or in quotes with C's escapes.
func appendQuoted(dst []byte, path string) []byte {
	if !needsQuotes(path) {
		return append(dst, path...)
	}
	dst = append(dst, '"')
	dst = appendEscaped(dst, path)
	return append(dst, '"')
}

func appendEscaped(dst []byte, s string) []byte {
	text := printable(s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); at >= 0 {
			dst = append(dst, '\\', `abtnvfr"\`[at])
		} else if c < 0x20 || c == 0x7f || c >= 0x80 && !text {
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
