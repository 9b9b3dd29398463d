package bridge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// person works in a Git repository with Git's own commands.
type person struct {
	*gittest.Repo
	clock int64
}

func (p *person) write(name, text string) {
	p.TB.Helper()
	at := filepath.Join(p.Dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		p.TB.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
		p.TB.Fatal(err)
	}
}

// commit records all there is, a second after the last time.
func (p *person) commit(message string) {
	p.TB.Helper()
	p.clock++
	p.at(fmt.Sprint(p.clock, " +0000"), message)
}

// at records all there is with both times given; Git itself takes fewer times than it reads.
func (p *person) at(date, message string) {
	p.TB.Helper()
	p.Git("add", "-A")
	tree := p.Git("write-tree")
	head := fmt.Sprintf("tree %s\n", tree)
	if parent, err := p.Try("", "rev-parse", "-q", "--verify", "HEAD"); err == nil {
		head += "parent " + parent
	}
	id := p.Object("commit", fmt.Sprintf("%sauthor Ada <ada@example.com> %s\ncommitter Ada <ada@example.com> %s\n\n%s\n", head, date, date, message))
	p.Git("update-ref", "HEAD", id)
}

func (p *person) branch(name, at string) { p.TB.Helper(); p.Git("checkout", "-q", "-b", name, at) }

// What people do with Git: each leaves a shape of its own in the history, and each branch shows in oxy what Git shows.
func TestWhatPeopleDoWithGit(t *testing.T) {
	p := &person{gittest.New(t), 1_700_000_000}
	p.Git("config", "core.autocrlf", "false")
	p.write("a", "1\n2\n3\n4\n5\n")
	p.write(".gitattributes", "*.txt text eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs -text\n")
	p.write("dos.txt", "one\ntwo\n")
	p.write("raw", "one\r\ntwo\r\n")
	p.write("large.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("ab", 32)+"\nsize 12345\n")
	p.Git("config", "filter.lfs.clean", "cat")
	p.Git("config", "filter.lfs.smudge", "cat")
	p.commit("root")
	root := p.Git("rev-parse", "HEAD")

	for i := range 4 { // one branch each, and an octopus of them
		p.branch(fmt.Sprint("leg", i), root)
		p.write(fmt.Sprint("leg", i), "x\n")
		p.commit(fmt.Sprint("leg ", i))
	}
	p.Git("checkout", "-q", "main")
	p.Git("merge", "-q", "-m", "octopus", "leg0", "leg1", "leg2", "leg3")

	p.branch("theirs", root)
	p.write("a", "another a\n")
	p.commit("not wanted")
	p.Git("checkout", "-q", "main")
	p.Git("merge", "-q", "-s", "ours", "-m", "ours", "theirs")

	p.Git("checkout", "-q", "--orphan", "library")
	p.Git("rm", "-rfq", ".")
	p.write("lib.c", "int lib;\n")
	p.write("a", "the library's own a\n")
	p.commit("an orphan root")
	p.Git("checkout", "-q", "main")
	p.Git("merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "library")
	p.Git("read-tree", "--prefix=vendor/lib/", "-u", "library")
	p.Git("commit", "-q", "-m", "a subtree")
	p.Git("checkout", "-q", "library")
	p.write("lib.c", "int lib;\nint more;\n")
	p.commit("more of the library")
	p.Git("checkout", "-q", "main")
	p.Git("merge", "-q", "-s", "subtree", "-m", "the subtree again", "library")

	// A criss-cross, then settled.
	p.branch("left", "main")
	p.write("a", "1\nleft\n3\n4\n5\n")
	p.commit("left")
	p.branch("right", "main")
	p.write("a", "1\n2\n3\nright\n5\n")
	p.commit("right")
	left, right := p.Git("rev-parse", "left"), p.Git("rev-parse", "right")
	p.Git("merge", "-q", "-m", "right and left", left)
	p.Git("checkout", "-q", "left")
	p.Git("merge", "-q", "-m", "left and right", right)
	p.write("a", "1\nleft\n3\nright\n5\nleft again\n")
	p.commit("on")
	p.Git("checkout", "-q", "right")
	p.write("a", "0\n1\nleft\n3\nright\n5\n")
	p.commit("on")
	p.Git("merge", "-q", "-m", "settled", "left")

	// A file, a link, a submodule, a directory, one after the other under a name.
	p.branch("kinds", root)
	p.write("k", "a file\n")
	p.commit("a file")
	if err := os.Remove(filepath.Join(p.Dir, "k")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(p.Dir, "k")); err != nil {
		t.Fatal(err)
	}
	p.commit("a link")
	if err := os.Remove(filepath.Join(p.Dir, "k")); err != nil {
		t.Fatal(err)
	}
	p.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("12", 20)+",k")
	p.Git("commit", "-q", "-m", "a submodule")
	p.Git("rm", "-q", "--cached", "k")
	p.write("k/in/it", "deep\n")
	p.commit("a directory")

	p.branch("times", root)
	for i, date := range []string{"0 +0000", "4102444800 +0530", "99999999999 -1200", "1600000000 +1400", "1500000000 -0330", "1 +9999"} {
		p.write("t", fmt.Sprint(i))
		p.at(date, "at "+date)
	}
	p.Git("commit", "-q", "--allow-empty", "-m", "nothing in it")
	p.Git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")

	p.branch("names", root)
	for _, name := range []string{"Case", "case", "aux.c", "trailing.", "a:b", "e\u0301", "\u00e9", "nl\nin", "-dash", "caf\xe9"} {
		p.write("n/"+name, name)
	}
	p.commit("names that others cannot hold")

	p.Git("notes", "add", "-m", "a note", root)
	p.Git("replace", root, p.Object("commit", "tree "+p.Git("rev-parse", root+"^{tree}")+"\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nreplaced\n"))
	p.Git("tag", "-a", "-m", "an annotated tag", "v1", "main")
	p.Git("tag", "light", "left")

	t.Setenv("GIT_NO_REPLACE_OBJECTS", "1") // what is compared is what lies there
	r, err := repo.Init(t.TempDir(), repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rep, err := Import(context.Background(), r, p.Dir, Options{FS: vfs.OS(), Progress: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	var named strings.Builder
	for _, l := range rep.Left {
		fmt.Fprintln(&named, l)
	}
	for _, name := range []string{"refs/notes/commits", "refs/replace/" + root} {
		if !strings.Contains(named.String(), name) {
			t.Errorf("the report does not name %s: %q", name, named.String())
		}
	}
	v, err := Verify(context.Background(), r, silent{})
	if err != nil || len(v.Faults) > 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	if want := len(strings.Fields(p.Git("rev-list", "--branches", "--tags"))); v.Commits != want {
		t.Errorf("%d commits were proved of %d", v.Commits, want)
	}
	for _, branch := range strings.Fields(p.Git("for-each-ref", "--format=%(refname:short)", "refs/heads")) {
		s, err := r.ResolveState(branch)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if err := r.Files(s, "", func(f *repo.Side) error {
			fmt.Fprintf(&got, "%s\n", f.Path)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(p.Git("-c", "core.quotePath=false", "ls-tree", "-r", "-z", "--name-only", branch), "\x00", "\n"); got.String() != want {
			t.Errorf("%s has\n%s\nwant\n%s", branch, got.String(), want)
		}
	}
	p.Git("update-ref", "-d", "refs/notes/commits")
	p.Git("replace", "-d", root)
	giveBack(t, r, p.Repo)
}
