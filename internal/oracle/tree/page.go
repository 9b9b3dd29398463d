package tree

import (
	"strings"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// A text is handed out and taken back as bytes. In them a block's lines each end with a line break, and a text before it
// that does not end with one is padded.

// lines cuts a text after each line break.
func lines(s string) (out []string) {
	for l := range strings.Lines(s) {
		out = append(out, l)
	}
	return
}

// Block is an open block in its page's text.
func (w *World) Block(x File, it oracle.Item) string {
	if w.Blocks != nil {
		return w.Blocks(x, it)
	}
	var b strings.Builder
	for _, l := range it.Lines {
		b.WriteString(strings.TrimSuffix(l, "\n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// pad is what a block puts behind a text before it that does not end with a line break.
func pad(block string) string {
	if strings.HasSuffix(block, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// Page is a file's text being put together of lines and blocks.
type Page struct {
	strings.Builder
	w *World
	x File
}

// NewPage begins one.
func (w *World) NewPage(x File) *Page { return &Page{w: w, x: x} }

// Add puts an item behind the others.
func (p *Page) Add(it oracle.Item) {
	if it.Block == nil {
		p.WriteString(it.Lines[0])
		return
	}
	block := p.w.Block(p.x, it)
	if s := p.String(); s != "" && !strings.HasSuffix(s, "\n") {
		p.WriteString(pad(block))
	}
	p.WriteString(block)
}

// content is the page of a state.
func (w *World) content(x File, st *oracle.State) string {
	p := w.NewPage(x)
	for _, it := range st.Items {
		p.Add(it)
	}
	return p.String()
}

// read cuts an edited page into the lines of which the weave's record is made. A stretch between two blocks whose bytes did
// not change has the lines that it had, even where one without a break stands before another. A pad is no part of the text.
func (w *World) read(x File, st *oracle.State, page string) (out []string) {
	var was []string // what shows since the last block that stays
	edited := false  // a block was edited away since
	segment := func(s string) {
		if shown := strings.Join(was, ""); !edited && s == shown {
			out = append(out, was...)
		} else {
			out = append(out, lines(s)...)
		}
		was, edited = nil, false
	}
	for n, it := range st.Items {
		if it.Block == nil {
			was = append(was, it.Lines[0])
			continue
		}
		block := w.Block(x, it)
		i := find(page, block)
		if i < 0 {
			edited = true
			continue
		}
		before := page[:i]
		if n > 0 && st.Items[n-1].Block == nil && !strings.HasSuffix(st.Items[n-1].Lines[0], "\n") {
			before = strings.TrimSuffix(before, pad(block))
		}
		segment(before)
		out = append(out, it.Lines...)
		page = page[i+len(block):]
	}
	segment(page)
	return
}

// find is where a block begins in a page, at the beginning of a line.
func find(page, block string) int {
	for i := 0; i+len(block) <= len(page); i++ {
		if page[i:i+len(block)] == block && (i == 0 || page[i-1] == '\n') {
			return i
		}
	}
	return -1
}
