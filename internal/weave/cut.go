package weave

import (
	"bytes"
	"fmt"
)

// HalfBlockError says that an edited text holds a mark of a block that does not stand whole in it.
type HalfBlockError struct {
	Block string // as the page names it
	Mark  string
}

func (e *HalfBlockError) Error() string {
	return fmt.Sprintf("part of conflict %s is left: %q; edit all of it away, or none", e.Block, e.Mark)
}

// Cut finds which blocks stand unchanged in an edited text: they stay open. texts is what the edited text says in each
// segment between them; to be recorded, the edits from each segment's Text to its text go to View.Record. It gives a
// *HalfBlockError when a part of a block is left. A bare divider is taken for one where a block was edited away, unless
// the file itself has such a line there.
func (p *Page) Cut(edited []byte) (segments []Segment, texts [][]byte, err error) {
	kept := make([]bool, len(p.blocks))
	from := 0
	var gone []int // blocks edited away since the last that stands
	check := func(text []byte) error {
		err := p.whole(text, gone)
		texts, gone = append(texts, text), nil
		return err
	}
	for i, b := range p.blocks {
		at, n := findLines(edited, p.Text[b.from:b.to], b.eol, from)
		if at < 0 {
			gone = append(gone, i)
			continue
		}
		if err := check(bytes.TrimSuffix(edited[from:at], b.pad)); err != nil {
			return nil, nil, err
		}
		kept[i], from = true, at+n
	}
	if err := check(edited[from:]); err != nil {
		return nil, nil, err
	}
	return p.v.Segments(func(i int) bool { return kept[i] }), texts, nil
}

// findLines gives where whole lines stand in a text, from a line's start on, and their length; -1 for nowhere. The last
// line break may be missing at the text's end.
func findLines(text, lines, eol []byte, from int) (at, n int) {
	for at := from; ; at++ {
		i := bytes.Index(text[at:], lines)
		if i < 0 {
			break
		}
		if at += i; at == from || text[at-1] == '\n' {
			return at, len(lines)
		}
	}
	short := bytes.TrimSuffix(lines, eol)
	if at := len(text) - len(short); at >= from && bytes.HasSuffix(text, short) && (at == from || text[at-1] == '\n') {
		return at, len(short)
	}
	return -1, 0
}

// whole refuses a text with a mark in it. Some blocks were edited away in it.
func (p *Page) whole(text []byte, gone []int) error {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if i, ok := p.marks[string(line)]; ok {
			return &HalfBlockError{p.blocks[i].name, string(line)}
		}
		if string(line) == signSplit && len(gone) > 0 && !p.divided(gone) {
			return &HalfBlockError{p.blocks[gone[0]].name, signSplit}
		}
	}
	return nil
}

// divided reports whether the file has a line that looks like a bare divider beside or in some blocks.
func (p *Page) divided(blocks []int) bool {
	from, to := 0, len(p.Text)
	if i := blocks[0]; i > 0 {
		from = p.blocks[i-1].to
	}
	if i := blocks[len(blocks)-1]; i < len(p.blocks)-1 {
		to = p.blocks[i+1].from
	}
	n := 0
	for line := range bytes.Lines(p.Text[from:to]) {
		if string(bytes.TrimRight(line, "\r\n")) == signSplit {
			n++
		}
	}
	return n > len(blocks) // each has one of its own
}

// HasMark reports whether a text has a mark of a block of that name.
func HasMark(text []byte, name string) bool {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 1 && isSign(f[0]) && string(bytes.TrimSuffix(f[1], []byte(","))) == name {
			return true
		}
	}
	return false
}

// Resolve decides blocks that stand unchanged in an edited text, perhaps the page's own, to be recorded through Cut: decide gives
// for each the texts that stand in its stead, one after the other, perhaps none; or says that it stays open. It tells how
// many were decided.
func (p *Page) Resolve(edited []byte, decide func(b *Block) (parts [][]byte, decided bool)) (out []byte, n int) {
	from := 0
	for i := range p.blocks {
		b := &p.blocks[i]
		at, size := findLines(edited, p.Text[b.from:b.to], b.eol, from)
		if at < 0 {
			continue
		}
		parts, decided := decide(b.block)
		if !decided {
			out, from = append(out, edited[from:at+size]...), at+size
			continue
		}
		n++
		out = append(out, bytes.TrimSuffix(edited[from:at], b.pad)...)
		from = at + size
		for _, text := range parts {
			if len(text) > 0 {
				out, _ = endLine(out, b.eol)
				out = append(out, text...)
			}
		}
		if from < len(edited) {
			out, _ = endLine(out, b.eol)
		}
	}
	return append(out, edited[from:]...), n
}
