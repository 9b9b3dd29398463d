package odb

import "testing"

// FuzzText: what a repository's config says, and the header of a loose object, is read or refused.
func FuzzText(f *testing.F) {
	f.Add("[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n")
	f.Add("blob 12\x00")
	f.Add("tree 99999999999999999999\x00")
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = parseConfig(s)
		if _, _, n, err := parseLooseHeader([]byte(s)); err == nil && n > len(s) {
			t.Errorf("a header of %d bytes in %d", n, len(s))
		}
	})
}
