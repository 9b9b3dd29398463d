package store

import (
	"bytes"
	"errors"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// What decompresses to more than its frame says is refused, though the decoder has room for some of it, whether zstd's own header tells of it
// or not; and so is what decompresses to less.
func TestDecompressToAnotherLength(t *testing.T) {
	content := textLike(testRand(5), 3000)
	var untold bytes.Buffer
	z, err := zstd.NewWriter(&untold, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(maxRaw))
	if err != nil {
		t.Fatal(err)
	}
	for b := content; len(b) > 0; b = b[1000:] {
		if _, err := z.Write(b[:1000]); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string][]byte{"told": compressWith(&encoders, nil, content), "untold": untold.Bytes()} {
		var h zstd.Header
		if err := h.Decode(packed); err != nil || h.HasFCS != (name == "told") {
			t.Fatalf("%s: %v, %v", name, h.HasFCS, err)
		}
		for _, room := range []int{0, len(content), 2 * len(content)} {
			for more := -2 * decodeSlack; more <= 2*decodeSlack; more++ {
				dst := append(make([]byte, 0, room), "before"...)
				got, err := decompress(dst, packed, len(content)-more)
				if more == 0 {
					if err != nil || string(got) != "before"+string(content) {
						t.Fatalf("%s, room for %d: %v", name, room, err)
					}
				} else if err == nil || string(got) != "before" {
					t.Fatalf("%s, room for %d: %d bytes too many are %d, %v", name, room, more, len(got), err)
				}
				if name == "untold" && more < 0 && !errors.Is(err, errLength) {
					t.Fatalf("%d bytes too few: %v", -more, err)
				}
			}
		}
	}
}
