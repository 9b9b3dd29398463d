package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

func TestHugeUntrackedFileIsNotReadUnasked(t *testing.T) {
	watch := &watchFS{FS: vfs.OS(), read: map[string]int64{}}
	opt := testOptions()
	opt.FS = watch
	h := newHostile(t, opt)
	h.put("a", "a\n")
	h.commit("Begin")
	h.put("huge", "")
	h.must(os.Truncate(h.path("huge"), 600<<20)) // sparse: it takes no room
	h.remove("a")                                // so that a move is looked for
	h.want("D a", "? huge")
	h.must(h.Log(LogOptions{}, func(*ChangeInfo) error { return nil }))
	set, err := h.DiffWorking(context.Background(), nil)
	h.must(err)
	if len(set.Files) != 2 || set.Files[1].Path() != "huge" || set.Files[1].New.Size != 600<<20 {
		t.Errorf("the difference has %+v", set.Files)
	}
	if _, err = h.Hunks(context.Background(), nil); err != nil {
		t.Error(err)
	}
	stop := &Error{Text: "no", Next: "Stop here."}
	said := ""
	_, err = h.Commit(context.Background(), CommitOptions{Message: "Huge", Large: func(path string, files int, bytes int64) error {
		said = fmt.Sprint(path, " ", files, " ", bytes>>20)
		return stop
	}})
	if !errors.Is(err, stop) || said != "huge 1 600" {
		t.Errorf("commit said %q first, and ended with %v", said, err)
	}
	if n := watch.bytes("huge"); n > 0 {
		t.Errorf("%d bytes of it were read", n)
	}
	h.want("D a", "? huge")
}

func TestLargeFileIsRecordedWithAWarningWhereNobodyCanBeAsked(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("large", "")
	h.must(os.Truncate(h.path("large"), largeFile+1))
	res := h.commit("Large")
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "large") || !strings.Contains(res.Warnings[0], "oxy undo") {
		t.Errorf("the warnings are %q", res.Warnings)
	}
	h.want()
}

func TestManyNewFilesAreSaidFirst(t *testing.T) {
	mem := newMem()
	check(t, mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(mem))
	check(t, err)
	defer r.Close()
	ctx := context.Background()
	put(t, mem, "a", "a\n")
	_, err = r.Commit(ctx, CommitOptions{Message: "Begin"})
	check(t, err)
	for i := range manyFiles + 1 {
		put(t, mem, fmt.Sprintf("out/%d", i), fmt.Sprint(i))
	}
	stop := &Error{Text: "no", Next: "Stop here."}
	asked := 0
	count := func(path string, files int, _ int64) error {
		if asked = files; path != "" {
			t.Errorf("asked about %s", path)
		}
		return stop
	}
	if _, err := r.Commit(ctx, CommitOptions{Message: "Many", Large: count}); !errors.Is(err, stop) || asked != manyFiles+1 {
		t.Errorf("asked about %d files, then %v", asked, err)
	}
	st, err := r.Status(ctx, StatusOptions{})
	check(t, err)
	if !slices.Equal(st.Untracked, []string{"out/"}) {
		t.Errorf("then untracked are %v", st.Untracked)
	}
	res, err := r.Commit(ctx, CommitOptions{Message: "Many"})
	check(t, err)
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], ".oxyignore") {
		t.Errorf("the warnings are %q", res.Warnings)
	}
	// A directory that moves is nothing new, however large.
	asked = 0
	check(t, mem.Rename(memRoot+"/out", memRoot+"/moved"))
	res, err = r.Commit(ctx, CommitOptions{Message: "Move", Large: count})
	check(t, err)
	if asked > 0 || res.Files[0].What != Moved {
		t.Errorf("asked about %d files that moved; the first is %v", asked, res.Files[0].What)
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

func TestTextsOfUnusualShape(t *testing.T) {
	shapes := map[string][2]string{
		"no end":            {"a\nb", "a\nb\nc"},
		"gains an end":      {"a\nb", "a\nb\n"},
		"emptied":           {"a\n", ""},
		"filled":            {"", "a\n"},
		"CR only":           {"a\rb\rc", "a\rB\rc"},
		"CRLF":              {"a\r\nb\r\n", "a\r\nB\r\n"},
		"CR CR LF":          {"a\r\r\nb\r\r\n", "a\r\nb\r\r\n"},
		"CRLF to LF":        {"a\r\nb\r\n", "a\nb\n"},
		"NUL":               {"a\x00b\nc\n", "a\x00b\nd\n"},
		"NUL after a while": {strings.Repeat("text\n", 2000) + "\x00\n", strings.Repeat("text\n", 2000) + "\x00\nmore\n"},
		"becomes binary":    {"text\n", "te\x00t\n"},
		"only newlines":     {"\n\n\n\n\n", "\n\n\n\n"},
		"not UTF-8":         {"\xff\xfe\n\x80\n", "\xff\xfe\n\x81\n"},
		"line separators":   {"a\u2028b\v\f\n", "a\u2028c\v\f\n"},
		"markers":           {"<<<<<<<\n=======\n>>>>>>>\n", "<<<<<<<\n=======\nx\n>>>>>>>\n"},
	}
	h := newHostile(t, testOptions())
	for turn := range 3 {
		for name, texts := range shapes {
			h.put(name, texts[turn%2])
		}
		h.commit(fmt.Sprint(turn))
		h.want()
	}
	for turn := range 3 {
		h.checkout(fmt.Sprintf("main:%d", turn+1))
		h.want()
		for name, texts := range shapes {
			h.holds(name, texts[turn%2])
		}
	}
}

func TestLineOfFiftyMegabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 150 MB")
	}
	h := newHostile(t, testOptions())
	line := bytes.Repeat([]byte("0123456789abcdef"), 50<<16)
	h.put("line", "before\n"+string(line)+"\nafter\n")
	h.commit("A line")
	line[len(line)/2] = 'X'
	h.put("line", "before\n"+string(line)+"\nafter\n")
	h.commit("Another")
	h.want()
	h.checkout("main~1")
	line[len(line)/2] = '0'
	h.holds("line", "before\n"+string(line)+"\nafter\n")
}

