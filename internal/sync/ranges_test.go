package sync

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

func randomIDs(r *rand.ChaCha8, n int) []change.ID {
	out := make([]change.ID, n)
	for i := range out {
		_, _ = r.Read(out[i][:])
	}
	return out
}

// wire counts what passes when two sets are told apart, as the messages themselves.
func wire(t *testing.T, ours, theirs *IDSet) (onlyOurs, onlyTheirs []change.ID, total, trips int) {
	t.Helper()
	pass := func(ranges []Range) []Range {
		var b bytes.Buffer
		w, err := NewWriter(&b, Zstd)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Ranges(ranges), w.Close()); err != nil {
			t.Fatal(err)
		}
		total += b.Len()
		r, err := NewReader(&b, MaxMessage)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		out, err := r.RangesReply()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	onlyOurs, onlyTheirs, err := ours.Apart(func(say []Range) ([]Range, error) {
		trips++
		answers, err := theirs.Answer(pass(say))
		if err != nil {
			return nil, err
		}
		return pass(answers), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return onlyOurs, onlyTheirs, total, trips
}

// TestFewBytes: a million common ids and ten new ones cost less than 64 KiB and four round trips.
func TestFewBytes(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	common := randomIDs(r, 1_000_000)
	news := randomIDs(r, 10)
	ours := NewIDSet(slices.Clone(common))
	theirs := NewIDSet(append(slices.Clone(common), news...))
	change.SortIDs(news)
	onlyOurs, onlyTheirs, total, trips := wire(t, ours, theirs)
	change.SortIDs(onlyTheirs)
	if len(onlyOurs) != 0 || !slices.Equal(onlyTheirs, news) {
		t.Fatalf("found %d and %d", len(onlyOurs), len(onlyTheirs))
	}
	t.Logf("%d bytes, %d round trips", total, trips)
	if total >= 64<<10 || trips > 4 {
		t.Errorf("%d bytes, %d round trips", total, trips)
	}
}

func TestApart(t *testing.T) {
	r := rand.NewChaCha8([32]byte{2})
	for _, c := range []struct{ common, ours, theirs int }{
		{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 500, 700}, {5000, 0, 0}, {5000, 1, 0}, {5000, 0, 1}, {5000, 300, 20}, {100, 0, 20_000}, {100, 20_000, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			common, a, b := randomIDs(r, c.common), randomIDs(r, c.ours), randomIDs(r, c.theirs)
			onlyOurs, onlyTheirs, _, _ := wire(t, NewIDSet(append(slices.Clone(common), a...)), NewIDSet(append(slices.Clone(common), b...)))
			for _, x := range [][]change.ID{a, b, onlyOurs, onlyTheirs} {
				change.SortIDs(x)
			}
			if !slices.Equal(onlyOurs, a) || !slices.Equal(onlyTheirs, b) {
				t.Errorf("found %d and %d", len(onlyOurs), len(onlyTheirs))
			}
		})
	}
}

// TestApartFromALiar: answers to no question, or that lead nowhere, end the asking.
func TestApartFromALiar(t *testing.T) {
	r := rand.NewChaCha8([32]byte{3})
	ours := NewIDSet(randomIDs(r, 5000))
	for i, lie := range []func(say []Range) []Range{
		func(say []Range) []Range { return say },
		func(say []Range) []Range { return []Range{{Level: 7, IDs: []change.ID{{}}}} },
		func(say []Range) []Range { return []Range{{Level: 1}, {Level: 1}} },
	} {
		if _, _, err := ours.Apart(func(say []Range) ([]Range, error) { return lie(say), nil }); !errors.Is(err, ErrMalformed) {
			t.Errorf("lie %d: %v", i, err)
		}
	}
}

func FuzzRanges(f *testing.F) {
	r := rand.NewChaCha8([32]byte{4})
	set := NewIDSet(randomIDs(r, 3000))
	var b bytes.Buffer
	w, _ := NewWriter(&b, Raw)
	_ = w.Ranges([]Range{set.Say(0, [32]byte{}), {Level: 2, IDs: nil}})
	f.Add(b.Bytes()[len(magic)+1:])
	f.Add([]byte{1, 0, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		ranges, err := decodeRanges(data)
		if err != nil {
			return
		}
		if _, err := set.Answer(ranges); err != nil && !errors.Is(err, ErrTooDifferent) {
			t.Fatal(err)
		}
	})
}
