package revlog

import (
	"bytes"
	"math/rand"
	"path/filepath"
	"testing"
)

// edited is text with a few lines changed.
func edited(r *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, newline)
	for range 1 + r.Intn(3) {
		at := r.Intn(len(lines) + 1)
		gone := min(len(lines)-at, r.Intn(4))
		var fresh [][]byte
		for range r.Intn(4) {
			line := make([]byte, r.Intn(40))
			for i := range line {
				line[i] = "abcdefgh "[r.Intn(9)]
			}
			fresh = append(fresh, append(line, '\n'))
		}
		lines = append(append(append([][]byte{}, lines[:at]...), fresh...), lines[at+gone:]...)
	}
	return bytes.Join(lines, nil)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for seed := range int64(8) {
		r := rand.New(rand.NewSource(seed))
		path := filepath.Join(t.TempDir(), "log.i")
		opts := &WriterOptions{Compression: Compression(seed % 3), Plain: seed%4 == 3, MaxChain: 1 + r.Intn(50)}
		w, err := OpenWriter(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		texts := [][]byte{}
		start := edited(r, bytes.Repeat([]byte("a line that comes first\nand one after\n"), r.Intn(400)))
		for rev := range Rev(150) {
			p1, p2 := Null, Null
			text := start
			if rev > 0 && r.Intn(20) > 0 {
				p1 = max(0, rev-1-Rev(r.Intn(4)))
				text = edited(r, texts[p1])
			}
			if rev > 2 && r.Intn(5) == 0 {
				p2 = Rev(r.Intn(int(rev)))
			}
			if r.Intn(25) == 0 {
				text = nil
			}
			got, node, err := w.Append(text, p1, p2, rev)
			if err != nil {
				t.Fatal(err)
			}
			if got != rev { // the same text from the same parents
				if !bytes.Equal(texts[got], text) {
					t.Fatalf("seed %d: revision %d is taken for %d", seed, rev, got)
				}
				text = append(edited(r, text), "unlike any\n"...)
				if got, node, err = w.Append(text, p1, p2, rev); err != nil || got != rev {
					t.Fatal(got, err)
				}
			}
			texts = append(texts, text)
			if found, ok := w.Rev(node); !ok || found != rev {
				t.Fatalf("seed %d: revision %d is found as %d", seed, rev, found)
			}
			if r.Intn(10) == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			if r.Intn(30) == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				w.Close()
				if w, err = OpenWriter(path, opts); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		l, err := Open(path, &Options{Cache: 1 << r.Intn(20)})
		if err != nil {
			t.Fatal(err)
		}
		reader := l.Reader()
		for range 400 {
			rev := Rev(r.Intn(len(texts)))
			text, err := reader.Text(rev)
			if err != nil || !bytes.Equal(text, texts[rev]) {
				t.Fatalf("seed %d: revision %d is read otherwise: %v", seed, rev, err)
			}
		}
		if problems := l.Verify(nil); len(problems) > 0 {
			t.Fatalf("seed %d: %v", seed, problems)
		}
		reader.Close()
		l.Close()
	}
}
