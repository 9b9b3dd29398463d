package sign

import "strings"

// maxPattern is OpenSSH's: a longer pattern in a list makes the whole list match nothing.
const maxPattern = 1023

// matchList matches s against a comma-separated list of patterns, as OpenSSH does: a pattern behind '!' that matches
// decides against s, wherever it stands.
func matchList(s, list string) bool {
	found := false
	for len(list) > 0 {
		pattern := list
		pattern, list, _ = strings.Cut(list, ",")
		pattern, negated := strings.CutPrefix(pattern, "!")
		if len(pattern) >= maxPattern {
			return false
		}
		if match(s, pattern) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

// match matches s against a pattern in which '*' stands for any bytes and '?' for one. It goes back to the last star only,
// so a pattern of many stars costs len(s)*len(pattern), where OpenSSH's recursion takes exponential time.
func match(s, pattern string) bool {
	star, from := -1, 0 // the last star, and where in s what it stands for ends
	i, p := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			i++
			p++
		case star >= 0:
			from++
			i, p = from, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
