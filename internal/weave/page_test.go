package weave

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

var numbers = Words{
	Block: func(id HunkID) string { return fmt.Sprint(id.Change, ".", id.Index) },
	Side:  func(by []uint32) string { return strings.Trim(fmt.Sprint(by), "[]") },
}

func (h history) page(t *testing.T, v *View) *Page {
	p, err := v.Page(numbers, func(s change.Stretch) ([]byte, error) {
		return []byte(h.Inserted(s.Change)[s.Off : s.Off+s.Len]), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// conflict is a base that some edited, each on their own.
func conflict(t *testing.T, base []string, edits ...[]string) (history, *Weave) {
	s := oracle.NewStory(3)
	h := history{s.World}
	s.World.Changes = nil
	record := func(on oracle.Set, want []string) *oracle.Change {
		c, err := s.Record(on, want)
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		return c
	}
	record(oracle.Set{}, base)
	w := New(h.patch(0).Source)
	for _, e := range edits {
		c := record(oracle.Of(0), e)
		var err error
		if w, err = w.Add(h.patch(c.Num), h); err != nil {
			t.Fatal(err)
		}
	}
	return h, w
}

func TestPage(t *testing.T) {
	for _, k := range []struct {
		name        string
		base, l, r  []string
		lFirst, rOf string
	}{
		{"lines", []string{"1\n", "x\n", "2\n"}, []string{"1\n", "L\n", "2\n"}, []string{"1\n", "R\n", "2\n"},
			"1\n<<<<<<< 1.0 1\nL\n||||||| 1.0 base\nx\n======= 1.0 2\nR\n>>>>>>> 1.0\n2\n", "1\n<<<<<<< 2.0 2\nR\n||||||| 2.0 base\nx\n======= 2.0 1\nL\n>>>>>>> 2.0\n2\n"},
		{"line ends of Windows", []string{"1\r\n", "x\r\n"}, []string{"1\r\n", "L\r\n"}, []string{"1\r\n"},
			"1\r\n<<<<<<< 1.0 1\r\nL\r\n||||||| 1.0 base\r\nx\r\n======= 1.0 2\r\n>>>>>>> 1.0\r\n", "1\r\n<<<<<<< 2.0 2\r\n||||||| 2.0 base\r\nx\r\n======= 2.0 1\r\nL\r\n>>>>>>> 2.0\r\n"},
		{"no last line break", []string{"1\n", "x"}, []string{"1\n", "L"}, []string{"1\n", "R"},
			"1\n<<<<<<< 1.0 1\nL\n||||||| 1.0 base\nx\n======= 1.0 2\nR\n>>>>>>> 1.0\n", "1\n<<<<<<< 2.0 2\nR\n||||||| 2.0 base\nx\n======= 2.0 1\nL\n>>>>>>> 2.0\n"},
	} {
		t.Run(k.name, func(t *testing.T) {
			h, w := conflict(t, k.base, k.l, k.r)
			v, err := w.View(h)
			if err != nil {
				t.Fatal(err)
			}
			want := k.lFirst
			if h.Less(2, 1) {
				want = k.rOf
			}
			p := h.page(t, v)
			if string(p.Text) != want {
				t.Fatalf("got %q\nwant %q", p.Text, want)
			}
			segments, texts, err := p.Cut(p.Text)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range segments {
				shown := ""
				for _, x := range s.Text {
					shown += h.Inserted(x.Change)[x.Off : x.Off+x.Len]
				}
				if shown != string(texts[i]) {
					t.Errorf("segment %d, unedited, says %q where %q shows", i, texts[i], shown)
				}
			}
		})
	}
}

// A text that ends without a line break before a block is as it was when nothing is edited.
func TestPadBeforeBlock(t *testing.T) {
	h, w := conflict(t, []string{"1"}, []string{"1", "L\n"}, []string{"1", "R\n"})
	v, err := w.View(h)
	if err != nil {
		t.Fatal(err)
	}
	p := h.page(t, v)
	_, texts, err := p.Cut(p.Text)
	if err != nil || string(texts[0]) != "1" || !bytes.HasPrefix(p.Text, []byte("1\n<<<<<<< ")) {
		t.Errorf("%q, %v of %q", texts, err, p.Text)
	}
}

// Every part of a block that is left behind is refused with the block's name; a line that only looks like a mark is not.
func TestHalfBlock(t *testing.T) {
	h, w := conflict(t, []string{"1\n", "x\n", "2\n"}, []string{"1\n", "L\n", "2\n"}, []string{"1\n", "R\n", "2\n"})
	v, err := w.View(h)
	if err != nil {
		t.Fatal(err)
	}
	p := h.page(t, v)
	lines := slices.Collect(strings.Lines(string(p.Text)))
	for i, l := range lines {
		if _, mark := p.marks[strings.TrimSuffix(l, "\n")]; !mark {
			continue
		}
		_, _, err := p.Cut([]byte(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")))
		var half *HalfBlockError
		if !errors.As(err, &half) || half.Block != numbers.Block(v.Items[1].Block.Name) {
			t.Errorf("without %q: %v", l, err)
		}
	}
	if _, _, err := p.Cut(bytes.Replace(p.Text, []byte("<<<"), []byte("x<<<"), 1)); err == nil {
		t.Error("took a block for whole whose first line was edited")
	}
	if _, _, err := p.Cut([]byte("1\n=======\n<<<<<<<\n>>>>>>> mine\n2\n")); err != nil {
		t.Errorf("refused what only looks like marks: %v", err)
	}
}
