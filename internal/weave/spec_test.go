package weave

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

func TestVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/weave.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	block, _, _ := strings.Cut(rest, "```")
	want := strings.Join(strings.Fields(block), "")
	w := New(Source{Change: 0, Size: 6, Hash: change.Hash{1}})
	h, _, err := w.Record([]Edit{{2, 4, 0, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Apply(Source{Change: 1, Size: 2}, h); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(w.Encode(nil)); got != want {
		t.Errorf("encodes as %s, the page says %s", got, want)
	}
	b, err := hex.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(b)
	if err != nil || back.String() != w.String() {
		t.Errorf("the page's bytes read as %v, %v", back, err)
	}
}
