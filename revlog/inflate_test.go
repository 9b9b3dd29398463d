package revlog

import (
	"bytes"
	"compress/zlib"
	"math/rand"
	"testing"
)

// deflated are texts of different kinds, compressed by the standard library at several levels.
func deflated(r *rand.Rand, level int) (text, chunk []byte) {
	n := r.Intn(1 << r.Intn(18))
	text = make([]byte, n)
	switch r.Intn(4) {
	case 0:
		r.Read(text)
	case 1:
		for i := range text {
			text[i] = "abcdefgh \n"[r.Intn(10)]
		}
	case 2:
		for i := range text {
			text[i] = byte(int(r.ExpFloat64()*9) & 255)
		}
	default:
		for i := range text {
			if i > 10 && r.Intn(30) > 0 {
				text[i] = text[i-1-r.Intn(min(i, 1+r.Intn(40000)))]
			} else {
				text[i] = byte(r.Intn(256))
			}
		}
	}
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, level)
	w.Write(text)
	if r.Intn(3) == 0 {
		w.Flush()
	}
	w.Close()
	return text, b.Bytes()
}

func TestInflateIsTheStandardLibrarys(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var z inflater
	for i := range 1000 {
		text, chunk := deflated(r, i%11-2)
		got, err := z.inflate([]byte("before"), chunk, r.Intn(2*len(text)+1), len(text))
		if err != nil {
			t.Fatalf("case %d of %d bytes: %v", i, len(text), err)
		}
		if !bytes.Equal(got[6:], text) || string(got[:6]) != "before" {
			t.Fatalf("case %d of %d bytes differs", i, len(text))
		}
		if len(text) > 0 {
			if _, err := z.inflate(nil, chunk, len(text), len(text)-1); err == nil {
				t.Fatalf("case %d: one byte over the limit is let through", i)
			}
		}
		cut := r.Intn(len(chunk))
		if _, err := z.inflate(nil, chunk[:cut], len(text), len(text)); err == nil {
			t.Fatalf("case %d: a stream cut at %d of %d is accepted", i, cut, len(chunk))
		}
	}
}
