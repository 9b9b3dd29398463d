package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a file of a working copy.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// formats are Mercurial's settings for a new repository, and the requirements taken away from it afterwards: what Mercurial no longer
// makes but still reads and writes.
var formats = map[string]struct{ config, without []string }{
	"new": {config: []string{"format.use-share-safe=yes", "format.use-persistent-nodemap=yes", "storage.revlog.persistent-nodemap.slow-path=allow",
		"format.use-dirstate-v2=yes", "storage.dirstate-v2.slow-path=allow", "format.bookmarks-in-store=yes"}},
	"tree":       {config: []string{"experimental.treemanifest=1"}},
	"zlib":       {config: []string{"format.revlog-compression=zlib", "format.sparse-revlog=no", "format.dotencode=no", "format.use-share-safe=no"}},
	"raw":        {config: []string{"format.revlog-compression=none"}},
	"v2":         {config: []string{"experimental.revlogv2=enable-unstable-format-and-corrupt-my-data"}},
	"changelog2": {config: []string{"format.exp-use-changelog-v2=enable-unstable-format-and-corrupt-my-data"}},
	"v0":         {without: []string{"revlogv1", "generaldelta", "sparserevlog", "revlog-compression-zstd"}},
	"old":        {config: []string{"format.usefncache=no", "format.usegeneraldelta=no", "format.sparse-revlog=no", "format.revlog-compression=zlib", "format.use-share-safe=no"}},
	"oldest":     {config: []string{"format.usestore=no", "format.usegeneraldelta=no", "format.sparse-revlog=no", "format.revlog-compression=zlib", "format.use-share-safe=no"}},
}

// initFormat makes an empty repository of a format.
func initFormat(t testing.TB, dir, format string) {
	t.Helper()
	f := formats[format]
	var args []string
	var lasting strings.Builder
	for _, c := range f.config {
		args = append(args, "--config", c)
		section, setting, _ := strings.Cut(c, ".")
		fmt.Fprintf(&lasting, "[%s]\n%s\n", section, setting)
	}
	hg(t, ".", append(args, "init", dir)...)
	write(t, dir, ".hg/hgrc", lasting.String())
	for _, name := range []string{".hg/requires", ".hg/store/requires"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for _, line := range f.without {
			text = bytes.ReplaceAll(text, []byte(line+"\n"), nil)
		}
		write(t, dir, name, string(text))
	}
}

// Formats of all ages bring the same history in.
func TestFormats(t *testing.T) {
	for name := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "theirs")
			initFormat(t, dir, name)
			hg(t, dir, "oxymake", "--revisions", "50", "--seed", "5")
			hg(t, dir, "oxyrefs")
			r := begin(t)
			rep := take(t, r, dir, Options{})
			if rep.Secret == 0 || rep.Changesets+rep.Secret+rep.Obsolete != strings.Count(hg(t, dir, "log", "--hidden", "-T", "x"), "x") {
				t.Errorf("%+v", rep)
			}
			if v := prove(t, r); (v.Trusted > 0) != (name == "tree") || v.Files == 0 {
				t.Errorf("%+v", v)
			}
			sameFiles(t, r, "three", dir, "three")
		})
	}
}

