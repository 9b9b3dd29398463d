package revlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// line makes revlog text k of a history where each follows the one before.
func lineText(k int) []byte {
	var b []byte
	for i := range 40 + k {
		b = fmt.Appendf(b, "line %d of a text that is long enough to be compressed\n", i*7919)
	}
	return b
}

// sample writes a revlog of n revisions, split when so wished, and returns its path.
func sample(t testing.TB, n int, split bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.i")
	w, err := OpenWriter(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for k := range n {
		if _, _, err := w.Append(lineText(k), Rev(k-1), Null, Rev(k)); err != nil {
			t.Fatal(err)
		}
	}
	if split {
		err = w.split()
	} else {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// patchFile changes bytes of a file.
func patchFile(t *testing.T, path string, at int, b ...byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(text[at:], b)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

func be32(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// Each damage is to revision 5 of 10, or to the file, and must be named; revisions that do not build on what is damaged are read.
func TestDamageIsNamed(t *testing.T) {
	const rev, n = 5, 10
	entry := rev * entrySizeV1
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path, data string)
		want   error
		says   string
		opens  bool // Open itself succeeds
		good   []Rev
	}{
		{"no file", func(t *testing.T, path, _ string) { os.Remove(path) }, fs.ErrNotExist, "sample.i", false, nil},
		{"header cut", func(t *testing.T, path, _ string) { os.Truncate(path, 3) }, ErrCorrupt, "inside the header", false, nil},
		{"version", func(t *testing.T, path, _ string) { patchFile(t, path, 2, 0, 7) }, ErrUnsupported, "version 7", false, nil},
		{"feature", func(t *testing.T, path, _ string) { patchFile(t, path, 0, 0x80, 2) }, ErrUnsupported, "features 0x8000", false, nil},
		{"index cut", func(t *testing.T, path, _ string) { os.Truncate(path, int64(entry+10)) }, ErrUnknown, "revision 5: no such revision: it has 5", true, []Rev{0, 4}},
		{"data cut", func(t *testing.T, path, data string) { os.Truncate(data, int64(chunkAt(t, path, rev)+1)) }, ErrCorrupt, "lies beyond", true, []Rev{0, 4}},
		{"data gone", func(t *testing.T, _, data string) { os.Remove(data) }, ErrCorrupt, "lies beyond the file's 0", true, nil},
		{"flag", func(t *testing.T, path, _ string) { patchFile(t, path, entry+6, 0x01) }, ErrUnsupported, "flags 0x0100", true, []Rev{4, 6}},
		{"length", func(t *testing.T, path, _ string) { patchFile(t, path, entry+8, be32(-1)...) }, ErrCorrupt, "chunk's length is -1", true, []Rev{4}},
		{"length too long", func(t *testing.T, path, _ string) { patchFile(t, path, entry+8, be32(1<<31-1)...) }, ErrCorrupt, "lies beyond", true, []Rev{4}},
		{"size", func(t *testing.T, path, _ string) { patchFile(t, path, entry+12, be32(-2)...) }, ErrCorrupt, "text's length is -2", true, []Rev{4}},
		{"offset", func(t *testing.T, path, _ string) { patchFile(t, path, entry, 0xff, 0xff) }, ErrCorrupt, "lies beyond", true, []Rev{4}},
		{"base ahead", func(t *testing.T, path, _ string) { patchFile(t, path, entry+16, be32(6)...) }, ErrCorrupt, "delta base 6 lies ahead", true, []Rev{4}},
		{"base far", func(t *testing.T, path, _ string) { patchFile(t, path, entry+16, be32(1<<30)...) }, ErrCorrupt, "lies ahead", true, []Rev{4}},
		{"base negative", func(t *testing.T, path, _ string) { patchFile(t, path, entry+16, be32(-2)...) }, ErrCorrupt, "delta base is -2", true, []Rev{4}},
		{"base itself", func(t *testing.T, path, _ string) { patchFile(t, path, entry+16, be32(5)...) }, ErrHash, "revision 5: wrong hash", true, []Rev{4}},
		{"base another", func(t *testing.T, path, _ string) { patchFile(t, path, entry+16, be32(2)...) }, nil, "revision 5", true, []Rev{4}},
		{"parent ahead", func(t *testing.T, path, _ string) { patchFile(t, path, entry+24, be32(5)...) }, ErrCorrupt, "5 or -1, lies ahead", true, []Rev{4}},
		{"parent negative", func(t *testing.T, path, _ string) { patchFile(t, path, entry+28, be32(-9)...) }, ErrCorrupt, "parents are 4 and -9", true, []Rev{4}},
		{"parent wrong", func(t *testing.T, path, _ string) { patchFile(t, path, entry+24, be32(1)...) }, ErrHash, "wrong hash", true, []Rev{4, 6}},
		{"node", func(t *testing.T, path, _ string) { patchFile(t, path, entry+40, 0) }, ErrHash, "wrong hash", true, []Rev{4}},
		{"chunk", func(t *testing.T, path, data string) { patchFile(t, data, chunkAt(t, path, rev), '!') }, nil, "revision 5", true, []Rev{4}},
		{"chunk damaged", func(t *testing.T, path, data string) { patchFile(t, data, chunkAt(t, path, rev)+20, 1, 2, 3, 4, 5) }, nil, "revision 5", true, []Rev{4}},
	} {
		for _, mapped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", c.name, mapped), func(t *testing.T) {
				path := sample(t, n, true)
				c.damage(t, path, strings.TrimSuffix(path, ".i")+".d")
				l, err := Open(path, &Options{Map: mapped})
				if (err == nil) != c.opens {
					t.Fatalf("Open: %v", err)
				}
				if err == nil {
					defer l.Close()
					if _, err = l.Text(rev); err == nil {
						t.Fatal("revision 5 is read")
					}
					for _, good := range c.good {
						if text, err := l.Text(good); err != nil || !bytes.Equal(text, lineText(int(good))) {
							t.Errorf("revision %d is not read: %v", good, err)
						}
					}
					l.Verify(nil) // ends, and does not panic
				}
				var named *Error
				if !errors.As(err, &named) || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error is %q, want %q, which says %q", err, c.want, c.says)
				}
			})
		}
	}
}

