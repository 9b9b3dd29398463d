package safepath

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quote gives a path as a person sees it in messages: unchanged when it is printable UTF-8 without double quotes and
// backslashes, otherwise in double quotes with the escapes of C, as Git shows it with core.quotePath off. No path looks
// like another, and none moves the terminal's cursor.
func Quote(path string) string {
	for i := 0; i < len(path); {
		size := plain(path[i:])
		if size == 0 {
			return quote(path)
		}
		i += size
	}
	if path == "" {
		return `""`
	}
	return path
}

// plain gives the size of the first rune of s if it can be shown as it is, else 0.
func plain(s string) int {
	if c := s[0]; c < utf8.RuneSelf {
		if c < ' ' || c == 0x7F || c == '"' || c == '\\' {
			return 0
		}
		return 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 || !strconv.IsPrint(r) {
		return 0
	}
	return size
}

func quote(path string) string {
	var b strings.Builder
	b.Grow(len(path) + 8)
	b.WriteByte('"')
	for i := 0; i < len(path); {
		if size := plain(path[i:]); size > 0 {
			b.WriteString(path[i : i+size])
			i += size
			continue
		}
		// Of a rune that is not shown each byte is escaped in turn: those after the first are no runes by themselves.
		escape(&b, path[i])
		i++
	}
	b.WriteByte('"')
	return b.String()
}

func escape(b *strings.Builder, c byte) {
	const escaped, letters = "\a\b\t\n\v\f\r\"\\", `abtnvfr"\`
	b.WriteByte('\\')
	if i := strings.IndexByte(escaped, c); i >= 0 {
		b.WriteByte(letters[i])
		return
	}
	b.WriteByte('0' + c>>6)
	b.WriteByte('0' + c>>3&7)
	b.WriteByte('0' + c&7)
}
