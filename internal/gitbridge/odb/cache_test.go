package odb

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

// What the ring gives is what was put last under the key, and the latest puts are there.
func TestCacheAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 300).Draw(t, "size")
		c := newCache(size)
		last := map[uint64][]byte{}
		for n := range rapid.IntRange(0, 200).Draw(t, "puts") {
			key := rapid.Uint64Range(0, 20).Draw(t, "key")
			b := bytes.Repeat([]byte{byte(n)}, rapid.IntRange(0, 80).Draw(t, "len"))
			if s, _ := c.get(key); s == nil {
				c.put(key, object.BlobKind, object.ID{}, b)
				last[key] = b
				s, got := c.get(key)
				if fits := len(b) > 0 && len(b) <= size/cacheShare; fits != (s != nil) || fits && !bytes.Equal(got, b) {
					t.Fatalf("put %d bytes of %d, got %v", len(b), size, s)
				}
			}
			for key, want := range last {
				if s, got := c.get(key); s != nil && !bytes.Equal(got, want) {
					t.Fatalf("key %d: %x, want %x", key, got, want)
				}
			}
		}
	})
}
