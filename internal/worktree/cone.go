package worktree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/safepath"
)

// maxConeDirs bounds the directories of a cone: more are not chosen by hand, and each costs an element's look-up at every path.
const maxConeDirs = 10_000

// Cone says which files a sparse working copy has: all in its directories, and those that lie directly in a directory above
// one of these, the root first of all. A subrepo counts as the directory that it is. The nil Cone is the whole tree.
//
// A Cone does not change. Its methods may be called from many goroutines.
type Cone struct {
	dirs  []string // ascending, none beneath another
	in    map[string]struct{}
	above map[string]struct{} // the directories above those, with "" for the root
}

// NewCone makes the cone of some directories, in any order; what lies beneath another of them is left out. Errors name the
// directory that no repository holds.
func NewCone(dirs []string) (*Cone, error) {
	dirs = slices.Clone(dirs)
	slices.SortFunc(dirs, comparePaths) // then what lies beneath a directory follows it at once
	c := &Cone{in: map[string]struct{}{}, above: map[string]struct{}{"": {}}}
	for _, d := range dirs {
		if err := safepath.Check(d); err != nil {
			return nil, err
		}
		if n := len(c.dirs); n > 0 && beneath(d, c.dirs[n-1]) {
			continue
		}
		c.dirs = append(c.dirs, d)
		c.in[d] = struct{}{}
		for i := range len(d) {
			if d[i] == '/' {
				c.above[d[:i]] = struct{}{}
			}
		}
	}
	if len(c.dirs) > maxConeDirs {
		return nil, fmt.Errorf("%d directories are more than %d", len(c.dirs), maxConeDirs)
	}
	slices.Sort(c.dirs)
	return c, nil
}

// Dirs are the directories, ascending.
func (c *Cone) Dirs() []string { return slices.Clone(c.dirs) }

// Holds tells whether the working copy has the entry of a path, which is of a kind.
func (c *Cone) Holds(path string, kind Kind) bool {
	if c == nil {
		return true
	}
	if kind != Subrepo {
		dir, _ := split(path)
		if _, ok := c.above[dir]; ok {
			return true
		}
	}
	return c.Within(path)
}

// Within tells whether a directory belongs to the working copy with all that is in it.
func (c *Cone) Within(dir string) bool {
	if c == nil {
		return true
	}
	for i := range len(dir) {
		if dir[i] == '/' {
			if _, ok := c.in[dir[:i]]; ok {
				return true
			}
		}
	}
	_, ok := c.in[dir]
	return ok
}

// Enters tells whether a directory belongs to the working copy, perhaps in part.
func (c *Cone) Enters(dir string) bool {
	if c == nil {
		return true
	}
	_, above := c.above[dir]
	return above || c.Within(dir)
}

// Equal tells whether two cones hold the same.
func (c *Cone) Equal(o *Cone) bool {
	if c == nil || o == nil {
		return c == o
	}
	return slices.Equal(c.dirs, o.dirs)
}

// With is the cone with more directories.
func (c *Cone) With(dirs []string) (*Cone, error) { return NewCone(slices.Concat(c.dirs, dirs)) }

// Without is the cone without directories that it names. One that it does not name is the second result.
func (c *Cone) Without(dirs []string) (next *Cone, unknown string, err error) {
	for _, d := range dirs {
		if _, ok := c.in[d]; !ok {
			return nil, d, nil
		}
	}
	left := slices.DeleteFunc(slices.Clone(c.dirs), func(d string) bool { return slices.Contains(dirs, d) })
	next, err = NewCone(left)
	return next, "", err
}

// Over names one of the cone's directories that lies above a path, or "".
func (c *Cone) Over(path string) string {
	for d := path; strings.Contains(d, "/"); {
		d, _ = split(d)
		if _, ok := c.in[d]; ok {
			return d
		}
	}
	return ""
}
