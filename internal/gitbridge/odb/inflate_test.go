package odb

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	kflate "github.com/klauspost/compress/flate"
)

// texts are contents that bring every kind of block, code and match.
func texts() [][]byte {
	rng := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	words := make([]byte, 0, 200_000)
	for len(words) < 199_000 {
		n := rng.IntN(200)
		words = append(words, strings.Repeat(string(rune('a'+n%26)), 1+n%7)...)
		words = append(words, " .\n\t"[n%4])
	}
	skewed := make([]byte, 150_000) // codes of every length
	for i := range skewed {
		v := rng.Uint32()
		n := 0
		for v&1 == 1 {
			v >>= 1
			n++
		}
		skewed[i] = byte(n*7 + int(v&3)*int(v>>2&1))
	}
	all := [][]byte{nil, {0}, []byte("a"), bytes.Repeat([]byte("a"), 1000), bytes.Repeat([]byte("ab"), 70_000), noise, words, skewed,
		append(bytes.Clone(words), noise...), append(bytes.Clone(noise[:40_000]), bytes.Repeat(noise[:40_000], 2)...)}
	for n := range 40 {
		all = append(all, words[:n*n], skewed[:n*3])
	}
	for back := range 20 {
		all = append(all, bytes.Repeat(noise[:back+1], 300))
	}
	return all
}

func TestInflateAgainstDeflate(t *testing.T) {
	var z inflater
	for i, text := range texts() {
		for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, 1, 6, 9} {
			var b bytes.Buffer
			w, err := zlib.NewWriterLevel(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(text[:len(text)/3])
			w.Flush()
			w.Write(text[len(text)/3:])
			w.Close()
			for _, tail := range []string{"", "what follows in the pack"} {
				dst := make([]byte, len(text))
				if err := z.zlib(dst, append(b.Bytes(), tail...)); err != nil || !bytes.Equal(dst, text) {
					t.Fatalf("text %d of %d bytes, level %d: %v", i, len(text), level, err)
				}
			}
			if len(text) == 0 {
				continue
			}
			part := make([]byte, 1+len(text)/2)
			if n, err := z.zlibPart(part, b.Bytes()); err != nil || n != len(part) || !bytes.Equal(part, text[:len(part)]) {
				t.Fatalf("half of text %d: %d bytes, %v", i, n, err)
			}
			more := make([]byte, len(text)+1)
			if err := z.zlib(more, b.Bytes()); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("more of text %d: %v", i, err)
			}
			if n, err := z.zlibPart(more, b.Bytes()); err != nil || n != len(text) {
				t.Fatalf("all of text %d: %d bytes, %v", i, n, err)
			}
		}
	}
}

// FuzzInflate compares with the standard library: what that takes is taken and is the same, and what that refuses
// before the room is full is refused.
func FuzzInflate(f *testing.F) {
	for _, text := range texts()[:30] {
		if len(text) < 5000 {
			f.Add(deflate(text)[2:])
		}
	}
	f.Add([]byte{3, 0})
	f.Add([]byte{5, 0xc0, 0x81, 8, 0, 0, 0, 0, 0x20, 0x7f, 0xeb, 0xb, 0, 0})
	var z inflater
	f.Fuzz(func(t *testing.T, b []byte) {
		const room = 1 << 17
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), room))
		dst := make([]byte, room)
		n, err := z.zlibPart(dst, append([]byte{0x78, 0x9c}, b...))
		if len(want) == room {
			wantErr = nil
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err == nil && !bytes.Equal(dst[:n], want) {
			t.Fatalf("%d bytes, want %d", n, len(want))
		}
	})
}

// BenchmarkInflate stands beside the decompressor for streams that it replaced.
func BenchmarkInflate(b *testing.B) {
	all := texts()
	for name, text := range map[string][]byte{"200k": all[6], "1k": all[6][:1000], "100": all[6][:100]} {
		packed := deflate(text)
		dst := make([]byte, len(text))
		b.Run(name+"/own", func(b *testing.B) {
			var z inflater
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := z.zlib(dst, packed); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/stream", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var src bytes.Reader
			fl := kflate.NewReader(&src)
			for b.Loop() {
				src.Reset(packed[2:])
				if err := fl.(kflate.Resetter).Reset(&src, nil); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(fl, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
