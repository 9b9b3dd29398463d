package diff

import (
	"crypto/sha256"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

func TestSimilarity(t *testing.T) {
	ten := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz\n", 1)
	lines := func(from, to int) (out string) {
		for i := from; i < to; i++ {
			out += fmt.Sprintf("line %3d\n", i)
		}
		return out
	}
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "a", 0},
		{"a\n", "a\n", 100},
		{ten, ten + ten, 50},
		{lines(0, 100), lines(50, 150), 50},
		{lines(0, 100), lines(20, 100), 80},
		{lines(0, 100), lines(200, 300), 0},
		{lines(0, 50) + lines(50, 100), lines(50, 100) + lines(0, 50), 100},
		{strings.Repeat("x", 6400), strings.Repeat("x", 6400) + strings.Repeat("y", 6400), 50},
	} {
		if got := Similarity([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%.20q and %.20q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Similarity([]byte(c.b), []byte(c.a)); got != c.want {
			t.Errorf("%.20q and %.20q the other way round: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// tree makes candidates of names and contents, and counts the loads of each.
func tree(loads map[string]int, files ...string) (out []Candidate) {
	for i := 0; i < len(files); i += 2 {
		name, text := files[i], []byte(files[i+1])
		out = append(out, Candidate{Name: name, Hash: sha256.Sum256(text), Size: int64(len(text)), Load: func() Fingerprint {
			loads[name]++
			return NewFingerprint(text)
		}})
	}
	return out
}

func TestRenames(t *testing.T) {
	words := func(n int, tag string) (out string) {
		for i := range n {
			out += fmt.Sprintf("%s%d\n", tag, i)
		}
		return out
	}
	a100, b100 := words(100, "a"), words(100, "b")
	for _, c := range []struct {
		name           string
		removed, added []string
		threshold      int
		want           string // old>new:similarity
	}{
		{"nothing", nil, nil, 50, ""},
		{"equal", []string{"x", "1"}, []string{"y", "1"}, 50, "x>y:100"},
		{"equal, by name first", []string{"p/x", "1", "p/y", "1"}, []string{"q/a", "1", "q/y", "1"}, 50, "p/x>q/a:100 p/y>q/y:100"},
		{"equal, one is copied", []string{"x", "1"}, []string{"y", "1", "z", "1"}, 50, "x>y:100"},
		{"empty needs the name", []string{"x", "", "d/e", ""}, []string{"f/e", "", "y", ""}, 50, "d/e>f/e:100"},
		{"similar", []string{"x", a100}, []string{"n", b100, "y", a100 + "more\n"}, 50, "x>y:98"},
		{"most similar first", []string{"x", a100, "y", words(60, "a") + words(40, "c")}, []string{"z", words(90, "a") + words(10, "d")}, 50, "x>z:89"},
		{"each once", []string{"x", a100}, []string{"y", a100 + "1\n", "z", a100 + "22222\n"}, 50, "x>y:99"},
		{"name breaks a tie", []string{"p/f", a100, "p/g", a100}, []string{"q/g", words(70, "a") + words(30, "d"), "r/g", "other\n"}, 50, "p/g>q/g:69"},
		{"too different", []string{"x", a100}, []string{"y", b100}, 50, ""},
		{"threshold", []string{"x", a100}, []string{"y", a100 + words(30, "z")}, 90, ""},
		{"equal only", []string{"x", a100, "y", b100}, []string{"v", b100, "w", a100 + "1\n"}, 100, "y>v:100"},
		{"swapped names", []string{"a/x", a100, "b/x", b100}, []string{"c/x", b100 + "1\n", "d/x", a100 + "1\n"}, 50, "b/x>c/x:99 a/x>d/x:99"},
	} {
		loads := map[string]int{}
		removed, added := tree(loads, c.removed...), tree(loads, c.added...)
		var got []string
		for _, p := range Renames(removed, added, c.threshold) {
			got = append(got, fmt.Sprintf("%s>%s:%d", removed[p.Removed].Name, added[p.Added].Name, p.Similarity))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
		for name, n := range loads {
			if n > 1 {
				t.Errorf("%s: %s was loaded %d times", c.name, name, n)
			}
		}
	}
}

// TestRenamesOrder: the same pairs come out, whatever order the files come in.
func TestRenamesOrder(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var old, new []string
	for i := range 40 {
		var text []string
		for range 20 {
			text = append(text, fmt.Sprintf("line %d\n", r.Intn(30)))
		}
		old = append(old, fmt.Sprintf("old/%d", i), strings.Join(text, ""))
		text[r.Intn(20)] = "changed\n"
		new = append(new, fmt.Sprintf("new/%d", r.Intn(1000)), strings.Join(text, ""))
	}
	loads := map[string]int{}
	removed, added := tree(loads, old...), tree(loads, new...)
	names := func() map[string]string {
		out := map[string]string{}
		for _, p := range Renames(removed, added, 50) {
			out[added[p.Added].Name] = removed[p.Removed].Name
		}
		return out
	}
	want := names()
	if len(want) < 30 {
		t.Errorf("only %d of 40 are found", len(want))
	}
	for range 5 {
		r.Shuffle(len(removed), func(i, j int) { removed[i], removed[j] = removed[j], removed[i] })
		r.Shuffle(len(added), func(i, j int) { added[i], added[j] = added[j], added[i] })
		if got := names(); !reflect.DeepEqual(got, want) {
			t.Fatalf("in another order: %v, want %v", got, want)
		}
	}
}

// TestRenamesBound: beyond the bound, what is equal or keeps its name is still found, and nothing else is loaded.
func TestRenamesBound(t *testing.T) {
	loads := map[string]int{}
	var old, new []string
	for i := range 1100 {
		old = append(old, fmt.Sprintf("old/%d", i), fmt.Sprintf("content %d\nmore\n", i))
		new = append(new, fmt.Sprintf("new/n%d", i), fmt.Sprintf("other %d\n", i))
	}
	old = append(old, "old/kept.go", strings.Repeat("a line\n", 10), "old/equal", "equal\n")
	new = append(new, "new/kept.go", strings.Repeat("a line\n", 10)+"b\n", "new/same", "equal\n")
	removed, added := tree(loads, old...), tree(loads, new...)
	pairs := Renames(removed, added, 50)
	if len(pairs) != 2 || pairs[0] != (Pair{1100, 1100, 97}) || pairs[1] != (Pair{1101, 1101, 100}) {
		t.Errorf("%v", pairs)
	}
	if len(loads) != 2 {
		t.Errorf("%d files are loaded", len(loads))
	}
}
