package repo

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

func somePin() *Pin {
	p := &Pin{Len: 17, Bookmark: "main", From: "../lib"}
	for i := range p.State {
		p.State[i] = byte(i)
	}
	return p
}

func TestPinVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/subrepo.md")
	check(t, err)
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	text, _, _ := strings.Cut(rest, "```")
	want, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	check(t, err)
	if got := somePin().Encode(); !bytes.Equal(got, want) {
		t.Fatalf("%q\nthe page has\n%q", got, want)
	}
	p, err := decodePin(want)
	check(t, err)
	if *p != *somePin() {
		t.Fatalf("%+v", p)
	}
}

// What a change of a stranger may have in it.
func TestHostilePins(t *testing.T) {
	with := func(edit func(p *Pin)) []byte {
		p := somePin()
		edit(p)
		return p.Encode()
	}
	good := string(somePin().Encode())
	for name, b := range map[string][]byte{
		"empty":              nil,
		"another version":    []byte(strings.Replace(good, "pin 1", "pin 2", 1)),
		"upper case":         []byte(strings.Replace(good, "0a0b", "0A0B", 1)),
		"a zero before":      []byte(strings.Replace(good, " 17\n", " 017\n", 1)),
		"a plus":             []byte(strings.Replace(good, " 17\n", " +17\n", 1)),
		"more behind":        []byte(good + "x\n"),
		"no newline":         []byte(strings.TrimSuffix(good, "\n")),
		"CR":                 []byte(strings.ReplaceAll(good, "\n", "\r\n")),
		"no change":          with(func(p *Pin) { p.Len = 0 }),
		"2^63":               with(func(p *Pin) { p.Len = 1 << 63 }),
		"a zero state":       with(func(p *Pin) { p.State = [32]byte{} }),
		"no bookmark":        with(func(p *Pin) { p.Bookmark = "" }),
		"an option":          with(func(p *Pin) { p.Bookmark = "--force" }),
		"two lines":          with(func(p *Pin) { p.Bookmark = "main\nfrom ../x" }),
		"an escape":          with(func(p *Pin) { p.Bookmark = "a\x1b[31m" }),
		"a long address":     with(func(p *Pin) { p.From = "../" + strings.Repeat("x", 9000) }),
		"no address":         with(func(p *Pin) { p.From = "" }),
		"a path":             with(func(p *Pin) { p.From = "/etc/passwd" }),
		"a plain name":       with(func(p *Pin) { p.From = "lib" }),
		"a roundabout path":  with(func(p *Pin) { p.From = "../a/../b" }),
		"a slash at the end": with(func(p *Pin) { p.From = "../lib/" }),
		"a backslash":        with(func(p *Pin) { p.From = `../..\lib` }),
		"a drive":            with(func(p *Pin) { p.From = `C:\lib` }),
		"an option first":    with(func(p *Pin) { p.From = "-oProxyCommand=touch x" }),
		"an option of ssh":   with(func(p *Pin) { p.From = "ssh://-oProxyCommand=touch/x" }),
		"a helper":           with(func(p *Pin) { p.From = "ext::sh -c touch" }),
		"file":               with(func(p *Pin) { p.From = "file:///etc" }),
		"a shell":            with(func(p *Pin) { p.From = "host$(touch x):lib" }),
		"CR at the end":      with(func(p *Pin) { p.From = "../lib\r" }),
		"control":            with(func(p *Pin) { p.From = "../l\x07ib" }),
		"bidi":               with(func(p *Pin) { p.From = "../l\u202eib" }),
		"a password":         with(func(p *Pin) { p.From = "https://me:secret@host/lib" }),
		"a user":             with(func(p *Pin) { p.From = "https://me@host/lib" }),
		"a query":            with(func(p *Pin) { p.From = "https://host/lib?x=y" }),
		"a bucket":           with(func(p *Pin) { p.From = "s3://team/lib?endpoint=https://evil" }),
		"not UTF-8":          with(func(p *Pin) { p.From = "../l\xffib" }),
	} {
		if p, err := decodePin(b); err == nil {
			t.Errorf("%s: %+v", name, p)
		} else if strings.Contains(err.Error(), "secret") || strings.ContainsAny(err.Error(), "\x1b\x07\r\n") {
			t.Errorf("%s: it says %q", name, err)
		}
	}
}

func TestPinIsSeenFrom(t *testing.T) {
	for _, c := range []struct{ from, outer, want string }{
		{"../lib", "/srv/app", "/srv/lib"},
		{"./lib", "/srv/app", "/srv/app/lib"},
		{"../../../../x", "/srv/app", "/x"},
		{"../lib", "https://host/team/app", "https://host/team/lib"},
		{"../../../../x", "https://host/team/app", "https://host/x"},
		{"../lib", "ssh://me@host:22/srv/app", "ssh://me@host:22/srv/lib"},
		{"../lib", "host:team/app", "host:team/lib"},
		{"../../../lib", "host:team/app", ""},
		{"../lib", "s3://team/app?region=x", "s3://team/lib?region=x"},
		{"../../../lib", "s3://team/a/app", "s3://team/lib"},
		{"https://other/lib", "https://host/app", "https://other/lib"},
	} {
		p := somePin()
		p.From = c.from
		check(t, checkFrom(p.From))
		got, err := p.seenFrom(c.outer)
		if (err == nil) != (c.want != "") || got != c.want {
			t.Errorf("%s from %s: %s, %v", c.from, c.outer, got, err)
		}
	}
}

func FuzzPin(f *testing.F) {
	f.Add(somePin().Encode())
	f.Add([]byte("oxy pin 1\nstate 00 1\nbookmark a\nfrom ./b\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodePin(b)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Encode(), b) {
			t.Fatal("another form")
		}
		if len(b) == 20 || len(b) == 32 {
			t.Fatal("it could be a commit of Git")
		}
	})
}
