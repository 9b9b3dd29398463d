package sync

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// TestBundleVector holds the vector of docs/spec/bundle.md against what the code makes.
func TestBundleVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/bundle.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	text, _, _ := strings.Cut(rest, "```")
	want, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, Raw)
	if err != nil {
		t.Fatal(err)
	}
	c := &change.Change{Message: "Begin"}
	meta, body := change.Encode(c)
	id := change.Sum(meta, body)
	// What package state makes of the set of this one change.
	state, err := hex.DecodeString(oneChange)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(w.Bundle(false), w.Change(&Change{ID: id, Meta: meta, Body: body, Change: c}, nil),
		w.Update(&Update{Kind: Bookmark, Name: "main", Added: []change.ID{id}, State: [32]byte(state)}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the code makes another bundle than the page has:\n%s", dump(b.Bytes()))
	}
	changes, updates, err := read(want, 1<<20)
	if err != nil || changes != 1 || len(updates) != 1 || updates[0].Name != "main" || updates[0].Added[0] != id {
		t.Errorf("%d changes, %v, %v", changes, updates, err)
	}
}

const oneChange = "c07dee1f65ce6aa624192dfc07da2de60462ec4553923d592c18f9840a73b460"

func dump(b []byte) string {
	var s strings.Builder
	for ; len(b) > 0; b = b[min(len(b), 32):] {
		s.WriteString(hex.EncodeToString(b[:min(len(b), 32)]) + "\n")
	}
	return s.String()
}
