package safepath

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLike holds patterns to regular expressions that say the same.
func TestLike(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab/*")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, name := text.Draw(t, "pattern"), text.Draw(t, "name")
		want := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(name)
		if got := Like(pattern, name); got != want {
			t.Fatalf("Like(%q, %q) is %v", pattern, name, got)
		}
	})
	if LikeAny(nil, "main") || !LikeAny([]string{"x", "release/*"}, "release/1/2") {
		t.Error("lists of patterns")
	}
}
