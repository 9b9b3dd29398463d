package revlog

import (
	"math/rand/v2"
	"testing"
)

func TestTextsHashedAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1<<16)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	node := func() (n Node) {
		copy(n[:], data[random.IntN(1<<10):])
		return n
	}
	text := func(n int) *Hashing {
		at := random.IntN(len(data) - n)
		return &Hashing{Text: data[at : at+n], P1: node(), P2: node()}
	}
	check := func(texts []*Hashing) {
		t.Helper()
		HashTexts(texts)
		for i, x := range texts {
			if want := HashText(x.Text, x.P1, x.P2); x.Node != want {
				t.Fatalf("text %d of %d, of %d bytes, has node %s, want %s", i, len(texts), len(x.Text), x.Node, want)
			}
		}
	}
	check(nil)
	for n := range 400 { // all ways in which the last block is filled, beside each other
		check([]*Hashing{text(n), text(random.IntN(400))})
	}
	for range 200 {
		var texts []*Hashing
		for range random.IntN(9) {
			n := random.IntN(300)
			if random.IntN(3) == 0 {
				n = random.IntN(40_000)
			}
			texts = append(texts, text(n))
		}
		check(texts)
	}
}

func BenchmarkHashing(b *testing.B) {
	texts := []*Hashing{{Text: make([]byte, 16<<10)}, {Text: make([]byte, 16<<10)}}
	b.Run("two at once", func(b *testing.B) {
		b.SetBytes(32 << 10)
		for b.Loop() {
			HashTexts(texts)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		b.SetBytes(32 << 10)
		for b.Loop() {
			for _, t := range texts {
				t.Node = HashText(t.Text, t.P1, t.P2)
			}
		}
	})
}
