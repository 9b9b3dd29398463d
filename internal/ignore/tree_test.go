package ignore

import (
	"fmt"
	"strings"
	"testing"
)

// files are ignore files by path, of which those named user and exclude hold for the whole tree.
type files map[string]string

const (
	userFile    = "user"
	excludeFile = "exclude"
)

// tree matches paths by ignore files in memory, each parsed once.
type tree struct {
	global *Stack
	rules  map[string][]*Rules // by directory
}

func newTree(fs files) *tree {
	t := &tree{rules: map[string][]*Rules{}}
	load := func(name string) *Rules { return Parse([]byte(fs[name])).WithSource(name) }
	t.global = NewStack(load(userFile), load(excludeFile))
	for name := range fs {
		if dir, own := cutLast(name); own == GitFile || own == OxyFile {
			prefix := strings.TrimSuffix(name, own)
			t.rules[dir] = []*Rules{load(prefix + GitFile), load(prefix + OxyFile)}
		}
	}
	return t
}

func cutLast(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// decision is what decides of a path, in the form "file:line pattern", or "-" if nothing does.
func (t *tree) decision(path string) (string, error) {
	path, isDir := strings.CutSuffix(path, "/")
	load := func(dir string) ([]*Rules, error) { return t.rules[dir], nil }
	source, line, text, v, err := ExplainPath(t.global, load, path, isDir)
	if err != nil || v == None {
		return "-", err
	}
	if (v == Included) != strings.HasPrefix(text, "!") {
		return "", fmt.Errorf("verdict %v by pattern %q", v, text)
	}
	return fmt.Sprintf("%s:%d %s", source, line, text), nil
}

func (t *tree) check(tb testing.TB, path, want string) {
	tb.Helper()
	got, err := t.decision(path)
	if err != nil {
		tb.Errorf("%q: %v", path, err)
	} else if got != want {
		tb.Errorf("%q: decided by %q, want %q", path, got, want)
	}
}
