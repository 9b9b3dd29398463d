package bridge

import (
	"bytes"
	"encoding/hex"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/revlog"
)

// TestSpecVector reads the records on the page and makes them again.
func TestSpecVector(t *testing.T) {
	page, err := os.ReadFile("../../../docs/spec/hg.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no vector")
	}
	one := revlog.Node(bytes.Repeat([]byte{1}, 20))
	want := map[string]record{
		"a": {kind: same}, "b/c": {kind: taken}, "d": {kind: madeOf, p1: one}, "e": {kind: copied, source: "o"},
		"f": {kind: madeWith, p2: one, before: []byte(mark + mark)}, "g": {kind: trusted, p1: one},
	}
	var all, again []byte
	for line := range strings.Lines(text) {
		b, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(line), "record "))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
		got, err := parseRecords(string(b))
		if err != nil {
			t.Fatal(err)
		}
		for path, r := range got {
			again = appendRecord(again, []byte(path), &r)
		}
	}
	got, err := parseRecords(string(all))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v: %v", got, want, err)
	}
	if !bytes.Equal(again, all) {
		t.Errorf("made again they are %x", again)
	}
}

func FuzzRecords(f *testing.F) {
	for _, seed := range []string{"", "=\x01a", "t\x01", "c\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "p\x01a" + strings.Repeat("x", 40), "=\x01a=\x01a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseRecords(s)
		if err != nil {
			return
		}
		var b []byte
		for path, r := range got {
			b = appendRecord(b, []byte(path), &r)
		}
		again, err := parseRecords(string(b))
		if err != nil || len(again) != len(got) || len(b) > len(s) {
			t.Errorf("%q is %+v and then %+v: %v", s, got, again, err)
		}
	})
}

// TestManifestEdits holds edit and lookup to maps.
func TestManifestEdits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := strings.Fields("a a.b a/b a/b/c b b- b/ zz é long/path/of/file A _ 0 a0 a-")
	node := func() (n revlog.Node) {
		n[0], n[19] = byte(1+rng.IntN(3)), 7
		return n
	}
	has := map[string]line{}
	var text []byte
	for range 500 {
		var lines []line
		want := maps.Clone(has)
		differ := 0
		for _, name := range names {
			if rng.IntN(4) > 0 {
				continue
			}
			l := line{path: name}
			if rng.IntN(3) > 0 {
				l.node, l.flag = node(), []byte{0, 'x', 'l'}[rng.IntN(3)]
			}
			if want[name] != l && (l.node != revlog.NullNode || want[name].node != revlog.NullNode) {
				differ++
			}
			if want[name] = l; l.node == revlog.NullNode {
				delete(want, name)
			}
			lines = append(lines, l)
		}
		sortLines(lines)
		n := 0
		next, err := edit(nil, text, lines, func(string) { n++ })
		if err != nil || n != differ {
			t.Fatalf("%d lines differ, want %d: %v", n, differ, err)
		}
		text, has = next, want
		count := 0
		for m := (revlog.Manifest{Text: text}); m.Next(); count++ {
		}
		for _, name := range names {
			got, flag, err := lookup(text, name)
			if err != nil || got != has[name].node || flag != has[name].flag {
				t.Fatalf("%s is %v %c, want %+v: %v", name, got, flag, has[name], err)
			}
		}
		if count != len(has) {
			t.Fatalf("%d lines, want %d", count, len(has))
		}
	}
}
