package revlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A text that Mercurial censored is said to be, and the one after it is read though it was a delta against it.
func TestCensoredByMercurial(t *testing.T) {
	dir := t.TempDir()
	hg(t, dir, "init", ".")
	for i, text := range []string{"a secret\nand more\n", "no secret\nand more\n", "no secret\nand more\nand a line\n"} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		hg(t, dir, "commit", "-qAm", strings.Repeat("x", i+1))
	}
	hg(t, dir, "--config", "extensions.censor=", "censor", "-r", "0", "-t", "a reason", "file")
	l, err := Open(filepath.Join(dir, ".hg/store/data/file.i"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Text(0); !errors.Is(err, ErrCensored) {
		t.Errorf("the censored text: %v", err)
	}
	r := l.Reader()
	defer r.Close()
	raw, err := r.Raw(0)
	if err != nil {
		t.Fatal(err)
	}
	if m, _, err := SplitFile(raw); err != nil || !m.Censored || m.Reason != "a reason" {
		t.Errorf("the tombstone %q is read as %+v: %v", raw, m, err)
	}
	if text, err := l.Text(2); err != nil || string(text) != "no secret\nand more\nand a line\n" {
		t.Errorf("a later text is %q: %v", text, err)
	}
	if found := l.Verify(nil); len(found) > 0 {
		t.Error(found)
	}
}

// A text that LFS keeps elsewhere is said to be, and its pointer is there.
func TestExternalByMercurial(t *testing.T) {
	dir := t.TempDir()
	hg(t, dir, "init", ".")
	if err := os.WriteFile(filepath.Join(dir, "big"), []byte("contents that are kept elsewhere\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	hg(t, dir, "--config", "extensions.lfs=", "--config", "lfs.track=all()", "commit", "-qAm", "x")
	l, err := Open(filepath.Join(dir, ".hg/store/data/big.i"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Text(0); !errors.Is(err, ErrExternal) {
		t.Errorf("the external text: %v", err)
	}
	r := l.Reader()
	defer r.Close()
	if raw, err := r.Raw(0); err != nil || !strings.HasPrefix(string(raw), "version https://git-lfs.github.com/spec/v1\n") {
		t.Errorf("the pointer is %q: %v", raw, err)
	}
}

// What has a flag that says so is stored and read back without the hash of its text.
func TestFlaggedTextsAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.i")
	w, err := OpenWriter(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	tombstone, err := JoinFile(nil, Meta{Censored: true, Reason: "why"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, flags := range []Flags{FlagCensored, FlagExternal, FlagEllipsis} {
		if rev, err := w.AppendRaw(tombstone, Node{1, byte(i)}, Rev(i-1), Null, 0, flags); err != nil || rev != Rev(i) {
			t.Fatal(rev, err)
		}
	}
	if _, err := w.AppendRaw([]byte("text"), Node{2}, Null, Null, 0, 0); !errors.Is(err, ErrHash) {
		t.Errorf("a wrong node: %v", err)
	}
	if _, err := w.AppendRaw([]byte("text"), Node{2}, Null, Null, 0, 1); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an unknown flag: %v", err)
	}
	if _, _, err := w.Append([]byte("text"), 3, Null, 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("a parent that is not there: %v", err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := w.Flush(); !errors.Is(err, ErrClosed) {
		t.Errorf("a flush after the end: %v", err)
	}
	l, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for rev, want := range []error{ErrCensored, ErrExternal, nil} {
		if _, err := l.Text(Rev(rev)); !errors.Is(err, want) {
			t.Errorf("revision %d: %v, want %v", rev, err, want)
		}
	}
	if s, err := l.Summary(); err != nil || s.Flagged["censored"] != 1 || s.Flagged["external"] != 1 || s.Flagged["ellipsis"] != 1 {
		t.Errorf("%+v: %v", s, err)
	}
}

// Prefixes find what begins so, whatever their length.
func TestPrefixes(t *testing.T) {
	l, err := Open(sample(t, 300, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for rev := range Rev(300) {
		node, err := l.Node(rev)
		if err != nil {
			t.Fatal(err)
		}
		for digits := 1; digits <= 40; digits++ {
			prefix := node.String()[:digits]
			same := 0
			for other := range Rev(300) {
				if n, _ := l.Node(other); strings.HasPrefix(n.String(), prefix) {
					same++
				}
			}
			got, err := l.Prefix(prefix)
			if same == 1 && (err != nil || got != rev) || same > 1 && !errors.Is(err, ErrAmbiguous) {
				t.Fatalf("%s of %d revisions is found as %d: %v", prefix, same, got, err)
			}
			if digits > 8 && digits < 39 {
				digits += 5
			}
		}
	}
	for _, none := range []string{"", "x", strings.Repeat("0", 40), strings.Repeat("0", 41), "00000000000"} {
		if got, err := l.Prefix(none); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q is found as %d: %v", none, got, err)
		}
	}
	if rev, err := l.Rev(NullNode); err != nil || rev != Null {
		t.Errorf("the null node is %d: %v", rev, err)
	}
}

// Nodes that an attacker chose to fall into one bucket are found all the same.
func TestCrowdedNodesAreFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "crowd.i")
	var index []byte
	const n = 3000
	for i := range n {
		e := Entry{Size: 0, Base: Rev(i), P1: Null, P2: Null, Node: Node{7, 7, 7, 7, 7, byte(i >> 8), byte(i)}}
		index = e.append(index, version1|featureGeneralDelta)
	}
	if err := os.WriteFile(path, index, 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range n {
		if rev, err := l.Rev(Node{7, 7, 7, 7, 7, byte(i >> 8), byte(i)}); err != nil || rev != Rev(i) {
			t.Fatalf("revision %d is found as %d: %v", i, rev, err)
		}
	}
	if _, err := l.Prefix("0707"); !errors.Is(err, ErrAmbiguous) {
		t.Error(err)
	}
}
