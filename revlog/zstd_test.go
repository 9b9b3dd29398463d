package revlog

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestUnpackIsTheLibrarys(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	var encoders []*zstd.Encoder
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression} {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level), zstd.WithSingleSegment(true), zstd.WithEncoderCRC(level == zstd.SpeedDefault))
		if err != nil {
			t.Fatal(err)
		}
		encoders = append(encoders, e)
	}
	var u unpacker
	for i := range 1500 {
		text, _ := deflated(r, 1)
		text = text[:min(len(text), 200_000)]
		chunk := encoders[i%4].EncodeAll(text, nil)
		if len(text) == 0 {
			continue
		}
		size, stated, err := zstdSize(chunk)
		if err != nil || !stated || size != uint64(len(text)) {
			t.Fatalf("case %d: a frame of %d bytes is said to hold %d: %v", i, len(text), size, err)
		}
		got, err := u.unpack([]byte("before"), chunk, len(text))
		if err != nil || !bytes.Equal(got[6:], text) || string(got[:6]) != "before" {
			t.Fatalf("case %d of %d bytes: %v", i, len(text), err)
		}
	}
}
