package ignore

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// gitTree is a repository of the installed Git that stands model. Git looks at the disk to tell which paths are
// directories.
type gitTree struct {
	dir  string
	made map[string]bool
	old  files
}

func newGitTree(tb testing.TB) *gitTree {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("Git folds letter case here, and some of the names cannot exist")
	}
	if _, err := exec.LookPath("git"); err != nil {
		tb.Skip("no git to compare with")
	}
	g := &gitTree{dir: tb.TempDir(), made: map[string]bool{}}
	if out, err := g.command("init", "-q").CombinedOutput(); err != nil {
		tb.Fatalf("git init: %v: %s", err, out)
	}
	return g
}

func (g *gitTree) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	return cmd
}

// gitPath is where an ignore file lies on disk; Git names it so too.
func gitPath(name string) string {
	switch name {
	case userFile, excludeFile:
		return ".git/info/" + name
	}
	return name
}

// write replaces all ignore files.
func (g *gitTree) write(tb testing.TB, fs files) {
	tb.Helper()
	for name := range g.old {
		if err := os.Remove(filepath.Join(g.dir, gitPath(name))); err != nil {
			tb.Fatal(err)
		}
	}
	for name, text := range fs {
		dir, _ := cutLast(gitPath(name))
		g.mkdir(tb, dir)
		if err := os.WriteFile(filepath.Join(g.dir, gitPath(name)), []byte(text), 0o666); err != nil {
			tb.Fatal(err)
		}
	}
	g.old = fs
}

func (g *gitTree) mkdir(tb testing.TB, dir string) {
	tb.Helper()
	if g.made[dir] {
		return
	}
	g.made[dir] = true
	if err := os.MkdirAll(filepath.Join(g.dir, dir), 0o777); err != nil {
		tb.Fatal(err)
	}
}

// clear removes all directories, for paths that now are files.
func (g *gitTree) clear(tb testing.TB) {
	tb.Helper()
	g.write(tb, nil)
	for dir := range g.made {
		top, _, _ := strings.Cut(dir, "/")
		if top == "" || top == ".git" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(g.dir, top)); err != nil {
			tb.Fatal(err)
		}
	}
	clear(g.made)
}

// decisions returns what decides of each path, in the form of tree.decision.
func (g *gitTree) decisions(tb testing.TB, paths []string) []string {
	tb.Helper()
	var in bytes.Buffer
	for _, p := range paths {
		name, isDir := strings.CutSuffix(p, "/")
		dir, _ := cutLast(name)
		if isDir {
			dir = name
		}
		g.mkdir(tb, dir)
		in.WriteString(name + "\x00")
	}
	cmd := g.command("-c", "core.excludesFile="+gitPath(userFile), "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin")
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1 says that nothing is ignored
		tb.Fatalf("git check-ignore: %v: %s", err, stderr.String())
	}
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(paths)+1 {
		tb.Fatalf("git check-ignore: %d fields for %d paths", len(fields), len(paths))
	}
	decided := make([]string, len(paths))
	for i := range paths {
		f := fields[4*i:]
		decided[i] = "-"
		if f[0] != "" {
			decided[i] = strings.TrimPrefix(f[0], ".git/info/") + ":" + f[1] + " " + f[2]
		}
	}
	return decided
}

// compare checks every path and returns how many there are.
func (g *gitTree) compare(tb testing.TB, fs files, paths []string) int {
	tb.Helper()
	g.write(tb, fs)
	t := newTree(fs)
	for i, want := range g.decisions(tb, paths) {
		got, err := t.decision(paths[i])
		if err != nil {
			tb.Errorf("%q: %v", paths[i], err)
		} else if got != want {
			tb.Errorf("%q: decided by %q, by Git %q; rules:\n%q", paths[i], got, want, fs)
		}
	}
	return len(paths)
}
