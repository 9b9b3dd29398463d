package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Contents lie in the order asked for, what it does not name behind, and whoever has the store open finds each by its hash.
func TestRepackOrdersContents(t *testing.T) {
	mem := newMem(t)
	s, reader := open(t, mem), open(t, mem)
	rng, m := testRand(7), newModel()
	for range 8 {
		var err error
		if m, err = m.commit(s, rng, mixed); err != nil {
			t.Fatal(err)
		}
	}
	hashes := func(s *Store) (all []change.Hash) { // but those of lists, which need not wait for a frame to be full
		for n := range s.NumBlobs() {
			rec, _, ok := s.record(blobsCol, n)
			if !ok {
				t.Fatal(s.missing())
			}
			if r := parseBlobRecord(rec); !r.list {
				all = append(all, r.hash)
			}
		}
		return all
	}
	// lie gives the hashes of contents that are asked for in an order: the chunks of a large one come with it.
	lie := func(order []uint32) (all []change.Hash) {
		there := map[change.Hash]bool{}
		put := func(h change.Hash) {
			if !there[h] {
				there[h], all = true, append(all, h)
			}
		}
		for _, n := range order {
			rec, _, _ := s.record(blobsCol, n)
			r := parseBlobRecord(rec)
			if !r.list {
				put(r.hash)
				continue
			}
			if err := s.eachChunk(r, func(c blobRecord) error { put(c.hash); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	var order, rest []uint32
	lists := 0
	for i, n := range rng.Perm(int(s.NumBlobs())) {
		if i%2 == 0 {
			order = append(order, uint32(n))
			if rec, _, _ := s.record(blobsCol, uint32(n)); parseBlobRecord(rec).list {
				lists++
			}
		}
	}
	if lists == 0 {
		t.Fatal("no large content among those that are ordered")
	}
	for n := range s.NumBlobs() {
		if rec, _, _ := s.record(blobsCol, n); !slices.Contains(order, n) && !parseBlobRecord(rec).list {
			rest = append(rest, n)
		}
	}
	want := lie(slices.Concat(order, rest))
	st, err := s.Repack(context.Background(), RepackOptions{Force: true, Order: func() ([]Placed, error) { return placed(order), nil }})
	if err != nil || !st.Packed {
		t.Fatalf("%+v, %v", st, err)
	}
	if got := hashes(s); !slices.Equal(got, want) {
		t.Error("the contents lie in another order")
	}
	if err := errors.Join(m.check(s), reader.Refresh(), m.check(reader)); err != nil {
		t.Error(err)
	}
	// What is packed stays as it is, unless all is packed anew.
	reversed := func() ([]Placed, error) {
		var all []uint32
		for n := range s.NumBlobs() {
			all = append(all, s.NumBlobs()-1-n)
		}
		return placed(all), nil
	}
	all, _ := reversed()
	var numbers []uint32
	for _, c := range all {
		numbers = append(numbers, c.Blob)
	}
	want = lie(numbers) // before they change
	if _, err := s.Repack(context.Background(), RepackOptions{Anew: true, Order: reversed}); err != nil {
		t.Fatal(err)
	}
	if got := hashes(s); !slices.Equal(got, want) {
		t.Error("what was packed does not lie in the order asked for when all is packed anew")
	}
	if err := m.check(s); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]uint32{{0, 1, 0}, {s.NumBlobs()}} {
		_, err := s.Repack(context.Background(), RepackOptions{Force: true, Order: func() ([]Placed, error) { return placed(bad), nil }})
		if !errors.Is(err, errContentOrder) {
			t.Error(fmt.Sprint(bad), err)
		}
	}
	if err := m.check(s); err != nil {
		t.Error(err)
	}
}

func placed(order []uint32) (all []Placed) {
	for _, n := range order {
		all = append(all, Placed{Blob: n})
	}
	return all
}
