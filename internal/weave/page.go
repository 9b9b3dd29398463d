package weave

import (
	"bytes"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Words says how the marks around a block's parts name them. Names hold no line break.
type Words struct {
	Block func(HunkID) string   // the same for the same hunk: an edited text is searched for it
	Side  func([]uint32) string // of the changes that a side is named by; none for all together
}

// Page is a view as text, with marks around the parts of its blocks:
//
//	<<<<<<< BLOCK SIDE
//	||||||| BLOCK base
//	======= BLOCK SIDE
//	>>>>>>> BLOCK
//
// Every mark names its block, so a line of the file that only looks like one is not taken for it.
type Page struct {
	Text []byte

	v      *View
	blocks []written
	marks  map[string]string // of every mark, its block's name
}

// written is where a block stands in a page.
type written struct {
	from, to int
	pad      []byte // a line break put before it, where the text before has none
}

// Page writes the view. text gives the bytes of a stretch.
func (v *View) Page(words Words, text func(change.Stretch) ([]byte, error)) (*Page, error) {
	p := &Page{v: v, marks: map[string]string{}}
	w := pageWriter{p: p, text: text, eol: []byte("\n")}
	for _, it := range v.Items {
		if it.Block == nil {
			w.show([]change.Stretch{it.Stretch})
		} else {
			w.block(it.Block, words)
		}
	}
	return p, w.err
}

type pageWriter struct {
	p    *Page
	text func(change.Stretch) ([]byte, error)
	eol  []byte // as the last line before ended
	err  error
}

func (w *pageWriter) show(of []change.Stretch) {
	for _, s := range of {
		b, err := w.text(s)
		if err != nil {
			w.err = fmt.Errorf("read %d.%d: %w", s.Change, s.Off, err)
		}
		w.p.Text = append(w.p.Text, b...)
	}
	if bytes.HasSuffix(w.p.Text, []byte("\n")) {
		w.eol = []byte("\n")
		if bytes.HasSuffix(w.p.Text, []byte("\r\n")) {
			w.eol = []byte("\r\n")
		}
	}
}

// pad ends a last line that has no break.
func (w *pageWriter) pad() []byte {
	if len(w.p.Text) == 0 || w.p.Text[len(w.p.Text)-1] == '\n' {
		return nil
	}
	w.p.Text = append(w.p.Text, w.eol...)
	return w.eol
}

func (w *pageWriter) mark(sign, name, words string) {
	w.pad()
	line := sign + " " + name
	if words != "" {
		line += " " + words
	}
	w.p.marks[line] = name
	w.p.Text = append(append(w.p.Text, line...), w.eol...)
}

func (w *pageWriter) block(b *Block, words Words) {
	name := words.Block(b.Name)
	at := written{pad: w.pad()}
	at.from = len(w.p.Text)
	for i, s := range b.Sides {
		sign := "======="
		if i == 0 {
			sign = "<<<<<<<"
		}
		w.mark(sign, name, words.Side(s.By))
		w.show(s.Show)
		if i == 0 {
			w.mark("|||||||", name, "base")
			w.show(b.Base)
		}
	}
	w.mark(">>>>>>>", name, "")
	at.to = len(w.p.Text)
	w.p.blocks = append(w.p.blocks, at)
}

// HalfBlockError says that an edited text holds a mark of a block that does not stand whole in it.
type HalfBlockError struct {
	Block string
	Mark  string
}

func (e *HalfBlockError) Error() string {
	return fmt.Sprintf("part of conflict %s is left: %q; edit all of it away, or none", e.Block, e.Mark)
}

// Cut finds which blocks stand unchanged in an edited text: they stay open. texts is what the edited text says in each
// segment between them; to be recorded, each is compared with its segment's. It gives a *HalfBlockError when a part
// of a block is left.
func (p *Page) Cut(edited []byte) (segments []Segment, texts [][]byte, err error) {
	kept := make([]bool, len(p.blocks))
	from := 0
	for i, b := range p.blocks {
		at := findLines(edited, p.Text[b.from:b.to], from)
		if at < 0 {
			continue
		}
		texts = append(texts, bytes.TrimSuffix(edited[from:at], b.pad))
		kept[i], from = true, at+b.to-b.from
	}
	texts = append(texts, edited[from:])
	for _, t := range texts {
		if err := p.whole(t); err != nil {
			return nil, nil, err
		}
	}
	return p.v.Segments(func(i int) bool { return kept[i] }), texts, nil
}

// findLines gives where whole lines stand in a text, from a line's start on; -1 for nowhere.
func findLines(text, lines []byte, from int) int {
	for at := from; ; at++ {
		i := bytes.Index(text[at:], lines)
		if i < 0 {
			return -1
		}
		if at += i; at == from || text[at-1] == '\n' {
			return at
		}
	}
}

// whole refuses a text with a mark in it.
func (p *Page) whole(text []byte) error {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if name, ok := p.marks[string(line)]; ok {
			return &HalfBlockError{name, string(line)}
		}
	}
	return nil
}
