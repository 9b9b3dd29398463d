package state

import (
	"math/rand"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

func randomIDs(r *rand.Rand, n int) []change.ID {
	ids := make([]change.ID, n)
	for i := range ids {
		r.Read(ids[i][:])
	}
	return ids
}

func sumOf(ids []change.ID) (h SetHash) {
	for _, id := range ids {
		h.Add(id)
	}
	return h
}

func TestSetHashOrderAndInverse(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var empty SetHash
	if empty.Bytes() != [32]byte{} {
		t.Fatalf("the empty set is %x", empty.Bytes())
	}
	for round := range 30 {
		ids := randomIDs(r, 1+round%9)
		want := sumOf(ids).Bytes()
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		if got := sumOf(ids).Bytes(); got != want {
			t.Fatalf("order matters: %x and %x", got, want)
		}
		cut := r.Intn(len(ids) + 1)
		left, right := sumOf(ids[:cut]), sumOf(ids[cut:])
		left.Join(right)
		if left.Bytes() != want {
			t.Fatal("the sum of two parts is not the whole")
		}
		parsed, err := ParseSetHash(want)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			parsed.Remove(id)
			if rest := sumOf(ids[i+1:]).Bytes(); parsed.Bytes() != rest {
				t.Fatalf("after removing %d of %d: %x, want %x", i+1, len(ids), parsed.Bytes(), rest)
			}
		}
		if parsed.Bytes() != empty.Bytes() {
			t.Fatal("removing all leaves something")
		}
		if sumOf(ids[:len(ids)-1]).Bytes() == want {
			t.Fatal("one member more makes no difference")
		}
	}
}

func TestSetHashRefusesNonPoints(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	refused := 0
	for range 100 {
		var b [32]byte
		r.Read(b[:])
		h, err := ParseSetHash(b)
		if err != nil {
			refused++
		} else if h.Bytes() != b {
			t.Fatalf("%x was read as %x", b, h.Bytes())
		}
	}
	if refused == 0 {
		t.Fatal("random bytes are all taken for state ids")
	}
}

func BenchmarkSetHashAdd(b *testing.B) {
	ids := randomIDs(rand.New(rand.NewSource(3)), 64)
	var h SetHash
	for i := 0; b.Loop(); i++ {
		h.Add(ids[i%len(ids)])
	}
}

func BenchmarkSetHashBytes(b *testing.B) {
	h := sumOf(randomIDs(rand.New(rand.NewSource(3)), 8))
	for b.Loop() {
		h.Bytes()
	}
}
