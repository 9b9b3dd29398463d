package revlog

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The example on the format's page is what is written, and is read.
func TestSpecVector(t *testing.T) {
	page, err := os.ReadFile("../docs/spec/revlog.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	text, _, _ := strings.Cut(rest, "```")
	want, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"a first line\nand a second\nand a third\n", "a first line\nand a second\nand another\n"}
	path := filepath.Join(t.TempDir(), "example.i")
	w, err := OpenWriter(path, &WriterOptions{Compression: None})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if _, _, err := w.Append([]byte(text), Rev(i-1), Null, Rev(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("written:\n%x\nthe page has:\n%x", got, want)
	}
	if err := os.WriteFile(path, want, 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i, text := range texts {
		if got, err := l.Text(Rev(i)); err != nil || string(got) != text {
			t.Errorf("revision %d of the page is %q: %v", i, got, err)
		}
	}
	if base, err := l.Base(1); err != nil || base != 0 {
		t.Errorf("the page's second revision is a delta against %d: %v", base, err)
	}
}
