package safepath

import (
	"bufio"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var sentinels = map[string]error{
	"good": nil, "malformed": ErrMalformed, "outside": ErrOutside, "long": ErrTooLong, "reserved": ErrReserved,
	"unportable": ErrNotPortable,
}

// specVectors reads the table of the page: a path in hex and what becomes of it.
func specVectors(t testing.TB) map[string]string {
	f, err := os.Open("../../docs/spec/names.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vectors := map[string]string{}
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch fields := strings.Fields(lines.Text()); {
		case strings.HasPrefix(lines.Text(), "```"):
			inside = lines.Text() == "```vector"
		case inside && len(fields) >= 2:
			path, err := hex.DecodeString(strings.TrimPrefix(fields[0], "-"))
			if err != nil {
				t.Fatalf("%s: %v", lines.Text(), err)
			}
			vectors[string(path)] = fields[1]
		}
	}
	if len(vectors) < 40 {
		t.Fatalf("the page has %d vectors", len(vectors))
	}
	return vectors
}

func TestSpec(t *testing.T) {
	for path, verdict := range specVectors(t) {
		want, known := sentinels[verdict]
		if !known {
			t.Fatalf("%q: unknown verdict %s", path, verdict)
		}
		if got := CheckPortable(path); !errors.Is(got, want) {
			t.Errorf("CheckPortable(%q) = %v, want %v", path, got, want)
		}
		if want == ErrNotPortable {
			want = nil
		}
		if got := Check(path); !errors.Is(got, want) {
			t.Errorf("Check(%q) = %v, want %v", path, got, want)
		}
		// Wherever in a path a name stands, it is judged alike.
		if want == ErrReserved {
			for _, longer := range []string{"a/" + path, path + "/a", "a/" + path + "/a", "é/" + path} {
				if got := Check(longer); !errors.Is(got, ErrReserved) {
					t.Errorf("Check(%q) = %v", longer, got)
				}
			}
		}
	}
}

func TestLimits(t *testing.T) {
	name := strings.Repeat("n", MaxName)
	full := strings.Repeat(name+"/", 15) + strings.Repeat("n", MaxName) + "/"
	for _, c := range []struct {
		path string
		want error
	}{
		{name, nil}, {name + "n", ErrTooLong}, {"a/" + name + "n/b", ErrTooLong},
		{full[:MaxPath-1], nil}, {strings.Repeat("a/", MaxPath/2-1) + "aa", nil}, {strings.Repeat("a/", MaxPath/2) + "a", ErrTooLong},
		{"", ErrMalformed}, {"a//b", ErrMalformed}, {"a/", ErrMalformed}, {"/", ErrOutside}, {"//a", ErrOutside},
	} {
		err := Check(c.path)
		if !errors.Is(err, c.want) {
			t.Errorf("Check of %d bytes = %v, want %v", len(c.path), err, c.want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("a message of %d bytes", len(err.Error()))
		}
	}
	if err := CheckName("a/b"); !errors.Is(err, ErrMalformed) {
		t.Errorf("CheckName of a path: %v", err)
	}
	if err := CheckName(".git"); !errors.Is(err, ErrReserved) {
		t.Errorf("CheckName of .git: %v", err)
	}
}

// naiveReserved decides by what each file system makes of a name.
func naiveReserved(name string) bool {
	is := func(s string) bool {
		s = strings.ToLower(s)
		return s == ".git" || s == ".oxy" || s == "git~1" || s == "oxy~1"
	}
	for _, part := range strings.Split(name, `\`) {
		part, _, _ = strings.Cut(part, ":")
		if is(strings.TrimRight(part, ". ")) {
			return true
		}
	}
	visible := strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, name)
	return is(visible) && visible[0] == '.'
}

func FuzzCheck(f *testing.F) {
	for path := range specVectors(f) {
		f.Add(path)
	}
	root := filepath.Join(string(filepath.Separator), "some", "root")
	f.Fuzz(func(t *testing.T, path string) {
		err := Check(path)
		if CheckPortable(path) == nil && err != nil {
			t.Fatal("portable, yet refused", err)
		}
		CheckBookmark(path)
		if err != nil {
			return
		}
		joined := filepath.Join(root, filepath.FromSlash(path))
		if !filepath.IsLocal(path) || joined != root+string(filepath.Separator)+filepath.FromSlash(path) {
			t.Fatalf("%q leads to %q", path, joined)
		}
		for name := range strings.SplitSeq(path, "/") {
			if naiveReserved(name) {
				t.Fatalf("%q is an alias and passed", name)
			}
			if err := CheckName(name); err != nil {
				t.Fatal(err)
			}
		}
		if again, err := Rel(root, root, filepath.FromSlash(path)); err != nil || again != path {
			t.Fatalf("Rel gives %q, %v", again, err)
		}
	})
}
