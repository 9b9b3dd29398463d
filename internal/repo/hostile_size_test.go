package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

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
