package diff

// Palette holds the escape sequences that begin each kind of text, and Reset that ends all. The caller decides
// whether there is a terminal and what it can show; an empty sequence leaves a kind plain.
type Palette struct {
	Context, Hunk, Func string
	Old, New            string
	OldMoved, NewMoved  string // for lines that Unified.Moved finds
	Reset               string
}

var plain Palette

// paint appends text in a colour.
func (p *Palette) paint(dst []byte, colour string, text []byte) []byte {
	if colour == "" || len(text) == 0 {
		return append(dst, text...)
	}
	dst = append(dst, colour...)
	dst = append(dst, text...)
	return append(dst, p.Reset...)
}
