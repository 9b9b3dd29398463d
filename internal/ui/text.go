package ui

import "unicode/utf8"

// AppendClean appends text that somebody else wrote, with what could command the terminal made visible: a message must
// not be able to move the cursor, to colour, or to answer for the person who reads it. Line ends and tabs stay.
func AppendClean(dst []byte, s string) []byte {
	clean := 0 // s[:clean] is appended
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r > 0x9f && !directs(r) && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = append(dst, s[clean:i]...)
		switch {
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n': // a message written elsewhere
		case r < 0x20:
			dst = append(dst, '^', c^0x40)
		case r == 0x7f:
			dst = append(dst, '^', '?')
		case size == 1:
			dst = append(dst, "\ufffd"...)
		default:
			dst = append(dst, '<')
			dst = appendHex(dst, r)
			dst = append(dst, '>')
		}
		i += size
		clean = i
	}
	return append(dst, s[clean:]...)
}

// directs tells the characters that turn the direction of text, which make it read other than it is.
func directs(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func appendHex(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	for shift := 12; shift >= 0; shift -= 4 {
		dst = append(dst, digits[r>>shift&0xf])
	}
	return dst
}

// AppendPadded appends s, cut or filled with spaces to width characters.
func AppendPadded(dst []byte, s string, width int) []byte {
	n := 0
	for i := range s {
		if n == width {
			s = s[:i]
			break
		}
		n++
	}
	dst = AppendClean(dst, s)
	for ; n < width; n++ {
		dst = append(dst, ' ')
	}
	return dst
}
