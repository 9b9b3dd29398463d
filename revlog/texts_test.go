package revlog

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every text of a repository that Mercurial made is divided and put together again, byte for byte.
func TestTextsComeBackByteForByte(t *testing.T) {
	store := hgRepository(t, "tree", 60)
	copies, kinds := 0, map[byte]int{}
	for name := range describe(t, store) {
		l, err := Open(filepath.Join(store, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		r := l.Reader()
		defer r.Close()
		err = r.Texts(0, Rev(l.Len()), func(rev Rev, e *Entry, text []byte) error {
			var again []byte
			var err error
			switch {
			case name == "00changelog.i":
				var c Changeset
				if c, err = ParseChangeset(text); err != nil {
					return err
				}
				var fields []Field
				if fields, err = c.Extra(); err != nil {
					return err
				}
				if c.RawExtra != nil {
					c.RawExtra = EncodeExtra(fields)
				}
				if files := slices.Collect(c.Files()); len(files) == 0 || !bytes.Equal(bytes.Join(files, newline), c.RawFiles) {
					t.Errorf("changeset %d: its files are %q", rev, files)
				}
				if seconds, west, err := c.Time(); err != nil || seconds < 1_100_000_000 || west%3 != 0 {
					t.Errorf("changeset %d: its time is %d %d: %v", rev, seconds, west, err)
				}
				again, err = AppendChangeset(nil, c)
			case strings.HasSuffix(name, "00manifest.i"):
				m := Manifest{Text: text}
				for m.Next() && err == nil {
					kinds[m.Entry.Flag]++
					again, err = AppendManifest(again, m.Entry)
				}
				if err == nil {
					err = m.Err()
				}
			default:
				var m Meta
				var contents []byte
				if m, contents, err = SplitFile(text); err != nil {
					return err
				}
				if m.CopySource != "" {
					copies++
				}
				again, err = JoinFile(nil, m, contents)
			}
			if !bytes.Equal(again, text) {
				t.Errorf("%s: revision %d is put together as %q, was %q", name, rev, again, text)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if copies == 0 || kinds['x'] == 0 || kinds['l'] == 0 || kinds['t'] == 0 {
		t.Errorf("the history has %d copies and manifest lines of kinds %v: it tries too little", copies, kinds)
	}
}

func TestTextsThatAreNone(t *testing.T) {
	node := strings.Repeat("0a", 20)
	for _, text := range []string{
		"x", node, node + "\nuser", node + "\nuser\n0 0", node + "\nuser\n00\n\n", node + "\nuser\n0 0\nfile\n", strings.ToUpper(node) + "\nuser\n0 0\n\n",
	} {
		if c, err := ParseChangeset([]byte(text)); err == nil {
			t.Errorf("changeset %q is read as %+v", text, c)
		}
	}
	line := "a\x00" + node
	for _, text := range []string{
		"a", "\x00" + node + "\n", line, line + "y\n", line + "xx\n", "b" + line[1:] + "\n" + line + "\n", line + "\n" + line + "\n",
		"a\nb\x00" + node + "\n", "a\x00" + node[1:] + "\n",
	} {
		m := Manifest{Text: []byte(text)}
		for m.Next() {
		}
		if m.Err() == nil {
			t.Errorf("manifest %q is read", text)
		}
	}
	for _, text := range []string{"\x01\ncopy: a\n", "\x01\ncopy\n\x01\n", "\x01\ncopyrev: 12\n\x01\n"} {
		if m, _, err := SplitFile([]byte(text)); err == nil {
			t.Errorf("file %q is read as %+v", text, m)
		}
	}
	if _, err := AppendChangeset(nil, Changeset{User: []byte("a\nb"), Date: []byte("0 0")}); err == nil {
		t.Error("a changeset by a user of two lines is written")
	}
	if _, err := AppendManifest(nil, ManifestEntry{Path: []byte("a\nb")}); err == nil {
		t.Error("a path of two lines is written")
	}
	if _, err := JoinFile(nil, Meta{CopySource: "a\nb"}, nil); err == nil {
		t.Error("a copy from a path of two lines is written")
	}
}

func TestExtraIsEscapedAsMercurialDoes(t *testing.T) {
	for _, c := range []struct{ raw, key, value string }{
		{`foo:bar`, "foo", "bar"},
		{`foo:\0002`, "foo", "\x00002"},
		{`foo:a\\b\nc\rd`, "foo", "a\\b\nc\rd"},
		{`foo:\\\02`, "foo", "\\\x002"},
		{`foo:a:b`, "foo", "a:b"},
		{`foo:`, "foo", ""},
	} {
		set := Changeset{RawExtra: []byte(c.raw)}
		got, err := set.Extra()
		if err != nil || len(got) != 1 || got[0] != (Field{c.key, c.value}) {
			t.Errorf("%q is read as %q: %v", c.raw, got, err)
		}
		if raw := EncodeExtra(got); string(raw) != c.raw {
			t.Errorf("%q is written as %q", c.raw, raw)
		}
	}
}
