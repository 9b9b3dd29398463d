package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// hostileRepo is a repository with a person at work in it.
type hostileRepo struct {
	*Repo
	t    testing.TB
	root string
}

func newHostile(t testing.TB, opt Options) *hostileRepo {
	t.Helper()
	root := t.TempDir()
	r, err := Init(root, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &hostileRepo{r, t, root}
}

func (h *hostileRepo) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hostileRepo) path(name string) string { return filepath.Join(h.root, name) }

func (h *hostileRepo) put(name, content string) {
	h.t.Helper()
	h.must(os.MkdirAll(filepath.Dir(h.path(name)), 0o777))
	h.must(os.WriteFile(h.path(name), []byte(content), 0o666))
}

func (h *hostileRepo) link(name, target string) {
	h.t.Helper()
	h.must(os.RemoveAll(h.path(name)))
	h.must(os.MkdirAll(filepath.Dir(h.path(name)), 0o777))
	h.must(os.Symlink(target, h.path(name)))
}

func (h *hostileRepo) remove(name string) {
	h.t.Helper()
	h.must(os.RemoveAll(h.path(name)))
}

func (h *hostileRepo) commit(message string) *CommitResult {
	h.t.Helper()
	res, err := h.Commit(context.Background(), CommitOptions{Message: message})
	h.must(err)
	return res
}

func (h *hostileRepo) checkout(rev string) {
	h.t.Helper()
	_, err := h.Checkout(context.Background(), rev)
	h.must(err)
}

// status is the working copy's status, a letter and a path a line.
func (h *hostileRepo) status() string {
	h.t.Helper()
	st, err := h.Status(context.Background(), StatusOptions{})
	h.must(err)
	var lines []string
	for i := range st.Files {
		lines = append(lines, fmt.Sprintf("%c %s", st.Files[i].What.Letter(), st.Files[i].Path()))
	}
	for _, u := range st.Untracked {
		lines = append(lines, "? "+u)
	}
	for _, n := range st.Nested {
		lines = append(lines, "N "+n)
	}
	for _, p := range st.Problems {
		lines = append(lines, "problem "+p.Error())
	}
	return strings.Join(lines, "\n")
}

func (h *hostileRepo) want(status ...string) {
	h.t.Helper()
	if got, want := h.status(), strings.Join(status, "\n"); got != want {
		h.t.Fatalf("the status is\n%s\nwant\n%s", got, want)
	}
}

// holds checks what a file holds, not by way of a link.
func (h *hostileRepo) holds(name, content string) {
	h.t.Helper()
	info, err := os.Lstat(h.path(name))
	h.must(err)
	if !info.Mode().IsRegular() {
		h.t.Fatalf("%q is a %v", name, info.Mode())
	}
	b, err := os.ReadFile(h.path(name))
	h.must(err)
	if string(b) != content {
		h.t.Fatalf("%q holds %.60q, want %.60q", name, b, content)
	}
}

func (h *hostileRepo) isLink(name, target string) {
	h.t.Helper()
	got, err := os.Readlink(h.path(name))
	h.must(err)
	if got != target {
		h.t.Fatalf("%q leads to %.60q", name, got)
	}
}

func (h *hostileRepo) tracked() []string {
	h.t.Helper()
	base, err := h.Base()
	h.must(err)
	var out []string
	h.must(h.Files(base, "", func(f *Side) error { out = append(out, f.Path); return nil }))
	return out
}

// refuses checks that an error is for a person: one line that has the words, and what to do next.
func refuses(t testing.TB, err error, words ...string) {
	t.Helper()
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an error for a person", err)
	}
	for _, w := range words {
		if !strings.Contains(e.Text, w) {
			t.Errorf("%q does not say %q", e.Text, w)
		}
	}
	if strings.Contains(e.Text, "\n") || e.Next == "" {
		t.Errorf("%q, next %q", e.Text, e.Next)
	}
}

func TestVisitingAStateWithoutTheRuleTracksNothing(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("a", "a\n")
	h.commit("Before the rule")
	h.put(".oxyignore", "build/\n*.key\n")
	h.commit("The rule")
	h.put("build/out", "out\n")
	h.put("my.key", "secret\n")
	h.want()
	h.checkout("main~1")
	h.want("? build/", "? my.key") // seen, as nothing ignores it there, and not taken
	h.checkout("main")
	h.want()
	if got := h.tracked(); !slices.Equal(got, []string{".oxyignore", "a"}) {
		t.Errorf("tracked are %v", got)
	}
	h.holds("build/out", "out\n")
	h.holds("my.key", "secret\n")
}

func TestRuleOfAParentAddedLaterHidesNothingTracked(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("d/.gitignore", "!kept.log\n")
	h.put("d/e/a.log", "a\n")
	h.put("d/e/kept.log", "kept\n")
	h.commit("Begin")
	h.put(".gitignore", "*.log\n")
	h.put("d/e/a.log", "edited\n")
	h.put("d/e/new.log", "new\n")
	h.put("d/f/kept.log", "the nearer rule wins\n")
	h.want("M d/e/a.log", "? .gitignore", "? d/f/")
	h.commit("Rule")
	if got := h.tracked(); !slices.Equal(got, []string{".gitignore", "d/.gitignore", "d/e/a.log", "d/e/kept.log", "d/f/kept.log"}) {
		t.Errorf("tracked are %v", got)
	}
}