// What people do with Mercurial: each leaves traces of its own in the history.
func TestWhatPeopleDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "theirs")
	hg(t, ".", "init", dir)
	on := func(args ...string) string {
		return hg(t, dir, append([]string{"--config", "extensions.rebase=", "--config", "experimental.evolution=all"}, args...)...)
	}
	commit := func(message string) { on("commit", "-qAm", message) }
	write(t, dir, "a", "1\n2\n3\n4\n5\n")
	write(t, dir, "d/b", "\x01\nlooks like metadata\n")
	write(t, dir, "nested/.hgsub-not", "x")
	commit("first")
	if err := os.Chmod(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	commit("only a flag")
	on("mv", "a", "moved/a")
	commit("a move alone")
	write(t, dir, "moved/a", "1\n2\n3\n4\n5\n6\n")
	on("cp", "d/b", "d/c")
	commit("a copy, exact")
	on("rm", "d/b")
	write(t, dir, "d/b/now/a/directory", "deep\n")
	commit("a directory in a file's place")
	on("update", "-q", "1")
	write(t, dir, "a", "0\n1\n2\n3\n4\n5\n")
	commit("an edit of what moved")
	on("merge", "-q")
	commit("a merge over a move")
	on("update", "-q", "3")
	write(t, dir, "moved/a", "1\n2\n3\n4\n5\n6\n7\n")
	write(t, dir, "both", "same\n")
	commit("to graft")
	on("update", "-q", "6")
	write(t, dir, "both", "same\n")
	commit("the same file, made twice")
	on("graft", "-q", "-r", "desc('to graft')", "--tool", "internal:other")
	on("merge", "-q", "-r", "desc('to graft') and not tip", "--tool", "internal:local")
	commit("a merge of a graft")
	on("backout", "-q", "--no-commit", "-r", "1")
	commit("back out the flag")
	write(t, dir, "a", "amended\n")
	on("commit", "-qAm", "to amend")
	write(t, dir, "a", "amended twice\n")
	on("commit", "-q", "--amend", "-m", "amended")
	on("mv", "both", "both2")
	write(t, dir, "both", "another\n")
	commit("another in its place")
	on("branch", "-q", "w h/a t")
	commit("branch only")
	on("commit", "-q", "--close-branch", "-m", "closed")
	for _, p := range []string{"moved/a", "both", "both2", "a", "d/c", "nested/.hgsub-not", "d/b/now/a/directory"} {
		on("rm", "-f", "-q", p)
	}
	commit("nothing is left")
	r := begin(t)
	rep := take(t, r, dir, Options{})
	if rep.Obsolete != 1 || rep.Merges != 2 {
		t.Errorf("%+v", rep)
	}
	sameFiles(t, r, "default", dir, "default")
	sameFiles(t, r, "w-h/a-t", dir, "w h/a t")
	rep = take(t, r, dir, Options{Obsolete: true})
	if rep.Changesets != 1 || rep.Obsolete != 0 {
		t.Errorf("the obsolete one: %+v", rep)
	}
	if v := prove(t, r); v.Trusted != 0 || v.Changesets != strings.Count(on("log", "--hidden", "-T", "x"), "x") {
		t.Errorf("%+v", v)
	}
	// A history that was rewritten: what it has no more stays, its names go on.
	on("update", "-q", "default")
	write(t, dir, "more", "more\n")
	commit("more")
	rep = take(t, r, dir, Options{})
	if rep.Changesets != 1 || len(rep.Moved) == 0 {
		t.Errorf("more: %+v", rep)
	}
	sameFiles(t, r, "default", dir, "default")
}

func TestCensored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "theirs")
	hg(t, ".", "init", dir)
	write(t, dir, "a", "a secret\n")
	hg(t, dir, "commit", "-qAm", "first")
	write(t, dir, "a", "no secret\n")
	write(t, dir, "b", "b\n")
	hg(t, dir, "commit", "-qAm", "second")
	hg(t, dir, "--config", "extensions.censor=", "--config", "censor.policy=ignore", "censor", "-r", "0", "a")
	r := begin(t)
	rep := take(t, r, dir, Options{})
	if len(rep.Left) != 1 || !strings.HasPrefix(rep.Left[0].Name, "a in ") {
		t.Errorf("%+v", rep)
	}
	if v := prove(t, r); v.Trusted != 1 || v.Changesets != 2 {
		t.Errorf("%+v", v)
	}
}

func TestSubrepositoriesAreNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "theirs")
	hg(t, ".", "init", dir)
	hg(t, ".", "init", filepath.Join(dir, "sub"))
	write(t, filepath.Join(dir, "sub"), "x", "x\n")
	hg(t, filepath.Join(dir, "sub"), "commit", "-qAm", "inner")
	write(t, dir, ".hgsub", "sub = https://example.org/sub\n")
	hg(t, dir, "commit", "-qAm", "outer")
	rep := take(t, begin(t), dir, Options{})
	if len(rep.Subrepos) != 1 || rep.Subrepos[0].Path != "sub" || rep.Subrepos[0].State == "" {
		t.Errorf("%+v", rep)
	}
}