func TestMillionLines(t *testing.T) {
	if testing.Short() {
		t.Skip("a million lines")
	}
	h := newHostile(t, testOptions())
	var b strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintln(&b, i%5000)
	}
	first := b.String()
	second := first[:len(first)/3] + "here\n" + first[len(first)/3:len(first)/2] + first[len(first)/2+5:]
	h.put("lines", first)
	h.commit("A million")
	h.put("lines", second)
	if res := h.commit("An edit"); res.Added > 4 || res.Deleted > 4 {
		t.Errorf("%d lines added, %d deleted", res.Added, res.Deleted)
	}
	h.want()
	runs, err := h.Blame(context.Background(), "lines", BlameOptions{})
	h.must(err)
	var text strings.Builder
	for _, run := range runs {
		text.Write(run.Text)
	}
	if text.String() != second || len(runs) > 9 {
		t.Errorf("blame gives %d runs and %d bytes", len(runs), text.Len())
	}
	h.checkout("main~1")
	h.holds("lines", first)
}

func TestNamesThatOtherSystemsLose(t *testing.T) {
	h := newHostile(t, testOptions())
	names := []string{
		"\xff\xfe", "café", "cafe\u0301", strings.Repeat("n", 255), strings.Repeat("ü", 127), "-rf", "--", "new\nline", `q"uo'te\`,
		"*", "[a]", "~", "@", "main", "a:1", "a~1", "tab\t", " ", "\x01", "d\xff/\n/x", ".oxy-not", "oxy", "a.", "nul",
	}
	for _, n := range names {
		h.put(n, n+"\n")
	}
	h.commit("Names")
	h.want()
	if got := len(h.tracked()); got != len(names) {
		t.Errorf("%d of %d are tracked", got, len(names))
	}
	for _, n := range names {
		h.remove(n)
	}
	_, err := h.Discard(context.Background(), nil, nil)
	h.must(err)
	for _, n := range names {
		h.holds(n, n+"\n")
	}
	h.want()
}

func TestRenameOfCaseOnly(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("Readme", "read me\n")
	h.put("Src/a", "a of src\n")
	h.commit("Upper")
	h.must(os.Rename(h.path("Readme"), h.path("README")))
	h.must(os.Rename(h.path("Src"), h.path("src")))
	res := h.commit("Other case")
	for i := range res.Files {
		if res.Files[i].What != Moved {
			t.Errorf("%s is %v", res.Files[i].Path(), res.Files[i].What)
		}
	}
	h.checkout("main~1")
	if got := h.tracked(); !slices.Equal(got, []string{"Readme", "Src/a"}) {
		t.Errorf("tracked are %v", got)
	}
	h.checkout("main")
	h.holds("README", "read me\n")
	h.holds("src/a", "a of src\n")
	h.want()
}

func TestPathOfFourThousandBytes(t *testing.T) {
	h := newHostile(t, testOptions())
	// The system takes no such path at once: go there step by step.
	elem := strings.Repeat("d", 99)
	d, err := vfs.OS().OpenDir(h.root)
	h.must(err)
	for range 39 {
		h.must(d.Mkdir(elem, 0o777))
		next, err := d.OpenDir(elem)
		h.must(err)
		h.must(d.Close())
		d = next
	}
	write := func(content string) {
		f, err := d.OpenFile(strings.Repeat("f", 96), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666)
		h.must(err)
		_, err = f.Write([]byte(content))
		h.must(errors.Join(err, f.Close()))
	}
	write("deep\n")
	h.commit("Deep")
	path := h.tracked()[0]
	if len(path) != 39*100+96 {
		t.Fatalf("a path of %d bytes", len(path))
	}
	write("deeper\n")
	h.want("M " + path)
	set, err := h.DiffWorking(context.Background(), nil)
	h.must(err)
	if now, err := set.New(nil, 0); err != nil || string(now) != "deeper\n" {
		t.Errorf("its new content is %q, %v", now, err)
	}
	h.commit("Deeper")
	h.must(d.Close())
	h.checkout("main~1")
	h.want()
	h.checkout("main")
	h.want()
	base, err := h.Base()
	h.must(err)
	var b bytes.Buffer
	h.must(h.Cat(&b, base, path))
	if b.String() != "deeper\n" {
		t.Errorf("it holds %q", b.String())
	}
}

func TestRepositoriesInsideAreNamedAndNeverRecorded(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("a", "a\n")
	h.put("git/.git/HEAD", "ref: refs/heads/main\n")
	h.put("git/file", "of the other repository\n")
	h.put("submodule/.git", "gitdir: ../elsewhere\n")
	h.put("oxy/.oxy/format", "oxy repository, format 1\n")
	h.want("? a", "N git/", "N oxy/", "N submodule/")
	res := h.commit("Begin")
	if got := h.tracked(); !slices.Equal(got, []string{"a"}) || len(res.Skipped) != 3 {
		t.Errorf("tracked are %v, skipped %v", got, res.Skipped)
	}
	// Asked for by name, too: a path inside never becomes this repository's.
	for _, p := range []string{"git/.git/HEAD", "oxy/.oxy", "submodule/.git", ".oxy/format"} {
		_, err := h.Commit(context.Background(), CommitOptions{Message: "Inside", Paths: []string{p}})
		if e := (*Error)(nil); !errors.As(err, &e) {
			t.Errorf("recording %s: %v", p, err)
		}
	}
	// Another case of the name is the same directory elsewhere, and would be run from there.
	for _, p := range []string{"case/.OxY/x", ".GIT/config", "git~1/x"} {
		h.put(p, "x\n")
		_, err := h.Commit(context.Background(), CommitOptions{Message: "Alias"})
		refuses(t, err, p)
		h.remove(p)
	}
	// A directory of this repository that becomes one of its own keeps what is recorded, and its .git stays out.
	h.put("lib/code", "code\n")
	h.commit("Lib")
	h.put("lib/.git/HEAD", "ref: refs/heads/main\n")
	h.put("lib/code", "edited\n")
	h.commit("Edit")
	if got := h.tracked(); !slices.Equal(got, []string{"a", "lib/code"}) {
		t.Errorf("tracked are %v", got)
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

// watchFS counts what is read of each file beneath a directory that was opened.
type watchFS struct {
	vfs.FS
	mu   sync.Mutex
	read map[string]int64
	each func(name string) // called after each reading
}

func (w *watchFS) bytes(name string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.read[name]
}

func (w *watchFS) OpenDir(name string) (vfs.Dir, error) {
	d, err := w.FS.OpenDir(name)
	return watchDir{d, w}, err
}

type watchDir struct {
	vfs.Dir
	w *watchFS
}

func (d watchDir) OpenDir(name string) (vfs.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return watchDir{sub, d.w}, nil
}

func (d watchDir) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.Dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return watchFile{f, name, d.w}, nil
}

type watchFile struct {
	vfs.File
	name string
	w    *watchFS
}

func (f watchFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.w.mu.Lock()
	f.w.read[f.name] += int64(n)
	f.w.mu.Unlock()
	if f.w.each != nil {
		f.w.each(f.name)
	}
	return n, err
}
