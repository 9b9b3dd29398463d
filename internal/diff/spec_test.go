package diff

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

func TestVectorOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/diff.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	block, _, _ := strings.Cut(rest, "```")
	vector := map[string]string{}
	for line := range strings.Lines(block) {
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		vector[name] += string(b)
	}
	a, b := []byte(vector["a"]), []byte(vector["b"])
	var d Differ
	got := string(AppendUnified(nil, a, b, d.Lines(a, b, Options{}), Unified{Context: 1}))
	if got != vector["u"] {
		t.Errorf("the page says:\n%sthe code:\n%s%x", vector["u"], got, got)
	}
}
