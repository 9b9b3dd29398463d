package safepath

import "strings"

// Like tells whether a name is one of those that a pattern means: '*' stands for any characters, slashes too. It costs
// len(name) times len(pattern) at most.
func Like(pattern, name string) bool {
	star, from := -1, 0 // the last star, and where in name what it stands for ends
	i, p := 0, 0
	for i < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && pattern[p] == name[i]:
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

// LikeAny tells whether a name is one of those that any of the patterns means.
func LikeAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if Like(p, name) {
			return true
		}
	}
	return false
}
