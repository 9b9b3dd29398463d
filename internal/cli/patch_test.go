package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

// pair is a file before and after; a nil side is not there.
type pair struct {
	what             repo.What
	oldPath, newPath string
	old, new         *string
	oldMode, newMode string
	similar          int
}

type pairs []pair

func (p pairs) Old(dst []byte, i int) ([]byte, error) { return appendSide(dst, p[i].old), nil }
func (p pairs) New(dst []byte, i int) ([]byte, error) { return appendSide(dst, p[i].new), nil }

func appendSide(dst []byte, s *string) []byte {
	if s == nil {
		return dst
	}
	return append(dst, *s...)
}

func side(path, mode string, content *string) *repo.Side {
	if content == nil {
		return nil
	}
	s := &repo.Side{Path: path, Exec: mode == "100755", Size: int64(len(*content))}
	if mode == "120000" {
		s.Kind = change.Link
	}
	return s
}

func (p pairs) files() []repo.FileChange {
	out := make([]repo.FileChange, len(p))
	for i, f := range p {
		out[i] = repo.FileChange{
			What: f.what, Old: side(f.oldPath, f.oldMode, f.old), New: side(f.newPath, f.newMode, f.new), Similar: f.similar,
		}
	}
	return out
}

func (p pairs) patch(t *testing.T, palette *ui.Palette) string {
	t.Helper()
	w := &patcher{files: p.files(), sides: p, opt: newPatchOptions(3, palette)}
	var out []byte
	for i := range p {
		var err error
		if out, err = w.appendPatch(out, i); err != nil {
			t.Fatal(err)
		}
	}
	return string(out)
}

func str(s string) *string { return &s }

const plainMode, execMode, linkMode = "100644", "100755", "120000"

func TestPatchForm(t *testing.T) {
	for _, c := range []struct {
		name string
		p    pair
		want string
	}{
		{"modified", pair{repo.Modified, "a", "a", str("1\n2\n"), str("1\n3\n"), plainMode, plainMode, 0},
			"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"},
		{"new", pair{repo.Added, "", "x y", nil, str("1"), "", execMode, 0},
			"diff --git a/x y b/x y\nnew file mode 100755\n--- /dev/null\n+++ b/x y\t\n@@ -0,0 +1 @@\n+1\n\\ No newline at end of file\n"},
		{"new and empty", pair{repo.Untracked, "", "e", nil, str(""), "", plainMode, 0},
			"diff --git a/e b/e\nnew file mode 100644\n"},
		{"removed", pair{repo.Removed, "d/a", "", str("1\n"), nil, plainMode, "", 0},
			"diff --git a/d/a b/d/a\ndeleted file mode 100644\n--- a/d/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"},
		{"mode", pair{repo.ModeChanged, "a", "a", str("1\n"), str("1\n"), plainMode, execMode, 0},
			"diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"},
		{"moved", pair{repo.Moved, "a", "b", str("1\n"), str("1\n"), plainMode, plainMode, 100},
			"diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"},
		{"binary", pair{repo.Modified, "a", "a", str("1\x00"), str("2\n"), plainMode, plainMode, 0},
			"diff --git a/a b/a\nBinary files a/a and b/a differ\n"},
		{"file to link", pair{repo.TypeChanged, "a", "a", str("1\n"), str("b"), plainMode, linkMode, 0},
			"diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n" +
				"diff --git a/a b/a\nnew file mode 120000\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n"},
		{"a name in quotes", pair{repo.Added, "", "a\"\n\xff", nil, str("1\n"), "", plainMode, 0},
			"diff --git \"a/a\\\"\\n\\377\" \"b/a\\\"\\n\\377\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/a\\\"\\n\\377\"\n@@ -0,0 +1 @@\n+1\n"},
	} {
		if got := (pairs{c.p}).patch(t, &ui.Palette{}); got != c.want {
			t.Errorf("%s:\n%swant:\n%s", c.name, got, c.want)
		}
	}
}

