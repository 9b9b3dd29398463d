package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

var (
	ada   = &repo.ChangeInfo{Num: 1, Author: change.Person{Name: "Ada", Email: "ada@example.org"}, Time: change.Time{Sec: 1780000000, Zone: 120}, Message: "Begin\n\nMore \x1b[31mof it\n"}
	grace = &repo.ChangeInfo{Num: 2, Author: change.Person{Name: "Grace Hopper", Email: "g@example.org"}, Time: change.Time{Sec: 1780003600}, Message: "Then"}
)

func shortOf(n uint32) string { return fmt.Sprintf("%08x", n*0x11111111) }

func TestChangeText(t *testing.T) {
	got := string(appendChangeText(nil, ada, shortOf(1), "", "", &ui.Palette{}))
	want := "change 11111111\nAuthor: Ada <ada@example.org>\nDate:   2026-05-28 22:26:40 +0200\n\n    Begin\n\n    More ^[[31mof it\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestBlameText(t *testing.T) {
	runs := []repo.BlameRun{
		{Change: ada, Text: []byte("one\ntwo\n"), Line: 8},
		{Change: grace, Text: []byte("gone\n"), DeletedBy: []*repo.ChangeInfo{ada, nil}},
		{Change: nil, Text: []byte("three\n"), Line: 10},
		{Change: grace, Text: []byte("no end"), Line: 11},
	}
	want := `11111111 (Ada              2026-05-28 22:26:40 +0200  8) one
11111111 (Ada              2026-05-28 22:26:40 +0200  9) two
22222222 (Grace Hopper     2026-05-28 21:26:40 +0000  -) deleted by 11111111 Ada, not recorded yet: gone
00000000 (not recorded yet                           10) three
22222222 (Grace Hopper     2026-05-28 21:26:40 +0000 11) no end
`
	var got bytes.Buffer
	if err := newBlameFormat(runs, shortOf, &ui.Palette{}).write(&got, runs); err != nil || got.String() != want {
		t.Errorf("%v, got:\n%s\nwant:\n%s", err, got.String(), want)
	}
}

// BenchmarkBlameText formats a file of the size of Linux's MAINTAINERS, with a run for every three lines.
func BenchmarkBlameText(b *testing.B) {
	var runs []repo.BlameRun
	for line := 1; line <= 22_800; line += 3 {
		c := ada
		if line%2 == 0 {
			c = grace
		}
		runs = append(runs, repo.BlameRun{Change: c, Text: []byte(strings.Repeat("F:\tdrivers/net/ethernet/\n", 3)), Line: line})
	}
	p := ui.Palette{}
	for b.Loop() {
		if err := newBlameFormat(runs, shortOf, &p).write(io.Discard, runs); err != nil {
			b.Fatal(err)
		}
	}
}

