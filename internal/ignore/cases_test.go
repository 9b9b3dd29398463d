package ignore

import (
	"maps"
	"strings"
	"testing"
)

// A case has the root's rules, further ignore files, and what decides of paths: "PATH => N" is line N of the root's
// file, "PATH => NAME:N" of another, "PATH => -" is nothing.
type matchCase struct {
	name  string
	rules string
	more  files
	want  []string
}

func (c *matchCase) files() files {
	fs := files{GitFile: c.rules}
	maps.Copy(fs, c.more)
	return fs
}

var cases = []matchCase{
	{"names match at any depth", "foo\n", nil, []string{"foo => 1", "a/foo => 1", "foo/ => 1", "foox => -", "xfoo => -"}},
	{"all below an ignored directory is ignored", "foo\n!bar\n", nil, []string{"foo/bar => 1", "bar => 2", "a/bar => 2"}},
	{"the last pattern decides", "*.o\n!a.o\na.*\n!a.c\n", nil, []string{"b.o => 1", "a.o => 3", "a.c => 4"}},
	{"and decides across shapes", "x*y\n!*.y\nx.y\n!x.*\n[x]?y\n", nil, []string{"x.y => 5", "xay => 5", "xaay => 1", "x.z => 4", "a.y => 2"}},
	{"a slash at the end: directories only", "foo/\n", nil, []string{"foo/ => 1", "foo/x => 1", "a/foo/ => 1", "b/foo => -"}},
	{"files fall back to an earlier pattern", "foo\n!foo/\n", nil, []string{"a/foo => 1", "foo/ => 2", "foo/x => -"}},
	{"a slash at the start binds", "/foo\n", nil, []string{"foo => 1", "a/foo => -"}},
	{"a slash within binds", "a/foo\n", nil, []string{"a/foo => 1", "b/a/foo => -", "a/foo/x => 1", "a/ => -"}},
	{"a star stops at a slash", "/a/*\n*b/c\n", nil, []string{"a/x => 1", "a/x/y => 1", "a/ => -", "b/c => 2", "xb/c => 2", "x/b/c => -"}},
	{"keep one file of a directory", "/a/*\n!/a/keep\n", nil, []string{"a/keep => 2", "a/x => 1", "b/keep => -"}},
	{"too late to keep a file of an ignored directory", "/a/\n!/a/keep\n", nil, []string{"a/keep => 1"}},
	{"nested file overrides", "*.o\n", files{"a/.gitignore": "!x.o\n/y.o\n"}, []string{
		"a/x.o => a/.gitignore:1", "a/y.o => a/.gitignore:2", "a/z.o => 1", "x.o => 1", "a/b/x.o => a/.gitignore:1", "a/b/y.o => 1"}},
	{"nested file of an ignored directory is not read", "a\n", files{"a/.gitignore": "!x\n"}, []string{"a/x => 1"}},
	{"nested file binds to its directory", "", files{"a/.gitignore": "/x\ny/z\n"}, []string{
		"a/x => a/.gitignore:1", "x => -", "a/b/x => -", "a/y/z => a/.gitignore:2", "y/z => -"}},
	{"exclude file over user file, both below the tree's", "!r\n", files{"user": "r\nu\ne\nb/c\n", "exclude": "!e\n/f\n"}, []string{
		"r => 1", "u => user:2", "e => exclude:1", "x/e => exclude:1", "f => exclude:2", "x/f => -", "b/c => user:4", "x/b/c => -"}},

	{"**/ at the start", "**/foo\n**/a/b\n", nil, []string{"foo => 1", "x/y/foo => 1", "a/b => 2", "x/a/b => 2", "x/a/y/b => -"}},
	{"/** at the end", "a/**\n", nil, []string{"a/ => -", "a/x => 1", "a/x/y => 1", "b/a/x => -"}},
	{"/**/ within", "a/**/b\n", nil, []string{"a/b => 1", "a/x/b => 1", "a/x/y/b => 1", "ab => -", "a/xb => -"}},
	{"**/ more than once", "**/a/**/**/b\n", nil, []string{"a/b => 1", "x/a/b => 1", "x/a/y/z/b => 1", "x/b => -"}},
	{"everything, bound", "/**\n!/a/\n", nil, []string{"x => 1", "a/ => 2", "a/x => 1"}},
	{"everything but a type", "*\n!*/\n!*.c\n", nil, []string{"x => 1", "a/ => 2", "a/x.c => 3", "a/b/x.h => 1"}},
	{"stars beside other bytes are one star", "x?/a**b\nx?/**b\n", nil, []string{"xx/ab => 2", "xx/azb => 2", "xx/a/b => -", "xx/zb => 2", "xx/z/b => -"}},
	{"stars without a slash are one star", "a**b\n", nil, []string{"azb => 1", "a/b => -"}},
	{"stars that end the literal start cross slashes: end", "/a**\n!/ab\n", nil, []string{"a => 1", "ax => 1", "ab/ => 2", "ab/x => 1"}},
	{"stars that end the literal start cross slashes: slash", "/a**/b\n", nil, []string{"ab => 1", "a/b => 1", "ax/b => 1", "a/x/y/b => 1", "abx => -"}},
	{"stars that end the literal start cross slashes: repeated", "/a**/**/**/b\n", nil, []string{"ab => 1", "ax/b => 1", "axb => -"}},
	{"stars that end the literal start cross slashes: nothing left", "x/a**/**\n", nil, []string{"x/a => 1", "x/ab => 1", "x/b => -"}},
	{"and only there", "/?**/b\n", nil, []string{"ab => -", "a/b => 1", "ax/b => 1", "ax/y/b => -"}},
	{"an escaped slash needs a directory", "a/**\\/b\n", nil, []string{"a/b => -", "a/x/b => 1", "a/x/y/b => 1"}},
	{"an escaped slash is a slash", "a\\/b\n", nil, []string{"a/b => 1", "x/a/b => -"}},

	{"comments, blank lines, escapes", "# foo\n\n\\#x\n\\!y\n#x\n", nil, []string{"# foo => -", "#x => 3", "!y => 4"}},
	{"only the first ! negates", "*\n!!a\n!#b\n", nil, []string{"!a => 2", "a => 1", "#b => 3"}},
	{"spaces at the end", "a  \nb\\ \nc\\  \nd\\\\ \n e\n", nil, []string{"a => 1", "b  => 2", "b => -", "c  => 3", "d\\ => 4", " e => 5", "e => -"}},
	{"a line of spaces", "   \n", nil, []string{"  => -", "a => -"}},
	{"other white space counts", "a\t\n", nil, []string{"a => -", "a\t => 1"}},
	{"CR LF", "a\r\nb \r\nc\r\r\n\r\nd/\r\n", nil, []string{"a => 1", "b => 2", "b  => -", "c\r => 3", "c => -", "d/ => 5", "e/d => -"}},
	{"no newline at the end", "a\nb\r", nil, []string{"b => 2"}},
	{"byte order mark", "\ufeffa\n\ufeffb\n", nil, []string{"a => 1", "b => -", "\ufeffb => 2"}},
	{"NUL ends a pattern", "a\x00b\n", nil, []string{"a => 1"}},
	{"only slashes", "/\n//\n!/\n///\n", nil, []string{"a => -", "a/ => -"}},
	{"an empty name within", "a//b\n//c\nd//\na/**//b\n", nil, []string{"a/b => -", "c => -", "d/ => -", "a/x/b => -"}},
	{"backslash at the end", "a\\\na\\/\n", nil, []string{"a => -", "a\\ => -", "a\\/ => -"}},
	{"brackets", "[a-c]x\n[!a]y\n[^a]z\n[]]v\n[\\]]w\n", nil, []string{"bx => 1", "dx => -", "by => 2", "ay => -", "bz => 3", "az => -", "]v => 4", "]w => 5"}},
	{"classes", "[[:digit:][:upper:]]x\n[[:nope:]]y\n", nil, []string{"1x => 1", "Ax => 1", "ax => -", "ny => -"}},
	{"unclosed bracket", "[a\na[\n", nil, []string{"[a => -", "a => -", "a[ => -"}},
	{"a bracket with a slash binds and does not match it", "a[/]b\nc[/x]d\n", nil, []string{"a/b => -", "cxd => 2", "x/cxd => -"}},
	{"question marks are bytes", "?\n??\n", nil, []string{"a => 1", "é => 2"}},
	{"letter case counts", "Foo\n[Bb]in\n", nil, []string{"foo => -", "bin => 2", "Bin => 2", "bIn => -"}},
}

