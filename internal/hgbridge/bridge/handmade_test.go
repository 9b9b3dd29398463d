package bridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// handmade is a changeset of a repository that is written here, since Mercurial of today refuses to write it.
type handmade struct {
	user, date, message, extra string
	files                      map[string]string // all that it has, by path
}

// makeByHand writes a history, each changeset upon the one before, into a new repository.
func makeByHand(t testing.TB, sets []handmade) string {
	t.Helper()
	dir := t.TempDir()
	store := filepath.Join(dir, ".hg/store")
	write(t, dir, ".hg/requires", "generaldelta\nrevlogv1\nstore\n")
	writer := func(name string, changelog bool) *revlog.Writer {
		path := filepath.Join(store, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		w, err := revlog.OpenWriter(path, &revlog.WriterOptions{NoDeltas: changelog})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	logs := map[string]*revlog.Writer{}
	changelog, manifests := writer("00changelog.i", true), writer("00manifest.i", false)
	type there struct {
		node revlog.Node
		text string
		rev  revlog.Rev
	}
	now := map[string]there{}
	for i, c := range sets {
		rev := revlog.Rev(i)
		var touched, paths []string
		for path, text := range c.files {
			paths = append(paths, path)
			old, had := now[path]
			if had && old.text == text {
				continue
			}
			touched = append(touched, path)
			w := logs[path]
			if w == nil {
				w = writer("data/"+storeName(path)+".i", false)
				logs[path] = w
			}
			parent := revlog.Null
			if had {
				parent = old.rev
			}
			at, node, err := w.Append([]byte(text), parent, revlog.Null, rev)
			if err != nil {
				t.Fatal(err)
			}
			now[path] = there{node, text, at}
		}
		slices.Sort(touched)
		slices.Sort(paths)
		var manifest []byte
		for _, path := range paths {
			var err error
			if manifest, err = revlog.AppendManifest(manifest, revlog.ManifestEntry{Path: []byte(path), Node: now[path].node}); err != nil {
				t.Fatal(err)
			}
		}
		_, node, err := manifests.Append(manifest, rev-1, revlog.Null, rev)
		if err != nil {
			t.Fatal(err)
		}
		text, err := revlog.AppendChangeset(nil, revlog.Changeset{Manifest: node, User: []byte(c.user), Date: []byte(c.date), RawExtra: []byte(c.extra),
			RawFiles: []byte(strings.Join(touched, "\n")), Description: []byte(c.message)})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := changelog.Append(text, rev-1, revlog.Null, rev); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range logs {
		if err := errors.Join(w.Flush(), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(manifests.Flush(), manifests.Close(), changelog.Flush(), changelog.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// storeName writes a path without directories that end in ".i" and the like as a store without fncache does.
func storeName(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c == '_':
			b.WriteString("__")
		case c >= 'A' && c <= 'Z':
			b.WriteByte('_')
			b.WriteByte(c + 'a' - 'A')
		case c < ' ' || c >= 126 || strings.IndexByte(`\:*?"<>|`, c) >= 0:
			fmt.Fprintf(&b, "~%02x", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// What is not UTF-8 comes in byte for byte, and is proved: users, descriptions, branches, bookmarks, contents and paths of repositories that
// were written before Mercurial minded, or around it.
func TestTextThatIsNotUTF8(t *testing.T) {
	latin := "J\xf6rg M\xfcller <joerg@example.org>"
	dir := makeByHand(t, []handmade{
		{latin, "1100000000 -3600", "Gr\xfc\xdfe", "", map[string]string{"stra\xdfe/gr\xfc\xdfe.txt": "sch\xf6n\n", "plain": "1\n"}},
		{"\xff\xfe", "1100000001 0", "\x80\x81", "branch:\xe4st", map[string]string{"stra\xdfe/gr\xfc\xdfe.txt": "sch\xf6n\nsch\xf6ner\n", "plain": "1\n"}},
		{"\u65e5\u672c <x@example.org>", "1100000002 0", "utf-8 \u65e5\u672c\x00\xfe", "branch:\xe4st", map[string]string{"\x93\xfa\x96\x7b": "\x93\xfa\n", "plain": "2\n"}},
	})
	node := func(rev revlog.Rev) string {
		l, err := revlog.Open(filepath.Join(dir, ".hg/store/00changelog.i"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		n, err := l.Node(rev)
		if err != nil {
			t.Fatal(err)
		}
		return n.String()
	}
	write(t, dir, ".hg/bookmarks", node(1)+" b\xfccher\n")
	r := begin(t)
	rep := take(t, r, dir, Options{Authors: Authors{latin: {Name: "Jörg Müller", Email: "joerg@example.org"}}})
	if rep.Changesets != 3 || len(rep.Left) > 0 {
		t.Errorf("%+v", rep)
	}
	if v := prove(t, r); v.Trusted > 0 || v.Changesets != 3 {
		t.Errorf("%+v", v)
	}
	got := ours(t, r, "hg--st")
	want := map[string]string{"\x93\xfa\x96\x7b": "-\x93\xfa\n", "plain": "-2\n"}
	for path, text := range want {
		if got[path] != text || len(got) != len(want) {
			t.Errorf("%q is %q of %d files", path, got[path], len(got))
		}
	}
	if got := ours(t, r, "b-cher")["stra\xdfe/gr\xfc\xdfe.txt"]; got != "-sch\xf6n\nsch\xf6ner\n" {
		t.Errorf("%q", got)
	}
}

// An import of a damaged repository ends with an error that names file, revision and cause, and leaves what was there; what does not
// hang on the damage is read.
func TestDamagedRepositories(t *testing.T) {
	files := func(k int) map[string]string {
		return map[string]string{"a": strings.Repeat("line of a\n", 40) + fmt.Sprint(k), "b": fmt.Sprintf("b %d\n", k/2)}
	}
	var sets []handmade
	for k := range 6 {
		sets = append(sets, handmade{"u", fmt.Sprintf("%d 0", 1_000_000_000+k), fmt.Sprint("message ", k), "", files(k)})
	}
	for _, c := range []struct {
		name, file string
		damage     func(b []byte) []byte
		says       []string
	}{
		{"changelog cut", "00changelog.i", func(b []byte) []byte { return b[:len(b)-3] }, []string{"00changelog.i", "revision 5"}},
		{"changelog ends in an entry", "00changelog.i", func(b []byte) []byte { return append(b, "short"...) }, []string{"00changelog.i", "revision 6", "5 bytes into its entry"}},
		{"manifest ends in an entry", "00manifest.i", func(b []byte) []byte { return append(b, "short"...) }, []string{"00manifest.i", "revision 6"}},
		{"changelog altered", "00changelog.i", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, []string{"00changelog.i", "revision 5", "wrong hash"}},
		{"changelog of another version", "00changelog.i", func(b []byte) []byte { b[3] = 9; return b }, []string{"00changelog.i", "version 9"}},
		{"manifest's base ahead", "00manifest.i", func(b []byte) []byte { b[16+3] = 7; return b }, []string{"00manifest.i", "revision 0", "lies ahead"}},
		{"manifest gone", "00manifest.i", func([]byte) []byte { return nil }, []string{"00manifest.i", "no such revision"}},
		{"file cut", "data/a.i", func(b []byte) []byte { return b[:len(b)-5] }, []string{`"a"`, "a.i", "revision 5"}},
		{"file altered", "data/a.i", func(b []byte) []byte { b[70] ^= 0xff; return b }, []string{`"a"`, "a.i", "revision 0"}},
		{"file gone", "data/b.i", nil, []string{`"b"`, "b.i"}},
		{"unknown requirement", "../requires", func(b []byte) []byte { return append(b, "from-the-future\n"...) }, []string{`"from-the-future"`}},
		{"phases", "phaseroots", func([]byte) []byte { return []byte("9 zz\n") }, []string{"phaseroots"}},
		{"obsolete markers", "obsstore", func([]byte) []byte { return []byte("\x07") }, []string{"obsstore"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := makeByHand(t, sets)
			r := begin(t)
			take(t, r, makeByHand(t, sets[:2]), Options{}) // two of them are here
			path := filepath.Join(dir, ".hg/store", c.file)
			if c.damage == nil {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				b, err := os.ReadFile(path)
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, c.damage(b), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Import(t.Context(), r, dir, Options{FS: vfs.OS(), Progress: silent{}})
			if err == nil {
				t.Fatal("it is imported")
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not speak of %s: %v", part, err)
				}
			}
			if v := prove(t, r); v.Changesets != 2 {
				t.Errorf("%d changesets are left of 2", v.Changesets)
			}
			// And it goes on once the repository is whole.
			take(t, r, makeByHand(t, sets), Options{})
			if v := prove(t, r); v.Changesets != 6 {
				t.Errorf("%d changesets afterwards", v.Changesets)
			}
		})
	}
}