// chunkAt is where the chunk of a revision begins in the data file.
func chunkAt(t *testing.T, path string, rev Rev) int {
	t.Helper()
	l, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e, err := l.Entry(rev)
	if err != nil {
		t.Fatal(err)
	}
	return int(e.Offset)
}

func TestInlineDamageIsNamed(t *testing.T) {
	path := sample(t, 10, false)
	size := int64(0)
	if st, err := os.Stat(path); err == nil {
		size = st.Size()
	}
	for cut := int64(1); cut < 200; cut += 7 {
		if err := os.Truncate(path, size-cut); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := l.Text(0); err != nil || !bytes.Equal(text, lineText(0)) {
			t.Errorf("cut by %d: revision 0 is not read: %v", cut, err)
		}
		last := l.Tip()
		if _, err := l.Text(last); err == nil && l.Torn() == 0 && last != 8 {
			t.Errorf("cut by %d: nothing is missing", cut)
		} else if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut by %d: %v", cut, err)
		}
		l.Close()
	}
}

// handmade writes a revlog of chunks as given, each a whole text or, if base is not Null, a delta.
func handmade(t *testing.T, chunks []handmadeChunk) *Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "handmade.i")
	var index, data []byte
	for i, c := range chunks {
		e := Entry{Offset: int64(len(data)), Stored: int32(len(c.chunk)), Size: int32(c.size), Base: c.base, P1: Null, P2: Null, Node: Node{1, byte(i)}}
		if e.Base == Null {
			e.Base = Rev(i)
		}
		index = e.append(index, version1|featureGeneralDelta)
		data = append(data, c.chunk...)
	}
	if err := errors.Join(os.WriteFile(path, index, 0o666), os.WriteFile(strings.TrimSuffix(path, ".i")+".d", data, 0o666)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, &Options{MaxText: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

type handmadeChunk struct {
	base  Rev
	size  int
	chunk []byte
}

// zeros is a zstd frame of n zero bytes, with or without its length in the header.
func zeros(t *testing.T, n int, stated bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if stated {
		return w.EncodeAll(make([]byte, n), nil)
	}
	w.Write(make([]byte, n))
	w.Flush() // so that it does not learn the length before it begins
	w.Close()
	return b.Bytes()
}

func TestBombsAreRefused(t *testing.T) {
	c := encoder{kind: Zlib}
	deflated, err := c.encode(make([]byte, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	hunk := func(start, end, size int) []byte {
		return append(append(append([]byte{}, be32(start)...), be32(end)...), be32(size)...)
	}
	l := handmade(t, []handmadeChunk{
		{Null, 100, zeros(t, 64<<20, true)},
		{Null, 100, zeros(t, 64<<20, false)},
		{Null, 100, bytes.Clone(deflated)},
		{Null, 1 << 30, []byte("u" + strings.Repeat("x", 2<<20))},
		{Null, 1000, append([]byte("u"), bytes.Repeat([]byte{'a'}, 1000)...)},
		{4, 1000, zeros(t, 64<<20, true)},                                                             // a delta that is a bomb
		{4, 1000, append(hunk(0, 0, 2000), make([]byte, 10)...)},                                      // inserts more than it has
		{4, 1000, hunk(5, 2000, 0)},                                                                   // deletes beyond the text
		{4, 1000, append(hunk(5, 6, 0), hunk(4, 7, 0)...)},                                            // goes back
		{4, 1000, hunk(-1, 5, 0)},                                                                     // begins before the text
		{4, 1000, []byte{0, 0, 0}},                                                                    // ends in a header
		{4, 1000, hunk(7, 5, 0)},                                                                      // ends before it begins
		{Null, 1000, []byte{'x'}},                                                                     // no zlib stream
		{Null, 1000, []byte{'('}},                                                                     // no zstd frame
		{Null, 1000, []byte("!what")},                                                                 // no compression
		{Null, 1000, append([]byte{0x78, 0x9c}, bytes.Repeat([]byte{0xff}, 50)...)},                   // no block
		{Null, 1000, append([]byte{0x28, 0xb5, 0x2f, 0xfd}, bytes.Repeat([]byte{0xff}, 50)...)},       // reserved bits
		{Null, 1000, append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe4}, bytes.Repeat([]byte{0x7f}, 50)...)}, // a length of 2^63
	})
	r := l.Reader()
	defer r.Close()
	for rev := range Rev(l.Len()) {
		_, err := r.Text(rev)
		var named *Error
		if !errors.As(err, &named) || named.Rev != rev {
			t.Errorf("revision %d: the error is %v", rev, err)
		}
		if rev != 4 && errors.Is(err, ErrHash) {
			t.Errorf("revision %d is decoded: %v", rev, err)
		}
		if rev <= 3 && !errors.Is(err, ErrTooLarge) {
			t.Errorf("revision %d: the error is %v", rev, err)
		}
	}
	for i := range r.texts {
		if cap(r.texts[i].b) > 8<<20 {
			t.Errorf("a bomb took %d bytes", cap(r.texts[i].b))
		}
	}
}

// A nodemap that is wrong in any way is no fault of the revlog.
func TestDamagedNodemapHidesNothing(t *testing.T) {
	path := sample(t, 40, true)
	l, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	tip, _ := l.Node(39)
	l.Close()
	radix := strings.TrimSuffix(path, ".i")
	docket := func(version byte, tipRev, length, idSize int) []byte {
		b := []byte{version, byte(idSize)}
		for _, v := range []int{tipRev, length, 0, 20} {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
		return append(append(b, "0123abcd"[:idSize]...), tip[:]...)
	}
	loop := bytes.Repeat(be32(0), 16)
	for i, c := range []struct{ docket, data []byte }{
		{docket(1, 39, 64, 8), loop},
		{docket(1, 39, 64, 8), bytes.Repeat(be32(-1), 16)},
		{docket(1, 39, 64, 8), bytes.Repeat(be32(-7), 16)},
		{docket(1, 39, 64, 8), bytes.Repeat(be32(1<<30), 16)},
		{docket(1, 39, 64, 8), bytes.Repeat(be32(-1<<31), 16)},
		{docket(1, 39, 128, 8), loop},
		{docket(1, 1<<40, 64, 8), loop},
		{docket(2, 39, 64, 8), loop},
		{docket(1, 39, 64, 0), loop},
		{[]byte{1}, loop},
	} {
		if err := errors.Join(os.WriteFile(radix+".n", c.docket, 0o666), os.WriteFile(radix+"-0123abcd.nd", c.data, 0o666)); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for rev := range Rev(40) {
			node, _ := l.Node(rev)
			if got, err := l.Rev(node); err != nil || got != rev {
				t.Fatalf("case %d: revision %d is found as %d: %v", i, rev, got, err)
			}
			if got, err := l.Prefix(node.String()[:20]); err != nil || got != rev {
				t.Fatalf("case %d: prefix of revision %d is found as %d: %v", i, rev, got, err)
			}
		}
		if _, err := l.Rev(Node{1}); !errors.Is(err, ErrUnknown) {
			t.Errorf("case %d: %v", i, err)
		}
		l.Close()
	}
}
