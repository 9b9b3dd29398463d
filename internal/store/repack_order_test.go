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
	var order []uint32
	var want, rest []change.Hash
	for i, n := range rng.Perm(int(s.NumBlobs())) {
		if i%2 == 0 {
			order = append(order, uint32(n))
		}
	}
	for n := range s.NumBlobs() {
		rec, _, _ := s.record(blobsCol, n)
		if r := parseBlobRecord(rec); !r.list && !slices.Contains(order, n) {
			rest = append(rest, r.hash)
		}
	}
	for _, n := range order {
		rec, _, _ := s.record(blobsCol, n)
		if r := parseBlobRecord(rec); !r.list {
			want = append(want, r.hash)
		}
	}
	want = append(want, rest...)
	st, err := s.Repack(context.Background(), RepackOptions{Force: true, Order: func() ([]uint32, error) { return order, nil }})
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
	reversed := func() ([]uint32, error) {
		var all []uint32
		for n := range s.NumBlobs() {
			all = append(all, s.NumBlobs()-1-n)
		}
		return all, nil
	}
	if _, err := s.Repack(context.Background(), RepackOptions{Anew: true, Order: reversed}); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(want)
	if got := hashes(s); !slices.Equal(got, want) {
		t.Error("what was packed does not lie in the order asked for when all is packed anew")
	}
	if err := m.check(s); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]uint32{{0, 1, 0}, {s.NumBlobs()}} {
		_, err := s.Repack(context.Background(), RepackOptions{Force: true, Order: func() ([]uint32, error) { return bad, nil }})
		if !errors.Is(err, errContentOrder) {
			t.Error(fmt.Sprint(bad), err)
		}
	}
	if err := m.check(s); err != nil {
		t.Error(err)
	}
}
