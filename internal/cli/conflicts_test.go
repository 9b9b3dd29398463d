package cli

import (
	"testing"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func TestSideText(t *testing.T) {
	a := newApp(nil, Stdio{}, Env{Get: func(string) string { return "" }})
	for _, c := range []struct{ text, want string }{
		{"", ": no lines\n"},
		{"one\n", ":\n     | one\n"},
		{"no end", ":\n     | no end\n"},
		{"a\r\n\x1b[31mb\r\n", ":\n     | a\n     | ^[[31mb\n"},
		{"1\n2\n3\n4\n5\n6\n", ":\n     | 1\n     | 2\n     | 3\n     | 4\n     | 5\n     | 6\n"},
		{"1\n2\n3\n4\n5\n6\n7\n", ":\n     | 1\n     | 2\n     | 3\n     | 4\n     | 5\n     and 2 more lines\n"},
	} {
		if got := string(a.appendSideText(nil, []byte(c.text))); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestNextForConflicts(t *testing.T) {
	const edit, rename, take, keep = "edit files until no <<<<<<< mark is left", "give files other names with oxy mv",
		"take a side with oxy resolve --take N PATH", "keep what is there with oxy resolve PATH"
	text, name, life := repo.Conflict{Kind: "text", Line: 1}, repo.Conflict{Kind: "name"}, repo.Conflict{Kind: "life"}
	settled := repo.Conflict{Kind: "life", Settled: true}
	for _, c := range []struct {
		list []repo.Conflict
		want string
	}{
		{[]repo.Conflict{text}, edit + ", or " + take},
		{[]repo.Conflict{name}, rename + ", or " + keep},
		{[]repo.Conflict{life}, take + ", or " + keep},
		{[]repo.Conflict{life, name, text, settled}, edit + ", or " + rename + ", or " + take + ", or " + keep},
	} {
		if got := nextForConflicts(c.list); got != "Next: "+c.want+"; then oxy commit.\n" {
			t.Errorf("%v: %s", c.list, got)
		}
	}
	if got := nextForConflicts([]repo.Conflict{settled}); got != "Next: oxy commit records what was decided.\n" {
		t.Error(got)
	}
}

func TestConflictsBeneath(t *testing.T) {
	list := []repo.Conflict{{Path: "a/b", Place: "a/b"}, {Path: "ab", Place: "ab"}, {Path: "n~1", Place: "a/n"}}
	for _, c := range []struct {
		paths []string
		want  int
	}{{nil, 3}, {[]string{""}, 3}, {[]string{"a"}, 2}, {[]string{"a/b"}, 1}, {[]string{"n~1"}, 1}, {[]string{"a/n", "ab"}, 2}, {[]string{"x"}, 0}} {
		if got := len(conflictsBeneath(append([]repo.Conflict{}, list...), c.paths)); got != c.want {
			t.Errorf("beneath %q: %d, want %d", c.paths, got, c.want)
		}
	}
}