func (t *tree) checkCase(tb testing.TB, want string) {
	tb.Helper()
	path, by, _ := strings.Cut(want, " => ")
	got, err := t.decision(path)
	if err != nil {
		tb.Errorf("%q: %v", path, err)
		return
	}
	got, _, _ = strings.Cut(got, " ")
	if got = strings.TrimPrefix(got, GitFile+":"); got != by {
		tb.Errorf("%q: decided by %q, want %q", path, got, by)
	}
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tr := newTree(c.files())
			for _, want := range c.want {
				tr.checkCase(t, want)
			}
		})
	}
}

func TestCasesAgreeWithGit(t *testing.T) {
	g := newGitTree(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, want := range c.want {
				path, _, _ := strings.Cut(want, " => ")
				paths = append(paths, path)
			}
			g.compare(t, c.files(), paths)
			g.clear(t)
		})
	}
}

func TestEmptyRules(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# x\n", "\ufeff", "[a\n", "/\n", "\r\n", "a//b", strings.Repeat("?", maxName+1)} {
		if !Parse([]byte(text)).Empty() {
			t.Errorf("%q is not empty", text)
		}
	}
	if Parse([]byte("a")).Empty() {
		t.Error("a is empty")
	}
}

func TestPathWithEmptyName(t *testing.T) {
	for _, path := range []string{"", "/a", "a/", "a//b"} {
		if _, err := MatchPath(NewStack(), func(string) ([]*Rules, error) { return nil, nil }, path, false); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
}
