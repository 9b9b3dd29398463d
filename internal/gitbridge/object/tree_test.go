package object

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// entry writes an entry as text would have it.
func entry(mode, name string) string {
	return mode + " " + name + "\x00" + "\x01" + "abcdefghijklmnopqrs"
}

func TestCheckTree(t *testing.T) {
	long := entry("100644", "a")
	tests := []struct {
		name, tree string
		want       error
	}{
		{"empty", "", nil},
		{"every mode", entry("100644", "a") + entry("100755", "b") + entry("100664", "c") + entry("120000", "d") +
			entry("160000", "e") + entry("40000", "f") + entry("040000", "g") + entry("0100644", "h"), nil},
		{"directories sort with a slash", entry("100644", "a.b") + entry("40000", "a") + entry("100644", "a0"), nil},
		{"cut in the id", long[:len(long)-1], ErrTree},
		{"no name's end", "100644 a", ErrTree},
		{"no mode", " a\x00" + long[9:], ErrTree},
		{"mode is no number", entry("10064x", "a"), ErrTree},
		{"mode is 8", entry("100648", "a"), ErrTree},
		{"long mode", entry("0000100644", "a"), ErrTree},
		{"old mode", entry("100600", "a"), ErrMode},
		{"mode 0", entry("0", "a"), ErrMode},
		{"two zeros", entry("0040000", "a"), ErrMode},
		{"no name", entry("100644", ""), ErrTreeName},
		{"slash", entry("100644", "a/b"), ErrTreeName},
		{"twice", entry("100644", "a") + entry("100644", "a"), ErrTreeTwice},
		{"twice, and apart", entry("100644", "a") + entry("100644", "a.b") + entry("100644", "a.c") + entry("40000", "a"), ErrTreeTwice},
		{"twice, and behind a longer", entry("100644", "a") + entry("100644", "a-") + entry("100644", "a-b") + entry("40000", "a"), ErrTreeTwice},
		{"out of order", entry("100644", "b") + entry("100644", "a"), ErrTreeOrder},
		{"directory as if a file", entry("40000", "a") + entry("100644", "a.b"), ErrTreeOrder},
		{"null", "100644 a\x00" + string(make([]byte, 20)), ErrNullID},
	}
	for _, test := range tests {
		if err := CheckTree(SHA1, []byte(test.tree)); !is(err, test.want) && (err != nil || test.want != nil) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// The check by neighbours and prefixes finds what a set of names and sorting find.
func TestOrderAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a-", "a-b", "a.", "a0", "b", "a-/", "a/", "b/", "a-b/", "a0/", "aa"}), 0, 7).Draw(t, "names")
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(names)
		}
		var tree []byte
		seen, twice := map[string]bool{}, false
		for _, n := range names {
			mode, bare := ModeFile, n
			if n[len(n)-1] == '/' {
				mode, bare = ModeTree, n[:len(n)-1]
			}
			twice = twice || seen[bare]
			seen[bare] = true
			tree = AppendEntry(tree, &Entry{Mode: mode, Name: []byte(bare), ID: bytes.Repeat([]byte{1}, 20)})
		}
		err := CheckTree(SHA1, tree)
		if want := slices.IsSorted(names) && !twice; want != (err == nil) {
			t.Fatalf("%q: %v", names, err)
		}
	})
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(entry("100644", "a")+entry("40000", "b")), false)
	f.Add([]byte(entry("0100664", "a")), true)
	f.Fuzz(func(t *testing.T, raw []byte, long bool) {
		format := SHA1
		if long {
			format = SHA256
		}
		if CheckTree(format, raw) != nil {
			return
		}
		var again []byte
		for rest := raw; len(rest) > 0; {
			e, after, err := NextEntry(format, rest)
			if err != nil {
				t.Fatal(err)
			}
			again, rest = AppendEntry(again, &e), after
		}
		if !bytes.Equal(again, raw) {
			t.Fatalf("%q becomes %q", raw, again)
		}
	})
}
