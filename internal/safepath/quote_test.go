package safepath

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	for path, want := range map[string]string{
		"":                 ``,
		"plain/path.c":     `plain/path.c`,
		"with space":       `with space`,
		"naïve/日本":         `naïve/日本`,
		"it's":             `it's`,
		`a"b`:              `"a\"b"`,
		`a\b`:              `"a\\b"`,
		"a\nb\tc\r":        `"a\nb\tc\r"`,
		"\a\b\v\f":         `"\a\b\v\f"`,
		"\x1b[31m\x7f\x00": `"\033[31m\177\000"`,
		"\xff\xfe":         `"\377\376"`,
		"é\xff":            `"é\377"`,
		"\u202egnp.exe":    `"\342\200\256gnp.exe"`,
		"\u0085":           `"\302\205"`,
	} {
		if path == "" {
			want = `""`
		}
		if got := Quote(path); got != want {
			t.Errorf("Quote(%q) = %s, want %s", path, got, want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, path := range []string{"", "a", `"`, "\\\n", "\xff\u202eé", "\u200c", "\"\\303\\251\""} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got := Quote(path)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if !strconv.IsPrint(r) {
				t.Fatalf("%q has %q", got, r)
			}
		}
		back := got
		if strings.HasPrefix(got, `"`) {
			var err error
			if back, err = strconv.Unquote(got); err != nil {
				t.Fatal(err)
			}
		} else if strings.ContainsAny(got, `"\`) {
			t.Fatalf("%s is not quoted", got)
		}
		if back != path {
			t.Fatalf("%q reads back as %q", path, back)
		}
	})
}
