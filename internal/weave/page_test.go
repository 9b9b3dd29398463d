package weave

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

var numbers = Words{
	Block: func(id HunkID) string { return fmt.Sprint(id.Change, ".", id.Index) },
	Side:  func(by []uint32) string { return strings.Trim(fmt.Sprint(by), "[]") },
}

// insertions tells what changes inserted.
type insertions interface{ Inserted(c uint32) string }

// textOf is what stretches say.
func textOf(h insertions, of []change.Stretch) (s string) {
	for _, x := range of {
		s += h.Inserted(x.Change)[x.Off : x.Off+x.Len]
	}
	return s
}

func pageOf(t *testing.T, h insertions, v *View) *Page {
	p, err := v.Page(numbers, func(s change.Stretch) ([]byte, error) { return []byte(textOf(h, []change.Stretch{s})), nil })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// beside is changes that each know of the first only, as what they inserted.
type beside []string

func (b beside) Less(x, y uint32) bool    { return x < y }
func (b beside) Reaches(x, y uint32) bool { return x == y || y == 0 }
func (b beside) Inserted(c uint32) string { return b[c] }
func (b beside) SameText(x, y change.Stretch) (bool, error) {
	return textOf(b, []change.Stretch{x}) == textOf(b, []change.Stretch{y}), nil
}

// conflict is a base that some edited, each on their own.
func conflict(t *testing.T, base []string, texts ...[]string) (beside, *Weave) {
	h := beside{strings.Join(base, "")}
	first := New(Source{Size: uint32(len(h[0]))})
	w := first
	for i, e := range texts {
		es, ins := edits(base, e), ""
		for k := range es {
			b0 := len(ins)
			ins += strings.Join(e, "")[es[k].B0:es[k].B1]
			es[k].B0, es[k].B1 = b0, len(ins)
		}
		hunks, _, err := first.Record(es)
		if err != nil {
			t.Fatal(err)
		}
		h = append(h, ins)
		if w, err = w.Add(Patch{Source: Source{Change: uint32(i + 1), Size: uint32(len(ins))}, Hunks: hunks}, h); err != nil {
			t.Fatal(err)
		}
	}
	return h, w
}

func TestPage(t *testing.T) {
	for _, k := range []struct {
		name       string
		base, l, r []string
		want       string // N: the block's name, A and B: its sides, %A and %B: their texts
	}{
		{"lines", []string{"1\n", "x\n", "2\n"}, []string{"1\n", "L\n", "2\n"}, []string{"1\n", "R\n", "2\n"},
			"1\n<<<<<<< N 1: A\n%A||||||| N base\nx\n=======\n%B>>>>>>> N 2: B\n2\n"},
		{"line ends of Windows", []string{"1\r\n", "x\r\n"}, []string{"1\r\n", "L\r\n"}, []string{"1\r\n", "R\r\n"},
			"1\r\n<<<<<<< N 1: A\r\n%A||||||| N base\r\nx\r\n=======\r\n%B>>>>>>> N 2: B\r\n"},
		{"line ends of Windows, nothing before", []string{"x\r\n"}, []string{"L\r\n"}, []string{"R\r\n"},
			"<<<<<<< N 1: A\r\n%A||||||| N base\r\nx\r\n=======\r\n%B>>>>>>> N 2: B\r\n"},
		{"no last line break", []string{"1\n", "x"}, []string{"1\n", "L"}, []string{"1\n", "R"},
			"1\n<<<<<<< N 1: A\n%A\n||||||| N base\nx\n=======\n%B\n>>>>>>> N 2: B\n"},
		{"lines that look like marks", []string{"<<<<<<< M 1: a\n", "x\n", "=======\n"}, []string{"<<<<<<< M 1: a\n", "L\n", "=======\n"},
			[]string{"<<<<<<< M 1: a\n", "R\n", "=======\n"},
			"<<<<<<< M 1: a\n<<<<<<< N 1: A\n%A||||||| N base\nx\n=======\n%B>>>>>>> N 2: B\n=======\n"},
	} {
		t.Run(k.name, func(t *testing.T) {
			h, w := conflict(t, k.base, k.l, k.r)
			v, err := w.View(h)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer(" N", " 1.0", ": A", ": 1", ": B", ": 2", "%A", h[1], "%B", h[2]).Replace(k.want)
			p := pageOf(t, h, v)
			if string(p.Text) != want {
				t.Fatalf("got %q\nwant %q", p.Text, want)
			}
			for _, edited := range [][]byte{p.Text, bytes.TrimRight(p.Text, "\r\n")} {
				if len(edited) < len(p.Text) && v.Items[len(v.Items)-1].Block == nil {
					continue
				}
				segments, texts, err := p.Cut(edited)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range segments {
					if shown := textOf(h, s.Text); shown != string(texts[i]) {
						t.Errorf("segment %d, unedited, says %q where %q shows", i, texts[i], shown)
					}
				}
			}
			// Each side, the base, and both sides: as if whoever edits had taken the marks and the rest away.
			whole := string(p.Text[:p.blocks[0].from]) + "%" + string(p.Text[p.blocks[0].to:])
			for _, c := range []struct {
				parts []int
				want  string
			}{{[]int{0}, h[1]}, {[]int{1}, h[2]}, {[]int{theBase}, textOf(h, v.Blocks()[0].Base)}, {nil, ""}} {
				got, n := p.Resolve(p.Text, func(*Block) ([][]byte, bool) { return partsOf(p.Placed()[0], c.parts), true })
				if want := strings.Replace(whole, "%", c.want, 1); n != 1 || string(got) != want {
					t.Errorf("%v makes %q, %d decided, want %q", c.parts, got, n, want)
				}
				if _, _, err := p.Cut(got); err != nil {
					t.Errorf("%v makes %q: %v", c.parts, got, err)
				}
			}
			both, _ := p.Resolve(p.Text, func(*Block) ([][]byte, bool) { return partsOf(p.Placed()[0], []int{1, 0}), true })
			joined := h[2]
			if !strings.HasSuffix(joined, "\n") {
				joined += "\n"
			}
			if want := strings.Replace(whole, "%", joined+h[1], 1); string(both) != want {
				t.Errorf("both make %q, want %q", both, want)
			}
		})
	}
}

// A file that holds what would be a mark of its own conflict, as one does where marks were recorded as text.
func TestMarksAsText(t *testing.T) {
	lines := func(x string) []string { return []string{"<<<<<<< 1.0 1: 1\n", x, ">>>>>>> 2.0 2: 2\n"} }
	h, w := conflict(t, lines("x\n"), lines("L\n"), lines("R\n"))
	v, err := w.View(h)
	if err != nil {
		t.Fatal(err)
	}
	p := pageOf(t, h, v)
	if _, _, err := p.Cut(p.Text); err != nil {
		t.Errorf("%v of\n%s", err, p.Text)
	}
	if !bytes.Contains(p.Text, []byte(".0~ 1: ")) {
		t.Errorf("the block's name is another's:\n%s", p.Text)
	}
}

// A text that ends without a line break before a block is as it was when nothing is edited.
func TestPadBeforeBlock(t *testing.T) {
	h, w := conflict(t, []string{"1"}, []string{"1", "L\n"}, []string{"1", "R\n"})
	v, err := w.View(h)
	if err != nil {
		t.Fatal(err)
	}
	p := pageOf(t, h, v)
	_, texts, err := p.Cut(p.Text)
	if err != nil || string(texts[0]) != "1" || !bytes.HasPrefix(p.Text, []byte("1\n<<<<<<< ")) {
		t.Errorf("%q, %v of %q", texts, err, p.Text)
	}
}

// Every part of a block that is left behind is refused with the block's name; a line that only looks like a mark is not.
func TestHalfBlock(t *testing.T) {
	h, w := conflict(t, []string{"1\n", "x\n", "2\n"}, []string{"1\n", "L\n", "2\n"}, []string{"1\n", "R\n", "2\n"}, []string{"1\n", "S\n", "2\n"})
	v, err := w.View(h)
	if err != nil {
		t.Fatal(err)
	}
	p := pageOf(t, h, v)
	lines := slices.Collect(strings.Lines(string(p.Text)))
	marks := 0
	refused := func(what, text string) {
		_, _, err := p.Cut([]byte(text))
		var half *HalfBlockError
		if !errors.As(err, &half) || half.Block != numbers.Block(v.Blocks()[0].Name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, l := range lines {
		if _, mark := p.marks[strings.TrimSuffix(l, "\n")]; mark || l == "=======\n" {
			marks++
			refused("without "+l, strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""))
			refused("only "+l, "1\n"+l+"2\n")
		}
	}
	if marks != 5 {
		t.Errorf("%d marks in\n%s", marks, p.Text)
	}
	if _, _, err := p.Cut(bytes.Replace(p.Text, []byte("<<<"), []byte("x<<<"), 1)); err == nil {
		t.Error("took a block for whole whose first line was edited")
	}
	if _, _, err := p.Cut([]byte("1\n======\n<<<<<<<\n>>>>>>> mine\n2\n")); err != nil {
		t.Errorf("refused what only looks like marks: %v", err)
	}
}

// Where the file has a line that looks like a bare divider, one may stay when the block beside it is edited away.
func TestDividerInFile(t *testing.T) {
	h, w := conflict(t, []string{"1\n", "x\n", "=======\n"}, []string{"1\n", "L\n", "=======\n"}, []string{"1\n", "R\n", "=======\n"})
	v, err := w.View(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, texts, err := pageOf(t, h, v).Cut([]byte("1\nM\n=======\n")); err != nil || len(texts) != 1 {
		t.Errorf("%q, %v", texts, err)
	}
}
