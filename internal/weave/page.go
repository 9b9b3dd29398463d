package weave

import (
	"bytes"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Words says how the marks around a block's parts name them. No word holds a line break.
type Words struct {
	// Block names a block by its least hunk. It is the same for the same hunk, and holds no space.
	Block func(HunkID) string
	// Side labels a side, such as by short ids and first lines of messages. It is asked with Side.By: none is all together.
	Side func(by []uint32) string
}

// Page is a view as text, with marks around the parts of its blocks:
//
//	<<<<<<< BLOCK 1: SIDE
//	||||||| BLOCK base
//	=======
//	>>>>>>> BLOCK 2: SIDE
//
// The shapes are those that editors know, where the label of a side after the base stands below it. Of three sides and more
// each but the first and the last ends so:
//
//	======= BLOCK 2, above: SIDE
//
// A mark names its block, which no line of the file that looks like a mark does, so none is taken for one. Only the first
// divider is bare, for editors know no other; Cut says what that means.
type Page struct {
	Text []byte

	v      *View
	blocks []written
	marks  map[string]int // of every mark that names its block, which it is
}

// written is where a block stands in a page, and what its parts say.
type written struct {
	block    *Block
	name     string
	from, to int
	pad      []byte // a line break put before it, where the text before has none
	eol      []byte
	sides    [][]byte
	base     []byte
}

// Page writes the view. text gives the bytes of a stretch, which are not changed and may change after the next call.
func (v *View) Page(words Words, text func(change.Stretch) ([]byte, error)) (*Page, error) {
	w := pageWriter{p: &Page{v: v, marks: map[string]int{}}, text: text, alike: map[string]bool{}}
	if err := w.read(); err != nil {
		return nil, err
	}
	for i, it := range v.Items {
		if it.Block == nil {
			w.p.Text = append(w.p.Text, w.shown[i]...)
		} else {
			w.block(words)
		}
	}
	return w.p, nil
}

type pageWriter struct {
	p     *Page
	text  func(change.Stretch) ([]byte, error)
	shown [][]byte        // of each item that is no block
	alike map[string]bool // names that stand in the file where a mark would have a block's
	next  int             // block
}

// read gathers all text. A block's marks end as the first of its own lines that ends: so an edit elsewhere never changes a
// block.
func (w *pageWriter) read() (err error) {
	w.shown = make([][]byte, len(w.p.v.Items))
	for i, it := range w.p.v.Items {
		if it.Block == nil {
			if w.shown[i], err = w.bytes([]change.Stretch{it.Stretch}); err != nil {
				return err
			}
			continue
		}
		b := written{block: it.Block, sides: make([][]byte, len(it.Block.Sides))}
		ends := func(text []byte) {
			if i := bytes.IndexByte(text, '\n'); i >= 0 && b.eol == nil {
				b.eol = breakAt(text, i)
			}
		}
		for k, s := range it.Block.Sides {
			if b.sides[k], err = w.bytes(s.Show); err != nil {
				return err
			}
			ends(b.sides[k])
		}
		if b.base, err = w.bytes(it.Block.Base); err != nil {
			return err
		}
		if ends(b.base); b.eol == nil {
			b.eol = []byte("\n")
		}
		w.p.blocks = append(w.p.blocks, b)
	}
	return nil
}

// breakAt is the line break that ends at byte i.
func breakAt(b []byte, i int) []byte {
	if i > 0 && b[i-1] == '\r' {
		return []byte("\r\n")
	}
	return []byte("\n")
}

func (w *pageWriter) bytes(of []change.Stretch) (out []byte, err error) {
	for _, s := range of {
		b, err := w.text(s)
		if err != nil {
			return nil, fmt.Errorf("read %d.%d: %w", s.Change, s.Off, err)
		}
		out = append(out, b...)
	}
	for line := range bytes.Lines(out) {
		if f := bytes.Fields(line); len(f) > 1 && isSign(f[0]) {
			w.alike[string(f[1])] = true
		}
	}
	return out, nil
}

// The signs that marks begin with.
const (
	signOpen  = "<<<<<<<"
	signBase  = "|||||||"
	signSplit = "======="
	signClose = ">>>>>>>"
)

func isSign(b []byte) bool {
	s := string(b)
	return s == signOpen || s == signBase || s == signSplit || s == signClose
}

// endLine puts a line break after a last line that has none.
func endLine(text, eol []byte) ([]byte, []byte) {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return text, nil
	}
	return append(text, eol...), eol
}

func (w *pageWriter) block(words Words) {
	b := &w.p.blocks[w.next]
	b.name = words.Block(b.block.Name)
	for w.alike[b.name] {
		b.name += "~"
	}
	w.p.Text, b.pad = endLine(w.p.Text, b.eol)
	b.from = len(w.p.Text)
	last := len(b.sides) - 1
	for i, s := range b.block.Sides {
		label := func(of string) string { return fmt.Sprintf("%s %d%s: %s", b.name, i+1, of, words.Side(s.By)) }
		if i == 0 {
			w.mark(signOpen, label(""))
			w.p.Text = append(w.p.Text, b.sides[i]...)
			w.mark(signBase, b.name+" base")
			w.p.Text = append(w.p.Text, b.base...)
			w.mark(signSplit, "")
			if last == 0 {
				w.mark(signClose, b.name)
			}
			continue
		}
		w.p.Text = append(w.p.Text, b.sides[i]...)
		if i < last {
			w.mark(signSplit, label(", above"))
		} else {
			w.mark(signClose, label(""))
		}
	}
	b.to = len(w.p.Text)
	w.next++
}

func (w *pageWriter) mark(sign, words string) {
	w.p.Text, _ = endLine(w.p.Text, w.p.blocks[w.next].eol)
	line := sign
	if words != "" {
		line += " " + words
		w.p.marks[line] = w.next
	}
	w.p.Text = append(append(w.p.Text, line...), w.p.blocks[w.next].eol...)
}

// Placed is a block with where it stands in a page and what its parts say.
type Placed struct {
	*Block
	Name        string // as its marks name it
	Line, Lines int    // its first line in the page, from 1, and how many
	Sides       [][]byte
	Base        []byte
}

// Placed lists the blocks in the order in which they stand.
func (p *Page) Placed() []Placed {
	out := make([]Placed, len(p.blocks))
	line, at := 1, 0
	for i := range p.blocks {
		b := &p.blocks[i]
		line += bytes.Count(p.Text[at:b.from], []byte("\n"))
		at = b.from
		out[i] = Placed{Block: b.block, Name: b.name, Line: line, Lines: bytes.Count(p.Text[b.from:b.to], []byte("\n")), Sides: b.sides, Base: b.base}
	}
	return out
}
