package revlog

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// memFS is two files in memory.
type memFS struct{ index, data []byte }

func (m memFS) Open(name string) (File, error) {
	switch {
	case strings.HasSuffix(name, ".i"):
		return memFile{bytes.NewReader(m.index)}, nil
	case strings.HasSuffix(name, ".d"), strings.HasSuffix(name, ".dat"), strings.HasSuffix(name, ".idx"):
		return memFile{bytes.NewReader(m.data)}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

type memFile struct{ *bytes.Reader }

func (memFile) Close() error           { return nil }
func (f memFile) Size() (int64, error) { return f.Reader.Size(), nil }
func (f memFile) Map(n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := f.ReadAt(b, 0)
	return b, err
}
func (memFile) Unmap([]byte) error { return nil }

// Whatever the files hold, opening and reading end with texts that have their hash or with errors that name the file.
func FuzzOpen(f *testing.F) {
	for _, split := range []bool{false, true} {
		path := sample(f, 4, split)
		index, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		data, _ := os.ReadFile(strings.TrimSuffix(path, ".i") + ".d")
		f.Add(index, data)
	}
	f.Fuzz(func(t *testing.T, index, data []byte) {
		l, err := Open("fuzz.i", &Options{FS: memFS{index, data}, MaxText: 1 << 16})
		if err != nil {
			mustName(t, err)
			return
		}
		defer l.Close()
		next := Rev(0)
		whole := l.Entries(func(rev Rev, e *Entry) error {
			if alone, err := l.Entry(rev); rev != next || err != nil || alone != *e {
				t.Fatalf("entry %d of all is %+v of revision %d, alone %+v, %v", next, e, rev, alone, err)
			}
			next++
			return nil
		})
		if _, err := l.Entry(next); int(next) < l.Len() && (whole == nil || err == nil || whole.Error() != err.Error()) {
			t.Fatalf("all entries end at %d of %d with %v, that one has %v", next, l.Len(), whole, err)
		}
		r := l.Reader()
		defer r.Close()
		for rev := range Rev(min(l.Len(), 64)) {
			e, err := l.Entry(rev)
			mustName(t, err)
			raw, rerr := r.Raw(rev)
			mustName(t, rerr)
			if rerr == nil && e.Flags&unhashed == 0 {
				p1, _ := l.Node(e.P1)
				p2, _ := l.Node(e.P2)
				if HashText(raw, p1, p2) != e.Node {
					t.Fatalf("revision %d is read with a wrong hash", rev)
				}
			}
			if err == nil {
				got, err := l.Rev(e.Node)
				if first, _ := l.Node(got); err != nil || e.Node != first {
					t.Fatalf("revision %d is not found by its node: %v", rev, err)
				}
			}
		}
	})
}

func mustName(t *testing.T, err error) {
	t.Helper()
	var named *Error
	if err != nil && !errors.As(err, &named) {
		t.Fatalf("an error that names no file: %v", err)
	}
}

// Deltas composed do what they do one by one, or are refused as they are.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("a text to change"), append(append(be32(1), be32(2)...), append(be32(1), 'X')...), append(append(be32(0), be32(9)...), be32(0)...))
	f.Fuzz(func(t *testing.T, text, first, second []byte) {
		got, err := fold(text, [][]byte{first, second})
		want, ok := applyPlainly(text, first)
		if ok {
			want, ok = applyPlainly(want, second)
		}
		if ok != (err == nil) {
			t.Fatalf("one by one: %v, composed: %v", ok, err)
		}
		if ok && !bytes.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// Chunks decode as the libraries that others use decode them, and never to more than the limit.
func FuzzChunk(f *testing.F) {
	for kind := Zstd; kind <= None; kind++ {
		c := encoder{kind: kind}
		for _, text := range [][]byte{lineText(0), []byte("short"), bytes.Repeat([]byte{7}, 4000)} {
			chunk, err := c.encode(text)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(bytes.Clone(chunk))
		}
	}
	const limit = 1 << 16
	other, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(limit))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		var d decoder
		got, err := d.decode(nil, chunk, 100, limit)
		if len(got) > limit {
			t.Fatalf("%d bytes", len(got))
		}
		if len(chunk) == 0 {
			return
		}
		switch chunk[0] {
		case chunkZlib:
			r, zerr := zlib.NewReader(bytes.NewReader(chunk))
			var want []byte
			if zerr == nil {
				want, zerr = io.ReadAll(io.LimitReader(r, limit+1))
			}
			// A wrong checksum is nobody's fault here.
			if err == nil && zerr != nil && !errors.Is(zerr, zlib.ErrChecksum) {
				t.Fatalf("decoded, though %v", zerr)
			}
			if err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%q, want %q", got, want)
			}
		case chunkZstd:
			want, zerr := other.DecodeAll(chunk, nil)
			if err == nil && (zerr != nil || !bytes.Equal(got, want)) {
				t.Fatalf("%q, want %q: %v", got, want, zerr)
			}
		}
	})
}

// What parses as a manifest is put together again as it was.
func FuzzManifest(f *testing.F) {
	node := strings.Repeat("0a", 20)
	f.Add([]byte("a\x00" + node + "\nb/c\x00" + node + "x\nd\x00" + node + "t\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := Manifest{Text: text}
		var again []byte
		for m.Next() {
			var err error
			if again, err = AppendManifest(again, m.Entry); err != nil {
				return
			}
		}
		if m.Err() == nil && !bytes.Equal(again, text) {
			t.Fatalf("%q becomes %q", text, again)
		}
	})
}

// What parses as a changeset is put together again as it was.
func FuzzChangeset(f *testing.F) {
	f.Add([]byte(strings.Repeat("0a", 20) + "\nuser\n1 -3600 branch:x\x00close:1\na\nb\n\ndescription\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseChangeset(text)
		if err != nil || len(text) == 0 {
			return
		}
		c.Extra()
		c.Branch()
		c.Time()
		again, err := AppendChangeset(nil, c)
		if err == nil && !bytes.Equal(again, text) {
			t.Fatalf("%q becomes %q", text, again)
		}
	})
}

// What parses as a file's text is put together again, if its metadata is as Mercurial writes it.
func FuzzFile(f *testing.F) {
	f.Add([]byte("\x01\ncopy: a\ncopyrev: " + strings.Repeat("0a", 20) + "\n\x01\ncontents"))
	f.Add([]byte("\x01\n\x01\n\x01\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, contents, err := SplitFile(text)
		if err != nil {
			return
		}
		again, err := JoinFile(nil, m, contents)
		if err != nil {
			return
		}
		m2, contents2, err := SplitFile(again)
		if err != nil || !bytes.Equal(contents, contents2) || m2.CopySource != m.CopySource || m2.Censored != m.Censored {
			t.Fatalf("%q becomes %q: %v", text, again, err)
		}
	})
}
