package safepath

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold gives the key under which a name meets others on file systems that ignore case (simple folding of Unicode),
// normal form or ignorable code points: names with different keys never collide but where the full folding differs
// ("ß" and "ss"). It allocates nothing for ASCII in lower case. Bytes that are no UTF-8 stay.
func Fold(name string) string {
	upper := false
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			return foldUnicode(name)
		}
		upper = upper || c >= 'A' && c <= 'Z'
	}
	if upper {
		return strings.ToLower(name)
	}
	return name
}

// foldUnicode decomposes before folding, as "İ" folds apart from its dot, and strips first, as an ignorable code point
// between two marks keeps them from their normal order.
func foldUnicode(name string) string {
	stripped := mapRunes(name, func(r rune) (rune, bool) { return r, !ignorable(r) })
	folded := mapRunes(norm.NFD.String(stripped), func(r rune) (rune, bool) { return foldRune(r), true })
	return norm.NFC.String(folded)
}

// mapRunes is strings.Map that leaves broken UTF-8 as it is.
func mapRunes(s string, f func(rune) (mapped rune, keep bool)) string {
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(s[0])
		} else if mapped, keep := f(r); keep {
			b.WriteRune(mapped)
		}
		s = s[size:]
	}
	return b.String()
}

// combiningIota folds together with the letter iota, which must not become a combining mark.
const combiningIota = 0x345

// foldRune picks one of the code points that differ by case only.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		if least == combiningIota || next < least && next != combiningIota {
			least = next
		}
	}
	return unicode.ToLower(least)
}
