package diff

import "unicode/utf8"

// maxFunction is how many bytes of a function line a hunk's header shows, as in Git.
const maxFunction = 80

// functionBefore returns the last line before offset at of a that begins a function by Git's rule of thumb: one that
// begins with a letter, _ or $. Calls come with ascending offsets, so each line is looked at once.
func (w *writer) functionBefore(at int) []byte {
	for end := at; end > w.functionTo; {
		start := lineStart(w.a, end)
		if c := w.a[start]; c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' {
			w.function = shorten(w.a[start:end])
			break
		}
		end = start
	}
	w.functionTo = max(w.functionTo, at)
	return w.function
}

// shorten cuts line to what a header shows, between characters and without space at the end.
func shorten(line []byte) []byte {
	if len(line) > maxFunction {
		n := maxFunction
		for n > maxFunction-utf8.UTFMax && !utf8.RuneStart(line[n]) {
			n--
		}
		line = line[:n]
	}
	for len(line) > 0 && isSpace(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}
