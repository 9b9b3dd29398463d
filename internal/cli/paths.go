package cli

import (
	"strings"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
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
			return nil, &repo.Error{Text: "a path is empty", Next: "Write . for the current directory."}
		}
		if out[i], err = a.repo.Rel(dir, arg); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appendQuoted appends path as Git and patch read it: as it is, or in quotes with C's escapes.
func appendQuoted(dst []byte, path string) []byte { return append(dst, safepath.Quote(path)...) }
