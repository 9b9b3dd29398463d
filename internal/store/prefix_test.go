package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// textLike is compressible, and unlike from one place to the next.
func textLike(rng *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, "line %d of %x\n", rng.IntN(1000), rng.Uint32()>>uint(rng.IntN(24)))
	}
	return b[:n]
}

// A prefix is the beginning of what all decompresses to, at least as long as asked for, and shorter than all where little was.
func TestDecompressPrefix(t *testing.T) {
	rng := testRand(11)
	for _, raw := range []int{0, 1, minCompress, blockSize, blockSize + 1, packedBlobs, maxRaw - 1, maxRaw} {
		text := textLike(rng, raw)
		for name, content := range map[string][]byte{"text": text, "zeros": make([]byte, raw), "half": append(make([]byte, raw/2), text[raw/2:]...)} {
			packed := compressWith(&packedEncoders, nil, content)
			for _, need := range []int{0, 1, raw / 3, raw / 2, raw - 1, raw, blockSize, blockSize + 1} {
				if need < 0 || need > raw {
					continue
				}
				got, err := decompressPrefix([]byte("before"), packed, raw, need)
				if err != nil || len(got)-6 < need || string(got[:6]) != "before" || !bytes.HasPrefix(content, got[6:]) {
					t.Fatalf("%s of %d, %d asked for: %d, %v", name, raw, need, len(got)-6, err)
				}
				if raw > 8*blockSize && need <= raw/2 && len(got)-6 > need+blockSize {
					t.Errorf("%s of %d, %d asked for: %d were decompressed", name, raw, need, len(got)-6)
				}
			}
		}
	}
}

// Whatever a frame holds, a prefix is what decompressing all of it begins with, or an error.
func FuzzDecompressPrefix(f *testing.F) {
	rng := testRand(12)
	for _, n := range []int{600, 3 * blockSize, 9 * blockSize} {
		f.Add(compressWith(&packedEncoders, nil, textLike(rng, n)), n, n/3)
		f.Add(compressWith(&encoders, nil, make([]byte, n)), n, n/3)
	}
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\x58\x00\x00\x00"), 10, 1)
	f.Fuzz(func(t *testing.T, src []byte, raw, need int) {
		if raw < 0 || raw > maxRaw || need < 0 || need > raw {
			return
		}
		all, allErr := decompress(nil, src, raw)
		got, err := decompressPrefix(nil, src, raw, need)
		if err != nil {
			if allErr == nil {
				t.Fatalf("all can be had, a prefix not: %v", err)
			}
			return
		}
		// A frame that is damaged behind what was asked for has a beginning all the same; its checksum told before.
		if len(got) > raw || len(got) < need || allErr == nil && !bytes.HasPrefix(all, got) {
			t.Fatalf("%d of %d bytes, %d asked for", len(got), raw, need)
		}
	})
}

// Contents of one frame, read in whatever order and by many at once, are what they were.
func TestReadPackedInAnyOrder(t *testing.T) {
	mem := newMem(t)
	s := open(t, mem)
	rng, m := testRand(13), newModel()
	tx, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		b := textLike(rng, rng.IntN(100_000))
		m.blobs[hashOf(b)] = b
		if err := tx.own.Put(hashOf(b), b); err != nil {
			t.Fatal(err)
		}
	}
	m.ops, m.at = []Op{{View: NewView()}}, []modelAt{{1, 0, 0}}
	if _, err := tx.Commit(m.ops[0], nil); err != nil {
		t.Fatal(err)
	}
	if err := repackAll(s); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again := open(t, mem) // with nothing in its cache
		done := make(chan error)
		for range 3 {
			go func() { done <- m.check(again) }() // maps give another order each time
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if used := again.frames.bytes; used > cachedBytes || used == 0 {
			t.Errorf("%d bytes are kept", used)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A list of changes does not decompress what they did, and whoever asks for that afterwards gets it.
func TestReadTheFrontOfPackedChanges(t *testing.T) {
	mem := newMem(t)
	s := open(t, mem)
	rng := testRand(15)
	tx, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []Record
	for i := range 300 {
		rec := Record{Meta: textLike(rng, rng.IntN(2000)), Body: textLike(rng, rng.IntN(2000)), Texts: textLike(rng, rng.IntN(2000))}
		if i%7 == 0 {
			rec.Unhashed = textLike(rng, 40)
		}
		if i%50 == 49 {
			rec.Meta = textLike(rng, maxInline+1) // which lies in a content of its own
		}
		rec.ID = change.ID(hashOf(fmt.Append(nil, i)))
		if _, err := tx.PutChange(rec, nil, 7); err != nil {
			t.Fatal(err)
		}
		want = append(want, rec)
	}
	if _, err := tx.Commit(Op{View: NewView()}, nil); err != nil {
		t.Fatal(err)
	}
	if err := repackAll(s); err != nil {
		t.Fatal(err)
	}
	short := 0
	for round := range 10 {
		again := open(t, mem) // with nothing in its cache
		done := make(chan error)
		for g := range 3 {
			order := rng.Perm(len(want))
			go func() {
				for _, n := range order {
					meta, unhashed, err := again.Front(uint32(n))
					if err == nil && (!bytes.Equal(meta, want[n].Meta) || !bytes.Equal(unhashed, want[n].Unhashed)) {
						err = fmt.Errorf("the front of change %d is another", n)
					}
					if round%2 == g%2 && err == nil {
						var rec Record
						if rec, err = again.Change(uint32(n)); err == nil && (!bytes.Equal(rec.Body, want[n].Body) || !bytes.Equal(rec.Texts, want[n].Texts) || !bytes.Equal(rec.Meta, want[n].Meta)) {
							err = fmt.Errorf("change %d is another", n)
						}
					}
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		again = open(t, mem)
		for n := range want {
			if n%7 == 0 { // what stands unhashed lies at the end
				continue
			}
			if _, _, err := again.Front(uint32(n)); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range again.frames.entries {
			if e.frame.kind == kindChanges && e.have < int(e.frame.raw) {
				short++
			}
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if short == 0 {
		t.Error("every frame was decompressed whole")
	}
}

// What is kept of decompressed frames has a bound, however large they are.
func TestCacheIsBounded(t *testing.T) {
	mem := newMem(t)
	s := open(t, mem)
	rng := testRand(14)
	tx, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint32][]byte{}
	var order []Placed
	for i := range 40 {
		b := textLike(rng, 900_000)
		want[uint32(i)] = b
		if err := tx.own.Put(hashOf(b), b); err != nil {
			t.Fatal(err)
		}
		order = append(order, Placed{uint32(i), true})
	}
	if _, err := tx.Commit(Op{View: NewView()}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repack(t.Context(), RepackOptions{Force: true, Order: func() ([]Placed, error) { return order, nil }}); err != nil {
		t.Fatal(err)
	}
	frames := map[place]int{}
	for n := range s.NumBlobs() {
		rec, _, _ := s.record(blobsCol, n)
		frames[parseBlobRecord(rec).at]++
	}
	if len(frames) > 10+1 {
		t.Errorf("%d frames for versions of one file that four at a time fit into one", len(frames))
	}
	for _, b := range want {
		if got, err := s.Blob(nil, hashOf(b)); err != nil || !bytes.Equal(got, b) {
			t.Fatal(err)
		}
		if s.frames.bytes > cachedBytes {
			t.Fatalf("%d bytes are kept", s.frames.bytes)
		}
	}
}
