package ignore

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestSpecVector checks the example of the format's page.
func TestSpecVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/ignore.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "```vector\n")
	if !ok {
		t.Fatal("the page has no vector")
	}
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	unhex := func(s string) string {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	tr := newTree(files{GitFile: unhex(lines[0])})
	for _, line := range lines[1:] {
		path, by, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(by); err != nil {
			t.Fatal(err)
		} else if n == 0 {
			by = "-"
		}
		tr.checkCase(t, unhex(path)+" => "+by)
	}
	if len(lines) < 10 {
		t.Errorf("%d lines", len(lines))
	}
}
