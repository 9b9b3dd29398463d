package hgbridge

import (
	"slices"
	"testing"
)

func TestSubreposAreRead(t *testing.T) {
	node := "3f0e8b2d9c0a1b2c3d4e5f60718293a4b5c6d7e8"
	got, err := parseSubrepos([]byte("# ours\nlib = ../lib\nvendor/x = [git]https://example.org/x.git\nnew=[svn]file:///new\n[subpaths]\na = b\n"),
		[]byte(node+" lib\n0123 vendor/x\n9 gone\n"))
	want := []Subrepo{
		{"lib", "../lib", "hg", node},
		{"new", "file:///new", "svn", ""},
		{"vendor/x", "https://example.org/x.git", "git", "0123"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range [][2]string{{"no equals sign", ""}, {"", "onlystate"}} {
		if got, err := parseSubrepos([]byte(c[0]), []byte(c[1])); err == nil {
			t.Errorf("%q is read as %+v", c, got)
		}
	}
}
