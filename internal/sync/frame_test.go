package sync

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/oxy-vcs/oxy/internal/change"
)

// sample is a stream with a frame of each kind that a pack has.
func sample(t testing.TB, codec Codec) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, codec)
	if err != nil {
		t.Fatal(err)
	}
	c := &change.Change{Message: "Begin", Files: []change.File{{ID: change.FileID{Change: change.Self}, Path: "a",
		Writes: change.WritesPlace | change.WritesMode | change.WritesBody, Size: 2, Content: change.Hash{1}}}}
	meta, body := change.Encode(c)
	out := &Change{ID: change.Sum(meta, body), Meta: meta, Body: body, Change: c}
	err = errors.Join(w.Bundle(false), w.Change(out, func(w io.Writer, _ int) error { _, err := io.WriteString(w, "a\n"); return err }),
		w.Update(&Update{Kind: Bookmark, Name: "main", Added: []change.ID{out.ID, {5}}, State: [32]byte{9}}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read takes all that a stream has.
func read(b []byte, limit int64) (changes int, updates []*Update, err error) {
	r, err := NewReader(bytes.NewReader(b), limit)
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	if err := r.Bundle(); err != nil {
		return 0, nil, err
	}
	err = r.Pack(Receiver{
		Known: func(change.ID) bool { return false },
		Change: func(_ *Change, t *Texts) error {
			changes++
			for {
				_, from, err := t.Next()
				if errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				if _, err := io.Copy(io.Discard, from); err != nil {
					return err
				}
			}
		},
		Update: func(u *Update) error { updates = append(updates, u); return nil },
	})
	return changes, updates, err
}

func TestStream(t *testing.T) {
	for _, codec := range []Codec{Raw, Zstd} {
		changes, updates, err := read(sample(t, codec), 1<<20)
		if err != nil || changes != 1 || len(updates) != 1 || len(updates[0].Added) != 2 || updates[0].Added[1] != (change.ID{5}) {
			t.Errorf("codec %d: %d changes, %+v, %v", codec, changes, updates, err)
		}
	}
}

// TestEveryByte: a stream that was cut anywhere, or of which any one bit is another, is none.
func TestEveryByte(t *testing.T) {
	for _, codec := range []Codec{Raw, Zstd} {
		whole := sample(t, codec)
		for i := range whole {
			if _, _, err := read(whole[:i], 1<<20); !errors.Is(err, ErrMalformed) {
				t.Errorf("codec %d cut at %d: %v", codec, i, err)
			}
			spoiled := bytes.Clone(whole)
			spoiled[i] ^= 1 << (i % 8)
			if _, updates, err := read(spoiled, 1<<20); err == nil && (len(updates) != 1 || updates[0].State != [32]byte{9}) {
				t.Errorf("codec %d spoiled at %d: %+v", codec, i, updates)
			} else if err == nil && codec == Raw {
				t.Errorf("spoiled at %d: not noticed", i)
			}
		}
		if _, _, err := read(append(bytes.Clone(whole), 0), 1<<20); err == nil {
			t.Errorf("codec %d: what follows the end was not noticed", codec)
		}
	}
}

// frames is a raw stream of frames with right checksums, whatever they say.
func frames(list ...any) []byte {
	b := append([]byte(magic), byte(Raw))
	for i := 0; i < len(list); i += 2 {
		kind, payload := list[i].(frameKind), list[i+1].([]byte)
		b = append(b, byte(kind))
		b = binary.AppendUvarint(b, uint64(len(payload)))
		b = append(b, payload...)
		b = binary.LittleEndian.AppendUint64(b, checksum(uint64(i/2), kind, payload))
	}
	return b
}

// TestLies: lengths and counts that are not so cost nothing but an error.
func TestLies(t *testing.T) {
	id := make([]byte, 32)
	head := func(sizes ...uint64) []byte {
		b := bytes.Clone(id)
		for _, s := range sizes {
			b = binary.AppendUvarint(b, s)
		}
		return b
	}
	update := func(name string, size uint64) []byte {
		b := append([]byte{1, 0}, appendText(nil, name)...)
		return binary.AppendUvarint(append(b, make([]byte, 96)...), size)
	}
	version := []byte{Version}
	for name, b := range map[string][]byte{
		"a frame of 2^34 bytes":         append([]byte(magic), 0, 'U', 0x80, 0x80, 0x80, 0x80, 0x40),
		"a frame above its bound":       append([]byte(magic), 0, 'U', 0xff, 0xff, 0xff, 0x7f),
		"a length that is not shortest": append([]byte(magic), 0, 'U', 0x81, 0x00),
		"an unknown codec":              append([]byte(magic), 9),
		"a meta of 2^62 bytes":          frames(kindBundle, version, kindChange, head(1<<62, 0, 0, 1<<62)),
		"parts larger than the whole":   frames(kindBundle, version, kindChange, head(100, 100, 0, 150)),
		"a body that does not come":     frames(kindBundle, version, kindChange, head(10, 100<<20, 0, 200<<20), kindEnd, []byte{}),
		"signatures without end":        frames(kindBundle, version, kindChange, head(10, 10, 1<<30, 2<<30)),
		"data of no item":               frames(kindBundle, version, kindData, []byte("x")),
		"more data than it said":        frames(kindBundle, version, kindUpdate, update("main", 1), kindData, []byte("xy")),
		"empty data":                    frames(kindBundle, version, kindUpdate, update("main", 1), kindData, []byte{}),
		"a log of 2^40 bytes":           frames(kindBundle, version, kindUpdate, update("main", 1<<40)),
		"a log of many from nothing":    frames(kindBundle, version, kindUpdate, update("main", 8), kindData, []byte{0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7e, 0}),
		"a name that is one of Git's":   frames(kindBundle, version, kindUpdate, update("HEAD", 2), kindData, []byte{0, 0}),
		"an unknown kind":               frames(kindBundle, version, frameKind('?'), []byte{}),
		"an end with something":         frames(kindBundle, version, kindEnd, []byte{1}),
		"no bundle":                     frames(kindRequest, version),
		"no end":                        frames(kindBundle, version),
	} {
		if _, _, err := read(b, 1<<30); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBombs: what a few bytes decompress to is bounded, and so is an endless stream.
func TestBombs(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(magic)
	b.WriteByte(byte(Zstd))
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(frames(kindBundle, []byte{Version})[len(magic)+1:]); err != nil {
		t.Fatal(err)
	}
	number := uint64(1)
	zeros := make([]byte, maxFrame)
	for range 64 {
		f := append([]byte{'C'}, binary.AppendUvarint(nil, maxFrame)...)
		f = append(f, zeros...)
		f = binary.LittleEndian.AppendUint64(f, checksum(number, kindChange, zeros))
		if _, err := z.Write(f); err != nil {
			t.Fatal(err)
		}
		number++
	}
	z.Close()
	if b.Len() > 100<<10 {
		t.Fatalf("a bomb of %d bytes", b.Len())
	}
	if _, _, err := read(b.Bytes(), 1000); !errors.Is(err, ErrTooMuch) {
		t.Errorf("%v", err)
	}
	// A window that a reader will not make.
	wide, err := zstd.NewWriter(io.Discard, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	var big bytes.Buffer
	big.WriteString(magic)
	big.WriteByte(byte(Zstd))
	wide.Reset(&big)
	for range 20 {
		if _, err := wide.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	wide.Close()
	if _, _, err := read(big.Bytes(), 1<<30); !errors.Is(err, ErrMalformed) {
		t.Errorf("%v", err)
	}
}

func TestRemoteTextIsClean(t *testing.T) {
	if got := clean([]byte("a\x1b[2J\nb\u202ec" + strings.Repeat("x", 5000))); strings.ContainsAny(got, "\x1b\n\u202e") || len(got) > maxText+10 {
		t.Errorf("%q", got)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]Address{
		"/srv/project":                {Scheme: Path, Path: "/srv/project"},
		"../project":                  {Scheme: Path, Path: "../project"},
		`C:\project`:                  {Scheme: Path, Path: `C:\project`},
		"./a:b":                       {Scheme: Path, Path: "./a:b"},
		"example.org:project":         {Scheme: SSH, Host: "example.org", Path: "project"},
		"ada@example.org:/srv/it's":   {Scheme: SSH, Host: "ada@example.org", Path: "/srv/it's"},
		"ssh://ada@example.org:22/p":  {Scheme: SSH, Host: "ada@example.org", Port: "22", Path: "/p"},
		"https://example.org/project": {Scheme: HTTP, URL: "https://example.org/project"},
		"http://localhost:8080/":      {Scheme: HTTP, URL: "http://localhost:8080"},
	} {
		if got, err := ParseAddress(in); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "-x", "--upload-pack=touch x", "ext::sh -c touch% x", "fd::3", "ssh://-oProxyCommand=x/p", "ssh://a@-oProxyCommand=x/p",
		"-oProxyCommand=x:p", "a b:p", "host\r:p", "host:", "ssh:///p", "ssh://host:x/p", "ssh://host;touch x/p", "$(x):p", "`x`:p", "host:-p", "@host:p",
		"http:///x", "http://h/\x00", "http://h/?a=b", "file:///x", "git://h/x", "x\u202ey", "x\xff", strings.Repeat("a", 5000)} {
		if a, err := ParseAddress(in); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %+v, %v", in, a, err)
		}
	}
	for _, in := range []string{"https://ada:secret@example.org/p", "ftp://ada:secret@example.org/p", "https://ada:secret@example.org/\x01"} {
		if got := Hidden(in); strings.Contains(got, "secret") {
			t.Errorf("%q", got)
		}
		if _, err := ParseAddress(in); err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
	if got := shellQuote(`it's; $(x)`); got != `'it'\''s; $(x)'` {
		t.Errorf("%s", got)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(sample(f, Raw))
	f.Add(sample(f, Zstd))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, _ = read(b, 1<<20)
		if r, err := NewReader(bytes.NewReader(b), 1<<20); err == nil {
			_, _ = r.Request()
			r.Close()
		}
	})
}

// FuzzFrames hands payloads on with right checksums, so that what they say is reached.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{'U', 1, 1, 'C', 5, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, b []byte) {
		var list []any
		for len(b) >= 2 {
			n := min(int(b[1]), len(b)-2)
			list = append(list, frameKind(b[0]), b[2:2+n])
			b = b[2+n:]
		}
		s := frames(list...)
		_, _, _ = read(s, 1<<20)
		r, err := NewReader(bytes.NewReader(s), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = r.Request()
	})
}
