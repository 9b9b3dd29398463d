package sign

import (
	"crypto/ed25519"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// TestSpecVector checks the example of the format's page. Ed25519 signs without chance, so the bytes are the same for ever.
func TestSpecVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/sign.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "```vector\n")
	if !ok {
		t.Fatal("the page has no vector")
	}
	block, _, _ = strings.Cut(block, "```")
	got := map[string]string{}
	for line := range strings.Lines(block) {
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[name] += digits
	}
	seed, err := hex.DecodeString(got["seed"])
	if err != nil || len(seed) != ed25519.SeedSize {
		t.Fatalf("seed of %d bytes, %v", len(seed), err)
	}
	raw, err := hex.DecodeString(got["id"])
	if err != nil || len(raw) != len(change.ID{}) {
		t.Fatalf("id of %d bytes, %v", len(raw), err)
	}
	id := change.ID(raw)
	e, err := Change(signerOf(t, ed25519.NewKeyFromSeed(seed)), id)
	if err != nil {
		t.Fatal(err)
	}
	part, err := EncodePart([]Entry{{Kind: 9, Bytes: []byte("new")}, e})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"message": ChangeMessage(id), "signature": e.Bytes, "part": part} {
		if got[name] != hex.EncodeToString(want) {
			t.Errorf("%s on the page is\n%s\nwant\n%x", name, got[name], want)
		}
	}
	back, err := DecodePart(part)
	if err != nil || len(back) != 2 || CheckEntry(id, back[0]) != nil {
		t.Errorf("the part comes back as %v, %v", back, err)
	}
}
