// Package gittest makes Git repositories for tests with the git that is installed. Only tests import it.
package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Repo is a repository in a directory of its own.
type Repo struct {
	TB  testing.TB
	Dir string
}

// New makes a repository; args are further ones of git init. The test is skipped where there is no git.
func New(tb testing.TB, args ...string) *Repo {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		tb.Skip("no git is installed")
	}
	r := &Repo{TB: tb, Dir: tb.TempDir()}
	r.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

// Try runs git with stdin and gives what it wrote, both streams together.
func (r *Repo) Try(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+r.Dir, "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=1700000000 +0100",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=1700000000 +0100")
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// Git runs git and gives its output without the line feed at its end. A failure ends the test.
func (r *Repo) Git(args ...string) string { return r.In("", args...) }

// In is Git with something to read.
func (r *Repo) In(stdin string, args ...string) string {
	r.TB.Helper()
	out, err := r.Try(stdin, args...)
	if err != nil {
		r.TB.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

// Object writes an object of any content, valid or not, and gives its id in hex.
func (r *Repo) Object(kind, content string) string {
	r.TB.Helper()
	return r.In(content, "hash-object", "-t", kind, "-w", "--stdin", "--literally")
}

// Commit writes a commit of a tree with a message.
func (r *Repo) Commit(tree, message string, parents ...string) string {
	r.TB.Helper()
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.In(message, args...)
}

// Tree writes a tree of files, by path, of nothing but plain names.
func (r *Repo) Tree(files map[string]string) string {
	r.TB.Helper()
	var index strings.Builder
	for path, content := range files {
		fmt.Fprintf(&index, "100644 %s\t%s\n", r.Object("blob", content), path)
	}
	r.Git("read-tree", "--empty")
	r.In(index.String(), "update-index", "--index-info")
	return r.Git("write-tree")
}
