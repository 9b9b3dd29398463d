package worktree

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// naiveHolds is what docs/spec/sparse.md says, word by word.
func naiveHolds(dirs []string, path string, kind Kind) bool {
	up := func(p string) string {
		i := strings.LastIndexByte(p, '/')
		return p[:max(i, 0)]
	}
	above := func(dir, d string) bool { return dir == "" || strings.HasPrefix(d, dir+"/") }
	for _, d := range dirs {
		if strings.HasPrefix(path, d+"/") || kind == Subrepo && path == d {
			return true
		}
		if kind != Subrepo && above(up(path), d) {
			return true
		}
	}
	return kind != Subrepo && up(path) == ""
}

func TestConeIsWhatThePageSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	word := func() string { return []string{"a", "b", "a-", "a.", "ab", "\xff"}[rng.IntN(6)] }
	path := func() string {
		p := word()
		for range rng.IntN(4) {
			p += "/" + word()
		}
		return p
	}
	for range 3000 {
		var dirs []string
		for range rng.IntN(5) {
			dirs = append(dirs, path())
		}
		c, err := NewCone(dirs)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			p := path()
			for kind := range numKinds {
				if got, want := c.Holds(p, kind), naiveHolds(dirs, p, kind); got != want {
					t.Fatalf("%q: %q of kind %d: %v", dirs, p, kind, got)
				}
			}
			// A walk that goes down where Enters says so meets all that is held.
			if c.Holds(p+"/x", File) != c.Enters(p) {
				t.Fatalf("%q: %q is entered: %v", dirs, p, c.Enters(p))
			}
			if c.Within(p) && !c.Holds(p+"/x/y", Link) {
				t.Fatalf("%q: %q is within", dirs, p)
			}
		}
		list := c.Dirs()
		for i, d := range list {
			if i > 0 && list[i-1] >= d || slices.ContainsFunc(list, func(o string) bool { return strings.HasPrefix(d, o+"/") }) {
				t.Fatalf("%q makes %q", dirs, list)
			}
		}
		back, err := DecodeCone(c.Encode())
		if err != nil || !back.Equal(c) || back.BaseID([32]byte{1}) != c.BaseID([32]byte{1}) {
			t.Fatalf("%q: %v", dirs, err)
		}
	}
}

func TestConeRefusesNames(t *testing.T) {
	for _, d := range []string{"", "/a", "a/../b", ".oxy", "a/.git/x", "a//b", "a/", "x\x00", strings.Repeat("a", 300)} {
		if _, err := NewCone([]string{"ok", d}); err == nil {
			t.Errorf("%q is let in", d)
		}
	}
	many := make([]string, maxConeDirs+1)
	for i := range many {
		many[i] = strings.Repeat("x", 1+i%200) + string(rune('a'+i%26)) + strings.Repeat("y", i/200)
	}
	if _, err := NewCone(many); err == nil {
		t.Error("too many are let in")
	}
	if _, err := DecodeCone([]byte(coneHead + strings.Repeat("\n", maxConeDirs+2))); !errors.Is(err, ErrBadCone) {
		t.Error(err)
	}
}

func FuzzDecodeCone(f *testing.F) {
	c, err := NewCone([]string{"docs", "src/parser", "a\\b\nc"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(c.Encode())
	f.Add([]byte(coneHead))
	f.Add([]byte(coneHead + "a\\\nsum 0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeCone(b)
		if err != nil {
			if !errors.Is(err, ErrBadCone) {
				t.Fatal(err)
			}
			return
		}
		if string(c.Encode()) != string(b) {
			t.Fatal("it is read and written otherwise")
		}
	})
}
