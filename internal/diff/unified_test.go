package diff

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what comes out into testdata, to be read and judged there")

// cases runs show on each before and after of a folder of testdata, and compares with the part of that name.
func cases(t *testing.T, folder, part string, show func(a, b []byte, edits []Edit) []byte) {
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range files {
		arc, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(arc.Files) != 3 || arc.Files[2].Name != part {
			t.Fatalf("%s is not before, after and %s", name, part)
		}
		a, b := arc.Files[0].Data, arc.Files[1].Data
		var d Differ
		edits := d.Lines(a, b, Options{})
		check(t, a, b, edits)
		got := show(a, b, edits)
		if *update {
			arc.Files[2].Data = got
			if err := os.WriteFile(name, txtar.Format(arc), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !bytes.Equal(got, arc.Files[2].Data) {
			t.Errorf("%s: want\n%s\ngot\n%s", name, arc.Files[2].Data, got)
		}
	}
}

func TestUnifiedCases(t *testing.T) {
	cases(t, "unified", "unified", func(a, b []byte, edits []Edit) []byte {
		return AppendUnified(nil, a, b, edits, Unified{Context: 3})
	})
}

func TestWordCases(t *testing.T) {
	cases(t, "words", "words", func(a, b []byte, edits []Edit) []byte {
		return AppendWordDiff(nil, a, b, edits, Unified{Context: 3})
	})
}

func TestUnifiedEnds(t *testing.T) {
	const none = "\\ No newline at end of file\n"
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"a", "a\n", "@@ -1 +1 @@\n-a\n" + none + "+a\n"},
		{"a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n" + none},
		{"a\n", "a\nb", "@@ -1 +1,2 @@\n a\n+b\n" + none},
	} {
		var d Differ
		a, b := []byte(c.a), []byte(c.b)
		got := AppendUnified(nil, a, b, d.Lines(a, b, Options{}), Unified{Context: 3})
		if string(got) != c.want {
			t.Errorf("%q to %q:\n%s", c.a, c.b, got)
		}
	}
}

func TestUnifiedBlank(t *testing.T) {
	var d Differ
	a := []byte("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n")
	for _, c := range []struct{ b, want string }{
		{"a\n\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", ""},
		{"a\n\nb\nX\nd\ne\nf\ng\nh\n\ni\nj\n", "@@ -1,4 +1,5 @@\n a\n+\n b\n-c\n+X\n d\n"},
		{"a\n\nb\nc\nd\nX\nf\ng\nh\n\ni\nj\n", "@@ -4,3 +5,3 @@ c\n d\n-e\n+X\n f\n"},
		{"a\nX\nc\n\nd\ne\nf\n\ng\nh\ni\nj\n", "@@ -1,4 +1,5 @@\n a\n-b\n+X\n c\n+\n d\n"},
		{"a\nX\nc\n\nd\nY\nf\ng\nh\ni\nj\n", "@@ -1,6 +1,7 @@\n a\n-b\n+X\n c\n+\n d\n-e\n+Y\n f\n"},
	} {
		edits := d.Lines(a, []byte(c.b), Options{IgnoreBlankLines: true})
		if got := AppendUnified(nil, a, []byte(c.b), edits, Unified{Context: 1}); string(got) != c.want {
			t.Errorf("%q:\n%s", c.b, got)
		}
	}
}

func TestFunctionLine(t *testing.T) {
	long := strings.Repeat("x", 78) + "\u20ac and more"
	for _, c := range []struct{ a, want string }{
		{"int f()\n{\n", " int f()"},
		{"$f = 1;  \n\t1\n", " $f = 1;"},
		{" f\n{\n1\n", ""},
		{long + "\n", " " + strings.Repeat("x", 78)},
	} {
		a := []byte(c.a + "\t\n\t\n\t\n\told\n")
		b := []byte(c.a + "\t\n\t\n\t\n\tnew\n")
		var d Differ
		got, _, _ := strings.Cut(string(AppendUnified(nil, a, b, d.Lines(a, b, Options{}), Unified{Context: 1})), "\n")
		if _, got, _ = strings.Cut(got[2:], "@@"); got != c.want {
			t.Errorf("%q: %q, want %q", c.a, got, c.want)
		}
	}
}