// TestPatchApplies makes random trees, and lets Git make the second of the first by our patch.
func TestPatchApplies(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	names := []string{"a", "b c", "d/e", "d/f\tg", "ü", "\xff\xfe", `q"q\`, "-dash", "new\nline"}
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		text := func() *string {
			var b strings.Builder
			for range rnd.IntN(30) {
				fmt.Fprintf(&b, "line %d\n", rnd.IntN(9))
			}
			if rnd.IntN(3) == 0 {
				b.WriteString("no end")
			}
			return str(b.String())
		}
		modes := []string{plainMode, execMode}
		var list pairs
		for i, name := range names {
			p := pair{what: repo.Modified, oldPath: name, newPath: name, oldMode: modes[rnd.IntN(2)], newMode: modes[rnd.IntN(2)]}
			p.old, p.new = text(), text()
			switch rnd.IntN(6) {
			case 0:
				p.what, p.old = repo.Added, nil
			case 1:
				p.what, p.new = repo.Removed, nil
			case 2:
				p.what, p.newPath, p.similar = repo.Moved, fmt.Sprintf("moved/%d %s", i, filepath.Base(name)), 50
			case 3:
				p.what, p.new, p.newMode = repo.ModeChanged, p.old, execMode
				p.oldMode = plainMode
			case 4:
				p.what, p.new, p.newMode = repo.TypeChanged, str("target "+name), linkMode
			}
			list = append(list, p)
		}
		got, want := t.TempDir(), t.TempDir()
		for _, p := range list {
			place(t, got, p.oldPath, p.oldMode, p.old)
			place(t, want, p.newPath, p.newMode, p.new)
		}
		patch := list.patch(t, &ui.Palette{})
		cmd := exec.Command("git", "apply", "--unsafe-paths", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = got, strings.NewReader(patch)
		cmd.Env = append(os.Environ(), "GIT_DIR=/nonexistent", "GIT_CEILING_DIRECTORIES="+filepath.Dir(got))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, out, patch)
		}
		if a, b := listing(t, got), listing(t, want); a != b {
			t.Fatalf("seed %d: the patch made\n%s\nwant\n%s\nby\n%s", seed, a, b, patch)
		}
	}
}

func place(t *testing.T, root, path, mode string, content *string) {
	t.Helper()
	if content == nil {
		return
	}
	name := filepath.Join(root, path)
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil {
		switch mode {
		case linkMode:
			err = os.Symlink(*content, name)
		case execMode:
			err = os.WriteFile(name, []byte(*content), 0o777)
		default:
			err = os.WriteFile(name, []byte(*content), 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// listing tells a tree, the execute bits and links included.
func listing(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if info.Mode()&os.ModeSymlink != 0 {
			target, err := os.Readlink(name)
			fmt.Fprintf(&b, "%q link %q\n", rel, target)
			return err
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%q %v %q\n", rel, info.Mode()&0o100 != 0, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPatchColours(t *testing.T) {
	p := ui.Colours()
	got := pairs{{repo.Modified, "a", "a", str("1\n"), str("2\n"), plainMode, plainMode, 0}}.patch(t, &p)
	want := "\x1b[1mdiff --git a/a b/a\x1b[0m\n\x1b[1m--- a/a\x1b[0m\n\x1b[1m+++ b/a\x1b[0m\n" +
		"\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-1\x1b[0m\n\x1b[32m+2\x1b[0m\n"
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
		var got, want bytes.Buffer
		for i := range n {
			fmt.Fprintln(&want, i)
		}
		err := inOrder(n, func() int { return 0 },
			func(_ int, dst []byte, i int) ([]byte, error) { return fmt.Appendln(dst, i), nil },
			func(b []byte) error { got.Write(b); return nil })
		if err != nil || got.String() != want.String() {
			t.Errorf("%d files: %v, %q", n, err, got.String())
		}
	}
	// The first error in order ends it, whatever others did meanwhile.
	broken := fmt.Errorf("broken")
	emitted := 0
	err := inOrder(1000, func() int { return 0 },
		func(_ int, dst []byte, i int) ([]byte, error) {
			if i >= 100 {
				return nil, broken
			}
			return dst, nil
		},
		func([]byte) error { emitted++; return nil })
	if err != broken || emitted != 100 {
		t.Errorf("%v after %d", err, emitted)
	}
	// So does a reader that goes.
	emitted = 0
	err = inOrder(1000, func() int { return 0 },
		func(_ int, dst []byte, i int) ([]byte, error) { return dst, nil },
		func([]byte) error {
			if emitted++; emitted == 10 {
				return broken
			}
			return nil
		})
	if err != broken || emitted != 10 {
		t.Errorf("%v after %d", err, emitted)
	}
}

// BenchmarkPatches writes the patch of 1 000 files of 20 KB with a line edited in each.
func BenchmarkPatches(b *testing.B) {
	var list pairs
	for i := range 1000 {
		var text strings.Builder
		for line := range 600 {
			fmt.Fprintf(&text, "static int driver_%d_line_%d(void);\n", i, line)
		}
		old := text.String()
		name := fmt.Sprintf("drivers/net/%d.c", i)
		edited := strings.Replace(old, "line_300(", "line_300_edited(", 1)
		list = append(list, pair{repo.Modified, name, name, &old, &edited, plainMode, plainMode, 0})
	}
	files, opt := list.files(), newPatchOptions(3, &ui.Palette{})
	for b.Loop() {
		err := inOrder(len(files), func() *patcher { return &patcher{files: files, sides: list, opt: opt} }, (*patcher).appendPatch,
			func([]byte) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}
