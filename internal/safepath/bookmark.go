package safepath

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxBookmark is the longest bookmark name in bytes. With a prefix and ".lock" it still fits a file's name of 255.
const MaxBookmark = 200

// hexID is the length of a full id in hex digits.
const hexID = 64

// CheckBookmark tells whether a bookmark may have this name. Names that pass are also branch names to Git and arguments
// that no program takes for an option. A name of 4 to 63 hex digits passes; where an id is asked for, the bookmark wins
// over the abbreviated id. Refusals wrap ErrBookmark and say what is wrong.
func CheckBookmark(name string) error {
	if why := bookmarkFault(name); why != "" {
		if len(name) > maxQuoted {
			name = name[:maxQuoted]
		}
		return fmt.Errorf("%s: %w: %s", Quote(name), ErrBookmark, why)
	}
	return nil
}

// bookmarkFault says what is wrong with a name, nothing when it is good.
func bookmarkFault(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > MaxBookmark:
		return fmt.Sprintf("it is longer than %d bytes", MaxBookmark)
	case name == "@":
		return `"@" alone means the current state`
	case name == "HEAD":
		return "people who know Git take it for the current state"
	case name[0] == '-':
		return "it begins like an option"
	case strings.HasSuffix(name, "."):
		return "it ends with a dot"
	case strings.Contains(name, ".."):
		return `".." means a range`
	case strings.Contains(name, "@{"):
		return `"@{" means an earlier state`
	case len(name) == hexID && isHex(name):
		return "it looks like an id"
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	}
	for _, r := range name {
		switch {
		case r <= ' ' || r >= 0x7F && r < 0xA0 || r == 0x2028 || r == 0x2029:
			return "it has a space or a control character"
		case r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069:
			return "it has a character that reverses text" // and so reads as another name
		case r == '~' || r == '^' || r == ':' || r == '?' || r == '*' || r == '[' || r == '\\': // told one by one: a bucket may have 100 000 names
			return fmt.Sprintf("%q has a meaning of its own", r)
		}
	}
	for elem := range strings.SplitSeq(name, "/") {
		switch {
		case elem == "":
			return `it has a "/" at an end or twice`
		case elem[0] == '.':
			return "a part of it begins with a dot"
		case strings.HasSuffix(elem, ".lock"):
			return `a part of it ends with ".lock"`
		}
	}
	return ""
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; !(c >= '0' && c <= '9' && s[i] == c || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}
