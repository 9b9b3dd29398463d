package sync

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
)

func stream(t *testing.T, write func(w *Writer) error) *Reader {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Zstd)
	if err == nil {
		err = errors.Join(write(w), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&b, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// A request says which directories are wanted and which contents, and no more of them than anybody needs.
func TestRequestOfAPart(t *testing.T) {
	q := &Request{Verb: Bring, Only: []string{"docs", "src/parser"}, Depth: 300}
	for i := range 3000 {
		q.Hashes = append(q.Hashes, change.Hash{byte(i), byte(i >> 8)})
	}
	got, err := stream(t, func(w *Writer) error { return w.Request(q) }).Request()
	if err != nil || cmp.Diff(q, got) != "" {
		t.Fatalf("%v %s", err, cmp.Diff(q, got))
	}
	q.Hashes = make([]change.Hash, maxBring+1)
	if _, err := stream(t, func(w *Writer) error { return w.Request(q) }).Request(); !errors.Is(err, ErrMalformed) {
		t.Errorf("too many contents: %v", err)
	}
	q = &Request{Verb: Fetch, Only: make([]string, maxOnly+1)}
	if _, err := stream(t, func(w *Writer) error { return w.Request(q) }).Request(); !errors.Is(err, ErrMalformed) {
		t.Errorf("too many directories: %v", err)
	}
	q = &Request{Verb: Fetch, Only: []string{strings.Repeat("x", 5000)}}
	if _, err := stream(t, func(w *Writer) error { return w.Request(q) }).Request(); !errors.Is(err, ErrMalformed) {
		t.Errorf("too long a directory: %v", err)
	}
}

// Contents come as they were sent; what is not read, or of another kind, ends the stream.
func TestContents(t *testing.T) {
	texts := []string{"a", strings.Repeat("0123456789", 300_000), "z"}
	send := func(w *Writer) error {
		for i, text := range texts {
			err := w.Content(change.Hash{byte(i)}, int64(len(text)), func(to io.Writer) error {
				_, err := io.WriteString(to, text)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	n := 0
	err := stream(t, send).Contents(func(h change.Hash, size int64, from io.Reader) error {
		b, err := io.ReadAll(from)
		if string(b) != texts[n] || int(h[0]) != n || size != int64(len(b)) {
			t.Errorf("content %d: %d bytes", n, len(b))
		}
		n++
		return err
	})
	if err != nil || n != len(texts) {
		t.Fatalf("%d: %v", n, err)
	}
	if err := stream(t, send).Contents(func(change.Hash, int64, io.Reader) error { return nil }); !errors.Is(err, ErrMalformed) {
		t.Errorf("nobody read it: %v", err)
	}
	other := func(w *Writer) error { return w.Ref(Ref{Kind: Bookmark, Name: "main"}) }
	if err := stream(t, other).Contents(func(_ change.Hash, _ int64, from io.Reader) error { _, err := io.Copy(io.Discard, from); return err }); !errors.Is(err, ErrMalformed) {
		t.Errorf("a name among contents: %v", err)
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, Raw)
	if err == nil {
		err = w.Content(change.Hash{}, 5, func(to io.Writer) error { _, err := io.WriteString(to, "four"); return err })
	}
	if err == nil {
		t.Error("one that is too short is sent")
	}
}
