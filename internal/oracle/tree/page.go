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
func Block(it oracle.Item) string {
	var b strings.Builder
	for _, l := range it.Lines {
		b.WriteString(strings.TrimSuffix(l, "\n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// Page is a text being put together of lines and blocks.
type Page struct{ strings.Builder }

// Add puts an item behind the others.
func (p *Page) Add(it oracle.Item) {
	if it.Block == nil {
		p.WriteString(it.Lines[0])
		return
	}
	if s := p.String(); s != "" && !strings.HasSuffix(s, "\n") {
		p.WriteByte('\n')
	}
	p.WriteString(Block(it))
}

// content is the page of a state.
func content(st *oracle.State) string {
	var p Page
	for _, it := range st.Items {
		p.Add(it)
	}
	return p.String()
}

// read cuts an edited page into the lines of which the weave's record is made. A stretch between two blocks whose bytes did
// not change has the lines that it had, even where one without a break stands before another. whole counts the blocks that stay.
func read(st *oracle.State, page string) (out []string, whole int) {
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
	for _, it := range st.Items {
		if it.Block == nil {
			was = append(was, it.Lines[0])
			continue
		}
		i := find(page, Block(it))
		if i < 0 {
			edited = true
			continue
		}
		before := page[:i]
		if shown := strings.Join(was, ""); !edited && shown != "" && !strings.HasSuffix(shown, "\n") {
			before = strings.TrimSuffix(before, "\n") // the pad
		}
		segment(before)
		out = append(out, it.Lines...)
		page = page[i+len(Block(it)):]
		whole++
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
