package object

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestSpec compares the vector of docs/spec/git.md with what a commit is split into.
func TestSpec(t *testing.T) {
	page, err := os.ReadFile("../../../docs/spec/git.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "```vector\n")
	block, _, _ = strings.Cut(block, "```")

	raw := []byte("tree " + treeHex + "\nparent " + parentHex + "\nauthor Ada <ada@example.com> 1700000000 +0100\n" +
		"committer GitHub <noreply@github.com> 1700000060 -0930\nencoding ISO-8859-1\n" +
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n\nsubject\n\nno line feed")
	c, err := ParseCommit(SHA1, raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, fields := c.Split()
	var want strings.Builder
	show := func(key, value string) {
		for h := hex.EncodeToString([]byte(value)); h != ""; {
			cut := min(len(h), 64)
			fmt.Fprintf(&want, "%s %s\n", key, h[:cut])
			h = h[cut:]
		}
		if value == "" {
			fmt.Fprintf(&want, "%s\n", key)
		}
	}
	show("commit", string(raw))
	show("author-name", n.Name)
	show("author-email", n.Email)
	show("message", n.Message)
	for _, f := range fields {
		show(f.Key, f.Value)
	}
	if block != want.String() {
		t.Errorf("the page has\n%s\nand it should be\n%s", block, want.String())
	}
}
