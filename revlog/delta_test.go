package revlog

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"testing"
)

// applyPlainly is a delta as its definition has it, one hunk after another.
func applyPlainly(text, delta []byte) ([]byte, bool) {
	var out []byte
	last := 0
	for len(delta) > 0 {
		if len(delta) < 12 {
			return nil, false
		}
		start, end, size := int(int32(binary.BigEndian.Uint32(delta))), int(int32(binary.BigEndian.Uint32(delta[4:]))), int(int32(binary.BigEndian.Uint32(delta[8:])))
		delta = delta[12:]
		if start < last || end < start || end > len(text) || size < 0 || size > len(delta) {
			return nil, false
		}
		out = append(append(out, text[last:start]...), delta[:size]...)
		delta = delta[size:]
		last = end
	}
	return append(out, text[last:]...), true
}

// randomDelta is a valid delta for a text of n bytes, and how long the text is after it.
func randomDelta(r *rand.Rand, n int) (delta []byte, after int) {
	at := 0
	after = n
	for range r.Intn(5) {
		start := at + r.Intn(n-at+1)
		end := start + r.Intn(min(n-start, 6)+1)
		size := r.Intn(6)
		delta = append(append(append(delta, be32(start)...), be32(end)...), be32(size)...)
		for range size {
			delta = append(delta, byte('A'+r.Intn(26)))
		}
		after += size - (end - start)
		at = end
	}
	return delta, after
}

func TestComposedDeltasDoAsOneByOne(t *testing.T) {
	for seed := range int64(4000) {
		r := rand.New(rand.NewSource(seed))
		text := make([]byte, r.Intn(40))
		for i := range text {
			text[i] = byte('a' + i%26)
		}
		want := text
		var deltas [][]byte
		for range 1 + r.Intn(12) {
			delta, after := randomDelta(r, len(want))
			deltas = append(deltas, delta)
			var ok bool
			if want, ok = applyPlainly(want, delta); !ok || len(want) != after {
				t.Fatalf("seed %d: the test's own delta is wrong", seed)
			}
		}
		got, err := fold(text, deltas)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %q becomes %q, want %q: %v", seed, text, got, want, err)
		}
	}
}

// fold applies deltas as a Reader does.
func fold(text []byte, deltas [][]byte) ([]byte, error) {
	r := &Reader{&Log{maxText: 1 << 20, cache: 1 << 20}, &buffers{}}
	for _, delta := range deltas {
		from, start := len(r.arena), len(r.hunks)
		r.arena = append(r.arena, delta...)
		var err error
		if r.hunks, err = parseDelta(r.hunks, r.arena, from); err != nil {
			return nil, err
		}
		if err := r.push(start); err != nil {
			return nil, err
		}
	}
	t, err := r.flush(&cachedText{rev: Null, b: text}, 0)
	if err != nil {
		return nil, err
	}
	return t.b, nil
}

func TestDiffsMakeTheText(t *testing.T) {
	var d differ
	for seed := range int64(2000) {
		r := rand.New(rand.NewSource(seed))
		a := randomLines(r)
		b := edited(r, a)
		if r.Intn(4) == 0 {
			b = randomLines(r)
		}
		if r.Intn(5) == 0 {
			a = bytes.TrimSuffix(a, newline)
		}
		delta := d.delta(nil, a, b)
		got, ok := applyPlainly(a, delta)
		if !ok || !bytes.Equal(got, b) {
			t.Fatalf("seed %d: the delta of %q to %q makes %q", seed, a, b, got)
		}
		if bytes.Equal(a, b) && len(delta) > 0 {
			t.Fatalf("seed %d: a delta of equal texts has %d bytes", seed, len(delta))
		}
	}
}

func randomLines(r *rand.Rand) []byte {
	var b []byte
	for range r.Intn(30) {
		for range r.Intn(3) {
			b = append(b, byte('a'+r.Intn(3)))
		}
		b = append(b, '\n')
	}
	return b
}

// One line changed at either end of a long text makes a delta of those lines only.
func TestDiffsAreShort(t *testing.T) {
	a := bytes.Repeat([]byte("a line like others\n"), 2000)
	b := append(append([]byte("first\n"), a...), "last\n"...)
	var d differ
	if delta := d.delta(nil, a, b); len(delta) > 100 {
		t.Errorf("two lines more make a delta of %d bytes", len(delta))
	}
	text := lineText(500)
	other := bytes.Replace(bytes.Replace(text, []byte("line 7919 "), []byte("line X "), 1), []byte("line 3959500 "), []byte("line Y "), 1)
	if delta := d.delta(nil, text, other); len(delta) > 200 {
		t.Errorf("two lines changed make a delta of %d bytes", len(delta))
	}
}
