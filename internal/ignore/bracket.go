package ignore

import (
	"math/bits"
	"strings"
)

// byteSet is a set of bytes, one bit each.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }
func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) del(c byte)      { s[c>>6] &^= 1 << (c & 63) }

func (s *byteSet) addRange(from, to byte) {
	for c := int(from); c <= int(to); c++ {
		s.add(byte(c))
	}
}

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

func (s *byteSet) len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// bracket reads the expression whose '[' is at text[at]. It returns the bytes that it stands for and the index behind
// its ']', or false for one that is malformed. No expression matches a slash, though one may name it.
func bracket(text string, at int) (set byteSet, next int, ok bool) {
	i := at + 1
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	// prev is the byte a range could start at, 0 where none can. A ']' in the first place stands for itself.
	var prev byte
	for first := true; ; first = false {
		if i >= len(text) {
			return set, 0, false
		}
		c := text[i]
		switch {
		case c == ']' && !first:
			if negated {
				set.invert()
			}
			set.del('/')
			return set, i + 1, true
		case c == '\\':
			i++
			if i >= len(text) {
				return set, 0, false
			}
			prev = text[i]
			set.add(prev)
		case c == '-' && prev != 0 && i+1 < len(text) && text[i+1] != ']':
			i++
			if text[i] == '\\' {
				i++
				if i >= len(text) {
					return set, 0, false
				}
			}
			set.addRange(prev, text[i])
			prev = 0
		case c == '[' && strings.HasPrefix(text[i:], "[:"):
			end := strings.IndexByte(text[i+2:], ']')
			if end < 0 {
				return set, 0, false
			}
			name, isClass := strings.CutSuffix(text[i+2:i+2+end], ":")
			if !isClass {
				prev = c
				set.add(c)
				break
			}
			if !set.addClass(name) {
				return set, 0, false
			}
			i += 2 + end
			prev = 0
		default:
			prev = c
			set.add(c)
		}
		i++
	}
}

// addClass adds a POSIX class of ASCII as Git has it, whose white space lacks vertical tab and form feed.
func (s *byteSet) addClass(name string) bool {
	switch name {
	case "alnum":
		s.addRange('0', '9')
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "alpha":
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "blank":
		s.add(' ')
		s.add('\t')
	case "cntrl":
		s.addRange(0, 0x1f)
		s.add(0x7f)
	case "digit":
		s.addRange('0', '9')
	case "graph":
		s.addRange('!', '~')
	case "lower":
		s.addRange('a', 'z')
	case "print":
		s.addRange(' ', '~')
	case "punct":
		s.addRange('!', '/')
		s.addRange(':', '@')
		s.addRange('[', '`')
		s.addRange('{', '~')
	case "space":
		for _, c := range []byte(" \t\n\r") {
			s.add(c)
		}
	case "upper":
		s.addRange('A', 'Z')
	case "xdigit":
		s.addRange('0', '9')
		s.addRange('A', 'F')
		s.addRange('a', 'f')
	default:
		return false
	}
	return true
}
