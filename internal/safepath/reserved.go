package safepath

import (
	"strings"
	"unicode/utf8"
)

// Reserved tells whether a path element is ".oxy" or ".git", or would open one of them on some file system: in another
// case, as a short name (GIT~1), with trailing dots and spaces or a stream's name that Windows strips, behind a
// backslash, or with code points that HFS+ and case-folding Linux directories ignore.
func Reserved(name string) bool {
	return windowsAlias(name) || aliasAfterBackslash(name) || ignorableAlias(name)
}

func aliasAfterBackslash(name string) bool {
	for {
		i := strings.IndexByte(name, '\\')
		if i < 0 {
			return false
		}
		if name = name[i+1:]; windowsAlias(name) {
			return true
		}
	}
}

// windowsAlias tells whether Windows takes name, or its part before a backslash, for a reserved one.
func windowsAlias(name string) bool {
	var rest string
	switch {
	case len(name) >= 4 && name[0] == '.' && isReservedStem(name[1:4]):
		rest = name[4:]
	case len(name) >= 5 && name[3:5] == "~1" && isReservedStem(name[:3]):
		rest = name[5:]
	default:
		return false
	}
	for i := range len(rest) {
		switch rest[i] {
		case '.', ' ': // stripped from the end
		case '\\', ':': // a separator; the start of a stream's name
			return true
		default:
			return false
		}
	}
	return true
}

// isReservedStem compares three bytes with the stems in any case.
func isReservedStem(s string) bool {
	a, b, c := s[0]|0x20, s[1]|0x20, s[2]|0x20
	return a == 'g' && b == 'i' && c == 't' || a == 'o' && b == 'x' && c == 'y'
}

// ignorableAlias tells whether name is a reserved one but for ignorable code points. What is not UTF-8 cannot be, as
// file systems that ignore code points do not hold it.
func ignorableAlias(name string) bool {
	var kept [4]byte
	n := 0
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		name = name[size:]
		if ignorable(r) {
			continue
		}
		if r >= utf8.RuneSelf || n == len(kept) {
			return false
		}
		kept[n] = byte(r)
		n++
	}
	return n == len(kept) && kept[0] == '.' && isReservedStem(string(kept[1:]))
}

// ignorable tells of the code points that Unicode calls default ignorable (DerivedCoreProperties 15). HFS+ ignores a
// part of them when it compares names, Linux's case-folding directories all.
func ignorable(r rune) bool {
	if r < 0xAD {
		return false
	}
	for _, span := range ignorables {
		if r <= span[1] {
			return r >= span[0]
		}
	}
	return false
}

var ignorables = [...][2]rune{
	{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
	{0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
	{0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
}
