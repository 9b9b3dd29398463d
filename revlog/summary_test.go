package revlog

import (
	"strings"
	"testing"
)

func TestSummarySaysWhatIsThere(t *testing.T) {
	l, err := Open(sample(t, 10, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := l.Summary()
	if err != nil {
		t.Fatal(err)
	}
	if s.Revisions != 10 || s.Heads != 1 || s.Whole != 1 || s.LongestChain != 9 || s.MeanChain != 4.5 || s.LongestText != len(lineText(9)) {
		t.Errorf("%+v", s)
	}
	var text, index strings.Builder
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "10, 0 of them merges; 1 heads") {
		t.Errorf("%s: %v", &text, err)
	}
	if err := l.WriteIndex(&index); err != nil || strings.Count(index.String(), "\n") != 11 {
		t.Errorf("%s: %v", &index, err)
	}
}

// Reading in order allocates nothing for each revision, once the buffers have grown.
func TestReadingInOrderDoesNotAllocate(t *testing.T) {
	for _, split := range []bool{false, true} {
		l, err := Open(sample(t, 60, split), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		r := l.Reader()
		defer r.Close()
		read := func() {
			// Not from the cache: its places are forgotten first.
			for i := range r.texts {
				r.texts[i].rev = Null
			}
			if err := r.Texts(0, 60, func(Rev, *Entry, []byte) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			read()
		}
		if n := testing.AllocsPerRun(20, read); n > 3 {
			t.Errorf("60 revisions, split %v: %v allocations", split, n)
		}
	}
}

// BenchmarkReadingInOrder shows how little reading all of a revlog allocates: what opening it takes, and nothing for each revision.
func BenchmarkReadingInOrder(b *testing.B) {
	const n = 1000
	path := sample(b, n, true)
	b.ReportAllocs()
	for b.Loop() {
		l, err := Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		r := l.Reader()
		if err := r.Texts(0, n, func(Rev, *Entry, []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
		r.Close()
		l.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/revision")
}

// BenchmarkIndexInOrder is the same of the index alone.
func BenchmarkIndexInOrder(b *testing.B) {
	const n = 1000
	path := sample(b, n, true)
	b.ReportAllocs()
	for b.Loop() {
		l, err := Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Entries(func(Rev, *Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/revision")
}