func TestColours(t *testing.T) {
	pal := &Palette{Hunk: "<h>", Func: "<f>", Old: "<o>", New: "<n>", OldMoved: "<om>", NewMoved: "<nm>", Reset: "</>"}
	block := "\tfirst_call(one);\n\tsecond_call(two);\n\tthird_call(three);\n"
	a := []byte("f\n" + block + "1\n2\n3\n4\nbad\r\n")
	b := []byte("f\n1\n2\n3\n4\nnew\n" + block + "good")
	var d Differ
	edits := d.Lines(a, b, Options{})
	want := `<h>@@ -2,3 +1,0 @@</> <f>f</>
<om>-	first_call(one);</>
<om>-	second_call(two);</>
<om>-	third_call(three);</>
<h>@@ -9 +6,5 @@</> <f>f</>
<o>-bad</>` + "\r" + `
<n>+new</>
<nm>+	first_call(one);</>
<nm>+	second_call(two);</>
<nm>+	third_call(three);</>
<n>+good</>
\ No newline at end of file
`
	if got := AppendUnified(nil, a, b, edits, Unified{Palette: pal, Moved: true}); string(got) != want {
		t.Errorf("got\n%s", got)
	}
	if got := AppendWordDiff(nil, []byte("a b"), []byte("a c"), d.Lines([]byte("a b"), []byte("a c"), Options{}), Unified{}); string(got) != "@@ -1 +1 @@\na [-b-]{+c+}\n" {
		t.Errorf("without a last line end: %s", got)
	}
	edits = d.Lines(a, b, Options{})
	plainText := AppendUnified(nil, a, b, edits, Unified{Context: 2})
	marks := strings.NewReplacer("<h>", "", "<f>", "", "<o>", "", "<n>", "", "<om>", "", "<nm>", "", "</>", "")
	if got := marks.Replace(string(AppendUnified(nil, a, b, edits, Unified{Context: 2, Palette: pal}))); got != string(plainText) {
		t.Errorf("colours change the text:\n%s\n%s", got, plainText)
	}
	a, b = []byte("an old word\n"), []byte("a new word\n")
	want = "<h>@@ -1 +1 @@</>\n<o>[-an old-]</><n>{+a new+}</> word\n"
	if got := AppendWordDiff(nil, a, b, d.Lines(a, b, Options{}), Unified{Palette: pal}); string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

// TestWordDiffLaw: without what is removed and the marks, a word diff tells b, and the other way round a.
func TestWordDiffLaw(t *testing.T) {
	for seed := range int64(5000) {
		r := rand.New(rand.NewSource(seed))
		sentence := func() (out []byte) {
			for range 1 + r.Intn(5) {
				for range 1 + r.Intn(5) {
					out = append(out, []string{"a", "bb", " ", "  ", "(", ")", "ccc", "d"}[r.Intn(8)]...)
				}
				out = append(out, '\n')
			}
			return out
		}
		a, b := sentence(), sentence()
		var d Differ
		got := string(AppendWordDiff(nil, a, b, d.Lines(a, b, Options{}), Unified{Context: 100}))
		if _, got, _ = strings.Cut(got, "\n"); got == "" {
			continue
		}
		only := func(open, end, dropOpen, dropEnd string) string {
			s := got
			for {
				head, rest, found := strings.Cut(s, dropOpen)
				if !found {
					break
				}
				_, tail, _ := strings.Cut(rest, dropEnd)
				s = head + tail
			}
			// Line ends are told on both sides, so they do not count.
			return strings.NewReplacer(open, "", end, "", "\n", "").Replace(s)
		}
		flat := func(text []byte) string { return strings.ReplaceAll(string(text), "\n", "") }
		if only("{+", "+}", "[-", "-]") != flat(b) || only("[-", "-]", "{+", "+}") != flat(a) {
			t.Fatalf("seed %d: of\n%s and\n%s the word diff is\n%s", seed, a, b, got)
		}
	}
}

// apply makes b of a by hunks, and fails where their lines or numbers do not fit.
func apply(t testing.TB, a, hunks []byte) []byte {
	t.Helper()
	const none = "\\ No newline at end of file\n"
	old := Split(a)
	text := Split(hunks)
	var out []byte
	at, made := 0, 0 // lines of a used up, lines of b made
	for i := 0; i < text.Len(); {
		var a0, na, b0, nb int
		span := func(s string) (int, int) {
			from, n := 0, 1
			head, tail, _ := strings.Cut(s[1:], ",")
			fmt.Sscan(head, &from)
			fmt.Sscan(tail, &n)
			if n > 0 {
				from--
			}
			return from, n
		}
		f := strings.Fields(string(text.Line(i)))
		a0, na = span(f[1])
		b0, nb = span(f[2])
		for i++; at < a0; at, made = at+1, made+1 {
			out = append(out, old.Line(at)...)
		}
		if at != a0 || made != b0 {
			t.Fatalf("a hunk begins at %d and %d, not at %d and %d:\n%s", a0, b0, at, made, hunks)
		}
		for at < a0+na || made < b0+nb {
			line := text.Line(i)
			i++
			body := line[1:]
			if i < text.Len() && string(text.Line(i)) == none {
				body = body[:len(body)-1]
				i++
			}
			if line[0] != '+' {
				if !bytes.Equal(old.Line(at), body) {
					t.Fatalf("line %d of a is not %q:\n%s", at, body, hunks)
				}
				at++
			}
			if line[0] != '-' {
				out = append(out, body...)
				made++
			}
		}
	}
	return append(out, a[old.Off(at):]...)
}

func TestUnifiedLaw(t *testing.T) {
	var d Differ
	for seed := range int64(5000) {
		r := rand.New(rand.NewSource(seed))
		a := randomText(r, 50, 2+r.Intn(8))
		b := mutate(r, a, r.Intn(12))
		hunks := AppendUnified(nil, a, b, d.Lines(a, b, Options{}), Unified{Context: r.Intn(5)})
		if got := apply(t, a, hunks); !bytes.Equal(got, b) {
			t.Fatalf("seed %d: of\n%q\n%s makes\n%q not\n%q", seed, a, hunks, got, b)
		}
	}
}

func FuzzWriters(f *testing.F) {
	f.Add([]byte("one two\nthree\n"), []byte("one  two\n\nthre"), 3)
	f.Add([]byte("a\nb\nc\nd\n"), []byte("b\nc\nd\na"), 0)
	f.Fuzz(func(t *testing.T, a, b []byte, context int) {
		var d Differ
		pal := &Palette{Old: "o", New: "n", OldMoved: "O", NewMoved: "N", Reset: "r"}
		edits := d.Lines(a, b, Options{})
		context %= 1000
		if !bytes.Contains(a, []byte("No newline")) && !bytes.Contains(b, []byte("No newline")) {
			if got := apply(t, a, AppendUnified(nil, a, b, edits, Unified{Context: context})); !bytes.Equal(got, b) {
				t.Fatalf("%q to %q makes %q", a, b, got)
			}
		}
		AppendUnified(nil, a, b, edits, Unified{Context: context, Palette: pal, Moved: true})
		AppendWordDiff(nil, a, b, edits, Unified{Context: context, Palette: pal})
		edits = d.Lines(a, b, Options{IgnoreAllSpace: true, IgnoreBlankLines: true})
		AppendUnified(nil, a, b, edits, Unified{Context: context, Palette: pal, Moved: true})
		AppendWordDiff(nil, a, b, edits, Unified{Context: context})
	})
}

// gitDiff is what Git says about a pair, without the file headers.
func gitDiff(t testing.TB, dir string, a, b []byte, flags ...string) []byte {
	t.Helper()
	writePair(t, dir, a, b)
	cmd := exec.Command("git", append(append([]string{"diff", "--no-index", "--no-color", "-a"}, flags...), "a", "b")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	if i := bytes.Index(out, []byte("\n@@ ")); i >= 0 {
		return out[i+1:]
	}
	return nil
}

func writePair(t testing.TB, dir string, a, b []byte) {
	t.Helper()
	for name, data := range map[string][]byte{"a": a, "b": b} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
}

// TestGitApplies: git apply makes b of a by the hunks, whatever the context.
func TestGitApplies(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	var d Differ
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		a := randomText(r, 60, 8)
		b := mutate(r, a, 1+r.Intn(12))
		edits := d.Lines(a, b, Options{})
		if len(edits) == 0 || len(a) == 0 || len(b) == 0 {
			continue
		}
		context := r.Intn(5)
		patch := append([]byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n"), AppendUnified(nil, a, b, edits, Unified{Context: context})...)
		writePair(t, dir, a, b)
		cmd := exec.Command("git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
		cmd.Dir = dir
		cmd.Stdin = bytes.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, out, patch)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("seed %d: applied, the patch makes %q, %v", seed, got, err)
		}
	}
}

// TestSameAsGit: where there is but one way to tell a change, both tell it byte for byte alike.
func TestSameAsGit(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	var d Differ
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		var lines []string
		for i := range 80 {
			lines = append(lines, fmt.Sprintf("%*sline %d\n", r.Intn(3), "", i))
		}
		a := []byte(strings.Join(lines, ""))
		for range 1 + r.Intn(8) {
			at := r.Intn(len(lines))
			switch r.Intn(3) {
			case 0:
				lines[at] = fmt.Sprintf("new %d\n", r.Intn(1000))
			case 1:
				lines = append(lines[:at], lines[at+1:]...)
			default:
				lines = append(lines[:at:at], append([]string{fmt.Sprintf("more %d\n", r.Intn(1000))}, lines[at:]...)...)
			}
		}
		b := []byte(strings.Join(lines, ""))
		if r.Intn(3) == 0 {
			b = b[:len(b)-1]
		}
		context := r.Intn(5)
		got := AppendUnified(nil, a, b, d.Lines(a, b, Options{}), Unified{Context: context})
		if want := gitDiff(t, dir, a, b, fmt.Sprintf("-U%d", context)); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: Git says\n%s\nwe\n%s", seed, want, got)
		}
	}
}
