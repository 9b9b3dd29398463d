package store

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// putContents makes a store with contents, each under the hash that it is said to have.
func putContents(t *testing.T, said, contents [][]byte) *Store {
	t.Helper()
	s := open(t, newMem(t))
	tx, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range contents {
		if err := tx.own.Put(hashOf(said[i]), b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(Op{View: NewView()}, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// A content whose frame is sound and which is another than its hash says, as by bad memory, is replaced; what the other store has
// beyond that is not taken, and a store without damage is not packed.
func TestReplaceFalseContent(t *testing.T) {
	rng := testRand(21)
	var right, wrong [][]byte
	for i := range 9 {
		b := textLike(rng, 300+i*4000)
		right, wrong = append(right, b), append(wrong, b)
	}
	for _, i := range []int{0, 5} {
		wrong[i] = bytes.ToUpper(wrong[i])
	}
	replace := func(s, from *Store) (RepackStats, error) {
		return s.Repack(context.Background(), RepackOptions{Replace: &Replace{From: from}})
	}
	s, from := putContents(t, right, wrong), putContents(t, append(right[1:], []byte("beyond"), right[0]), append(right[1:], []byte("beyond"), right[0]))
	bad, err := s.Bad(context.Background(), func(int64) {})
	if err != nil || len(bad.Contents) != 2 || len(bad.Changes)+len(bad.States)+len(bad.Ops)+bad.Frames != 0 {
		t.Fatalf("%+v, %v", bad, err)
	}
	st, err := replace(s, from)
	if err != nil || !st.Packed || st.Contents != 2 || st.Lost != 0 || st.Dropped || s.NumBlobs() != 9 {
		t.Fatalf("%+v, %v; %d contents", st, err, s.NumBlobs())
	}
	for _, b := range right {
		if got, err := s.Blob(nil, hashOf(b)); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%d bytes of %d, %v", len(got), len(b), err)
		}
	}
	if st, err := replace(s, from); err != nil || st.Packed {
		t.Errorf("without damage: %+v, %v", st, err)
	}
	// Nobody has the one: it is left out. Nobody has any: nothing is written.
	s = putContents(t, right, wrong)
	st, err = replace(s, putContents(t, right[5:6], right[5:6]))
	if err != nil || st.Contents != 1 || st.Lost != 1 || st.Dropped || s.NumBlobs() != 8 {
		t.Errorf("%+v, %v; %d contents", st, err, s.NumBlobs())
	}
	if _, err := s.Blob(nil, hashOf(right[0])); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	s = putContents(t, right, wrong)
	st, err = replace(s, putContents(t, right[1:2], right[1:2]))
	if !errors.Is(err, ErrNotReplaced) || st.Packed || s.NumBlobs() != 9 {
		t.Errorf("%+v, %v", st, err)
	}
}
