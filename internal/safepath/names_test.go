package safepath

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func TestCheckBookmark(t *testing.T) {
	for _, name := range []string{
		"main", "feature/x", "v1.2", "über", "日本", "a@b", "@a", "dead", "deadbeef", strings.Repeat("a", 63), strings.Repeat("a", 65),
		strings.Repeat("g", 64), "a-", "x.lock.y", "a+b=c,d;e%f", "emoji/❤️", "{", strings.Repeat("n", MaxBookmark),
	} {
		if err := CheckBookmark(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"", "@", "-x", "--all", "a b", "a\tb", "a\n", "a\r", "a~1", "a^", "a:b", "a?", "a*", "a[b", `a\b`, "a..b", "a.", "a@{1}",
		"a.lock", "a.lock/b", "/a", "a/", "a//b", ".a", "a/.b", "\x7f", "\u0085", "\u2028", "a\u202eb", "\xff", "HEAD\x00",
		strings.Repeat("a", 64), strings.Repeat("0F", 32), strings.Repeat("n", MaxBookmark+1),
	} {
		if err := CheckBookmark(name); !errors.Is(err, ErrBookmark) {
			t.Errorf("CheckBookmark(%q) = %v", name, err)
		}
	}
}

func TestFoldMeets(t *testing.T) {
	for _, same := range [][]string{
		{"readme", "README", "ReadMe"},
		{"é", "É", "e\u0301", "E\u0301"},
		{"σ", "ς", "Σ"},
		{"k", "K", "\u212a"},
		{"Å", "\u212b", "A\u030a", "å"},
		{"ι\u0308\u0301", "\u0390", "\u1fd3"},
		{"\u0345", "ι", "Ι", "\u1fbe"},
		{"s", "ſ"},
		{"q\u0307\u0323", "q\u0323\u0307", "Q\u0323\u034f\u0307"},
		{"a", "a\u200c", "\ufeffA"},
		{"\xffa", "\xffA"},
	} {
		for _, name := range same {
			if got, want := Fold(name), Fold(same[0]); got != want {
				t.Errorf("Fold(%q) = %q, Fold(%q) = %q", name, got, same[0], want)
			}
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"a", "b", "ä", "i", "ı", "\u0130", "o", "ø", "\xff", "\xfe", "\ufffd", "ss", "ß", "1", "¹", "ﬁ", "fi"} {
		if other, met := seen[Fold(name)]; met {
			t.Errorf("%q meets %q", name, other)
		}
		seen[Fold(name)] = name
	}
}

// TestFoldIsAKey folds every code point, alone and before a mark: what differs by case or form only has one key, and
// the key is its own.
func TestFoldIsAKey(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 || r > 0x20000 && r < 0xE0000 || r > 0xE2000 {
			continue // surrogates, ideographs and private ones have no case
		}
		for _, s := range []string{string(r), "x" + string(r) + "\u0327"} {
			key := Fold(s)
			if again := Fold(key); again != key {
				t.Fatalf("Fold(%q) = %q, folded again %q", s, key, again)
			}
			if other := Fold(norm.NFD.String(s)); other != key {
				t.Fatalf("Fold(%q) = %q, decomposed %q", s, key, other)
			}
			if other := Fold(norm.NFC.String(s)); other != key {
				t.Fatalf("Fold(%q) = %q, composed %q", s, key, other)
			}
		}
		if next := unicode.SimpleFold(r); Fold(string(next)) != Fold(string(r)) {
			t.Fatalf("%q and %q have the keys %q and %q", r, next, Fold(string(r)), Fold(string(next)))
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("README")
	f.Add("e\u0301\xff\u034f")
	f.Fuzz(func(t *testing.T, name string) {
		if key := Fold(name); Fold(key) != key {
			t.Fatalf("Fold(%q) = %q, folded again %q", name, key, Fold(key))
		}
	})
}

func TestRel(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	for _, c := range []struct {
		root, cwd, arg, want string
		err                  error
	}{
		{"/r", "/r", ".", "", nil},
		{"/r", "/r/a", "..", "", nil},
		{"/r", "/r", "/r", "", nil},
		{"/r", "/r", "/r/", "", nil},
		{"/r", "/r", "f", "f", nil},
		{"/r", "/r/a", "f", "a/f", nil},
		{"/r", "/r/a/b", "../c/./f/", "a/c/f", nil},
		{"/r", "/r/a", "/r/b", "b", nil},
		{"/r", "/elsewhere", "../r/b", "b", nil},
		{"/", "/a", "b", "a/b", nil},
		{"/r", "/r", "..a", "..a", nil},
		{"/r", "/r", "a/../b", "b", nil},
		{"/r", "/r", "..", "", ErrOutside},
		{"/r", "/r/a", "../../r2", "", ErrOutside},
		{"/r", "/r", "/rest", "", ErrOutside},
		{"/r", "/r", "/", "", ErrOutside},
		{"/r", "/r", "", "", ErrMalformed},
		{"/r", "/r", "a\x00", "", ErrMalformed},
		{"/r", "/r", ".oxy/view", "", ErrReserved},
		{"/r", "/r", strings.Repeat("n", 256), "", ErrTooLong},
	} {
		got, err := Rel(c.root, c.cwd, c.arg)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("Rel(%q, %q, %q) = %q, %v; want %q, %v", c.root, c.cwd, c.arg, got, err, c.want, c.err)
		}
	}
	if _, err := Rel("r", "/r", "a"); err == nil {
		t.Error("a relative root passed")
	}
}
