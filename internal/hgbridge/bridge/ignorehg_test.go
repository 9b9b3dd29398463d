package bridge

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What Mercurial ignores by its rules, Git ignores by the translated ones, which are ours too (package ignore is held to Git).
func TestIgnoredAlike(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := filepath.Join(t.TempDir(), "both")
	hg(t, ".", "init", dir)
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, f := range strings.Fields("a.o x/a.o x/y/a.o build/a build2/a x/build/a core x/core xcore corex tmp/a x/atmpb a/b x/a/b x/aa/b/c docs/a.html docs/x/a.html src/a.c src/q/r/a.c x/src/b.c dist/a x/dist/a foo.pyc") {
		write(t, dir, f, "x")
	}
	for _, rule := range []string{`\.o$`, `^build/`, `^build$`, `^build`, `(^|/)core$`, `core$`, `core`, `tmp`, `a/b$`, `a/b`, `/a/b`, `^docs/[^/]*\.html$`, `.*\.pyc$`, `^x/.*`, "glob:*.o",
		"glob:a/b", "glob:src/**.c", "glob:src/*.c", "rootglob:dist/*", "rootglob:a.o", "glob:{core,tmp}", "glob:x?ore", `a.o$`, "glob:**/b"} {
		write(t, dir, ".hgignore", rule+"\n")
		out, left := TranslateIgnore([]byte(rule + "\n"))
		if len(left) > 0 {
			t.Errorf("%s: %+v", rule, left)
			continue
		}
		write(t, dir, ".gitignore", string(out))
		list := func(s string) []string {
			all := slices.DeleteFunc(strings.Fields(s), func(f string) bool { return strings.HasPrefix(f, ".") })
			slices.Sort(all)
			return all
		}
		want := list(hg(t, dir, "status", "-n", "-i"))
		cmd := exec.Command(git, "-C", dir, "ls-files", "-o", "-i", "--exclude-per-directory=.gitignore")
		b, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			t.Errorf("%s ignores nothing: it tries nothing", rule)
		}
		if got := list(string(b)); !slices.Equal(got, want) {
			t.Errorf("%s becomes %q, which ignores %v and not %v", rule, out, got, want)
		}
	}
}
