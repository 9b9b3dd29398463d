package ignore

import (
	"strings"
	"testing"
)

// Each of these takes years by backtracking.
func TestHostilePatternsAreBounded(t *testing.T) {
	name := strings.Repeat("a", 255)
	deep := strings.Repeat("a/", 2000)
	for _, c := range []struct{ pattern, path, want string }{
		{strings.Repeat("*a", 100) + "*b", name, "-"},
		{strings.Repeat("*a", 100) + "*", name, "ignored"},
		{strings.Repeat("**a", 100) + "**b", name, "-"},
		{strings.Repeat("*?", 100) + "[b-z]", name, "-"},
		{"/" + strings.Repeat("*a", 100) + "*b", name, "-"},
		{strings.Repeat("**/a/", 200) + "b", deep + "a", "-"},
		{strings.Repeat("**/a/", 200) + "b", deep + "b", "ignored"},
		{strings.Repeat("**/*a*/", 200) + "b", deep + "a", "-"},
		{strings.Repeat("a**/", 200) + "b", deep + "a", "-"},
		{"a" + strings.Repeat("**/", 50000) + "b", deep + "b", "ignored"},
		{"/" + strings.Repeat("*/", 100000), "a/a/a", "-"},
		{strings.Repeat("[ab]", 100000), name, "-"},
		{strings.Repeat("[", 100000), name, "-"},
		{"[" + strings.Repeat("[:alpha:]", 10000) + "]", "a", "ignored"},
	} {
		got, err := newTree(files{GitFile: c.pattern}).decision(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got != "-" {
			got = "ignored"
		}
		if got != c.want {
			t.Errorf("%.40s: %s, want %s", c.pattern, got, c.want)
		}
	}
}

// A pattern with two readings must not have four with two such places.
func TestReadingsDoNotMultiply(t *testing.T) {
	for _, pattern := range []string{"/a**/b**/c**/d", "/a**/**/**/**/b", "a**/**/**", "/a**/**/b**/**/c"} {
		if ways := compile(pattern); len(ways) > 3 {
			t.Errorf("%s: %d ways", pattern, len(ways))
		}
	}
}

// Small brackets are written out, but not so many that the table grows by more than the text.
func TestBracketsWrittenOut(t *testing.T) {
	for _, c := range []struct {
		pattern string
		words   int
	}{
		{"[Bb]in", 2}, {"[Ww][Ii][Nn]", 8}, {"[a-h]", 8}, {"[a-i]", 0}, {"[ab][ab][ab][ab]", 0}, {"[/]", 0}, {"[a]", 1},
	} {
		var tab table
		way := compile(c.pattern)[0]
		way[len(way)-1].name.variants(func(g *glob) { tab.add(g, 1, false) })
		if got := len(tab.whole.few); got != c.words || len(tab.globs) > 1 {
			t.Errorf("%s: %d words, want %d; %d globs", c.pattern, got, c.words, len(tab.globs))
		}
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	rules := Parse([]byte("*.o\n*.tar.gz\nx*\n*y*z\n/a/b\n/c*\n**/d/e\n[Bb]in/\n*[0-9a-f]\n"))
	s := NewStack(rules).Push("src", rules)
	if n := testing.AllocsPerRun(100, func() {
		for _, name := range []string{"main.c", "main.o", "x", "y-z", "b", "e", "Bin", "a.tar.gz", "0"} {
			s.Match(name, false)
			s.Match(name, true)
		}
	}); n != 0 {
		t.Errorf("Match: %v allocations", n)
	}
}

// Below the directory that bound patterns look at, all directories share one Stack.
func TestGoingDownIsFree(t *testing.T) {
	s := NewStack(Parse([]byte("*.o\n/a\n/b/c\n**/d/e\n"))).Push("x").Push("y")
	if s.Push("z") != s {
		t.Error("Push made a new Stack where nothing changes")
	}
	if n := testing.AllocsPerRun(100, func() { s.Push("z", nil) }); n != 0 {
		t.Errorf("Push: %v allocations", n)
	}
	if s.Push("d").Match("e", false) != Ignored {
		t.Error("d/e is not ignored below")
	}
}