func TestDirectoryBecomesALinkToItsTwinAndBack(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("d/x", "mine\n")
	h.put("d/only", "mine\n")
	h.put("twin/x", "the twin's\n")
	h.commit("Directories")
	h.remove("d")
	h.link("d", "twin")
	h.want("D d/only", "D d/x", "? d")
	h.commit("A link")
	h.want()
	for range 2 {
		h.checkout("main~1")
		h.want()
		h.holds("d/x", "mine\n")
		h.holds("twin/x", "the twin's\n")
		h.checkout("main")
		h.want()
		h.isLink("d", "twin")
		h.holds("twin/x", "the twin's\n")
	}
	// A link of the person's own in place of a recorded directory leads nowhere either.
	h.checkout("main~1")
	h.remove("d")
	h.link("d", "twin")
	_, err := h.Discard(context.Background(), []string{"d"}, nil)
	if err == nil {
		h.holds("d/x", "mine\n")
	} else {
		refuses(t, err, "d")
	}
	h.holds("twin/x", "the twin's\n")
	if _, err := os.Lstat(h.path("twin/only")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was written through the link")
	}
}

func TestFileBecomesADirectoryAndBack(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("f", "file\n")
	h.put("d/in/deep", "deep\n")
	h.commit("One way")
	h.remove("f")
	h.remove("d")
	h.put("f/in/deep", "deep\n")
	h.put("d", "file\n")
	h.commit("The other way")
	for range 2 {
		h.checkout("main~1")
		h.want()
		h.holds("f", "file\n")
		h.holds("d/in/deep", "deep\n")
		h.checkout("main")
		h.want()
		h.holds("f/in/deep", "deep\n")
		h.holds("d", "file\n")
	}
	// What is not recorded in the directory is never lost to the file.
	h.put("f/mine", "mine\n")
	_, err := h.Checkout(context.Background(), "main~1")
	refuses(t, err, "f")
	h.holds("f/mine", "mine\n")
	h.want("? f/mine")
}

func TestLinkCycleAndLinkOfFourThousandBytes(t *testing.T) {
	h := newHostile(t, testOptions())
	long := strings.Repeat("long/", 800)[:4000]
	h.link("self", "self")
	h.link("d/up", "..")
	h.link("d/there", "../e/back")
	h.link("e/back", "../d/there")
	h.link("long", long)
	h.commit("Links")
	h.want()
	h.link("long", long[:3999]+"X")
	h.want("M long")
	h.commit("Another end")
	h.checkout("main~1")
	h.isLink("long", long)
	h.isLink("self", "self")
	h.isLink("d/up", "..")
	h.isLink("e/back", "../d/there")
	h.checkout("main")
	h.isLink("long", long[:3999]+"X")
	h.want()
}

func TestSameSizeAndTimePutBackIsSeen(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("f", "one\n")
	h.put("g", "one\n")
	h.commit("Begin")
	h.want()
	for _, name := range []string{"f", "g"} {
		info, err := os.Stat(h.path(name))
		h.must(err)
		h.put(name, "two\n")
		h.must(os.Chtimes(h.path(name), info.ModTime(), info.ModTime()))
	}
	h.want("M f", "M g")
	h.commit("Again")
	h.checkout("main~1")
	h.holds("f", "one\n")
	h.want()
}

func TestFileThatKeepsChangingIsNotRecordedHalf(t *testing.T) {
	for _, size := range []int{10, 65 << 20} { // read at once, and piece by piece
		watch := &watchFS{FS: vfs.OS(), read: map[string]int64{}}
		opt := testOptions()
		opt.FS = watch
		h := newHostile(t, opt)
		h.put("still", "still\n")
		h.put("busy", "")
		h.must(os.Truncate(h.path("busy"), int64(size)))
		watch.each = func(name string) {
			if name == "busy" {
				f, err := os.OpenFile(h.path("busy"), os.O_APPEND|os.O_WRONLY, 0)
				h.must(err)
				f.WriteString("more\n")
				h.must(f.Close())
			}
		}
		_, err := h.Commit(context.Background(), CommitOptions{Message: "Busy"})
		refuses(t, err, "busy", "chang")
		h.want("? busy", "? still")
		watch.each = nil
		h.commit("Still")
		h.want()
	}
}

func TestReadOnlyTree(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("a", "a\n")
	h.commit("Begin")
	h.put("a", "edited\n")
	h.must(h.Close())
	opt := testOptions()
	opt.FS = vfs.Inject(vfs.OS(), 1, syscall.EROFS, vfs.FaultStays)
	r, err := Open(h.root, opt)
	h.must(err)
	h.Repo = r
	for range 2 {
		h.want("M a") // though what it learns cannot be kept
	}
	ctx := context.Background()
	h.must(h.Log(LogOptions{}, func(*ChangeInfo) error { return nil }))
	set, err := h.DiffWorking(ctx, nil)
	h.must(err)
	if old, err := set.Old(nil, 0); err != nil || string(old) != "a\n" {
		t.Errorf("the old content is %q, %v", old, err)
	}
	_, err = h.Blame(ctx, "a", BlameOptions{})
	h.must(err)
	for name, act := range map[string]func() error{
		"commit":   func() error { _, err := h.Commit(ctx, CommitOptions{Message: "Cannot"}); return err },
		"checkout": func() error { _, err := h.Checkout(ctx, "main~1"); return err },
		"discard":  func() error { _, err := h.Discard(ctx, nil, nil); return err },
		"undo":     func() error { _, err := h.Undo(ctx); return err },
		"tag":      func() error { s, _ := h.Base(); return h.SetTag("v1", s, false) },
		"mv":       func() error { return h.Move(ctx, "a", "b") },
		"config":   func() error { return h.ConfigSet("user.name", "x", false) },
	} {
		t.Run(name, func(t *testing.T) { refuses(t, act(), "read-only") })
	}
	h.holds("a", "edited\n")
	h.want("M a")
}