func TestParseSpan(t *testing.T) {
	for in, want := range map[string][2]int{"": {0, 0}, "3": {3, 3}, "3,7": {3, 7}, "3,": {3, 0}, "3,+2": {3, 4}, "3,3": {3, 3}} {
		from, to, err := parseSpan(in)
		if err != nil || [2]int{from, to} != want {
			t.Errorf("%q: %d, %d, %v; want %v", in, from, to, err, want)
		}
	}
	for _, in := range []string{"0", "-1", "a", "3,2", "3,+0", "3,b", ",3", "3,4,5", "3,-1"} {
		if _, _, err := parseSpan(in); err == nil {
			t.Errorf("%q is taken for a span", in)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ here, path, want string }{
		{"", "a/b", "a/b"}, {".", "a", "a"}, {"a", "a/b", "b"}, {"a", "b", "../b"}, {"a", "ab/c", "../ab/c"},
		{"a/b", "a/c/d", "../c/d"}, {"a/b", "a/b/c", "c"}, {"a/b", "x", "../../x"}, {"a", "a/", "./"}, {"a/b", "a", "../../a"},
		{"", "new\nline", `"new\nline"`}, {"a", "b\x1b", `"../b\033"`}, {"", "\xff", `"\377"`}, {"", "ü", "ü"}, {"", `a"b`, `"a\"b"`},
		{"", "\u202eevil", `"\342\200\256evil"`}, {"", "with space", "with space"},
	} {
		if got := newPaths(c.here).text(c.path); got != c.want {
			t.Errorf("in %q, %q is shown as %s, want %s", c.here, c.path, got, c.want)
		}
	}
}

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"status", "status", 0}, {"statsu", "status", 1}, {"stauts", "status", 1}, {"comit", "commit", 1}, {"lgo", "log", 1}, {"blam", "blame", 1}, {"xyz", "log", 3}} {
		if got := slips(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestTidy(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "\n\n a \t\r\n\nb\n\n": " a\n\nb", "": "", " \n\t\n": ""} {
		if got := tidy(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := withoutComments("# x\nFix #3\n#y\n"); got != "Fix #3" {
		t.Errorf("%q", got)
	}
}

func TestParsePerson(t *testing.T) {
	if p, ok := parsePerson(" Ada Lovelace <ada@example.org> "); !ok || p != (change.Person{Name: "Ada Lovelace", Email: "ada@example.org"}) {
		t.Errorf("%v, %v", p, ok)
	}
	for _, in := range []string{"", "Ada", "<a@b>", "Ada <a@b", "Ada <a@b> x", "A\nB <a@b>"} {
		if p, ok := parsePerson(in); ok {
			t.Errorf("%q is taken for %v", in, p)
		}
	}
}

func TestWords(t *testing.T) {
	if got := words([]string{"commit", "-m", "It's a day", "", "a"}); got != `oxy commit -m 'It'\''s a day' '' a` {
		t.Error(got)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 600 << 20: "600 MiB", 5 << 40: "5.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{nil, 0, ""},
		{errNo, 1, ""},
		{fmt.Errorf("write: %w", syscall.EPIPE), 0, ""},
		{errors.New("two\nlines"), 2, "oxy: two; lines\n"},
		{&repo.Error{Text: "nothing to record", No: true}, 1, "oxy: nothing to record\n"},
		{fmt.Errorf("open: %w", &repo.Error{Text: "no \x1bidentity", Next: "set one"}), 2, "oxy: open: no ^[identity\nset one\n"},
		{errInterrupted, 130, "oxy: interrupted\n"},
	} {
		var out bytes.Buffer
		a := &app{stdio: Stdio{Err: &out}}
		if code := a.report(c.err); code != c.code || out.String() != c.text {
			t.Errorf("%v: %d, %q; want %d, %q", c.err, code, out.String(), c.code, c.text)
		}
	}
}

func TestJSONOfPathsThatAreNotUTF8(t *testing.T) {
	f := newFile(&repo.FileChange{What: repo.Modified, Old: &repo.Side{Path: "a\xff"}, New: &repo.Side{Path: "a\xff", Exec: true}})
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"what":"modified","path":"a\ufffd","path_bytes":"Yf8=","old_mode":"100644","new_mode":"100755"}`
	if string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
}

func TestOutputShowsTheBeginningAtOnce(t *testing.T) {
	var sizes []int
	o := newOutput(writer(func(b []byte) (int, error) { sizes = append(sizes, len(b)); return len(b), nil }))
	line := bytes.Repeat([]byte{'x'}, 1000)
	for range 200 {
		o.Write(line)
	}
	o.Write(make([]byte, outputBuffer+1))
	o.Close()
	if sizes[0] > firstScreen+1000 || len(sizes) > 7 {
		t.Errorf("written in pieces of %d", sizes)
	}
	total := 0
	for _, n := range sizes {
		total += n
	}
	if total != 200_000+outputBuffer+1 {
		t.Errorf("%d bytes came out", total)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
