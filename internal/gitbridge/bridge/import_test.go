package bridge

import (
	"context"
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

var errCut = errors.New("the power is cut")

// The power is cut at many calls of an import, which then goes on where it was: no more than a batch is imported twice.
func TestPowerCutsOfAnImport(t *testing.T) {
	g := &randomGit{rng: rand.New(rand.NewPCG(77, 4)), git: gittest.New(t), idLen: 40}
	for range 60 {
		g.commit()
	}
	g.feed()
	const batch = 10
	ctx := context.Background()
	for n := 1; ; n += 11 {
		mem := vfs.NewMem()
		r, err := repo.Init("/r", repo.Options{FS: mem})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		faulty := vfs.Inject(mem, n, errCut, vfs.FaultStays)
		if r, err = repo.Open("/r", repo.Options{FS: faulty}); err == nil {
			_, err = Import(ctx, r, g.git.Dir, Options{FS: vfs.OS(), Progress: silent{}, Batch: batch})
			_ = r.Close() // the power is cut
		}
		if !faulty.Fired() {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		for _, found := range []*vfs.Mem{mem.CrashWorst(), mem.Crash(rand.New(rand.NewPCG(uint64(n), 1)))} {
			r, err := repo.Open("/r", repo.Options{FS: found})
			if err != nil {
				t.Fatal(err)
			}
			take(t, r, g.git)
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// All oddities of commits are kept, and given back.
func TestOddCommits(t *testing.T) {
	git := gittest.New(t)
	const ada = "Ada <ada@example.com> 1000000000 +0100"
	blob := git.Object("blob", "text\n")
	empty := git.Object("tree", "")
	row := func(mode, name, hex string) string {
		id, _ := object.ParseID(object.SHA1, hex)
		return mode + " " + name + "\x00" + string(id[:20])
	}
	plain := git.Object("tree", row("100644", "f", blob))
	trees := []string{
		plain,
		git.Object("tree", row("100664", "f", blob)),
		plain,
		git.Object("tree", row("40000", "d", empty)+row("100664", "f", blob)),
		git.Object("tree", row("40000", "d", git.Object("tree", row("100644", "x", blob)))+row("100664", "f", blob)),
		git.Object("tree", row("040000", "d", git.Object("tree", row("100644", "x", blob)))+row("100755", "f", blob)),
		git.Object("tree", row("040000", "d", empty)+row("100664", "f", blob)),
		git.Object("tree", row("040000", "f", git.Object("tree", row("100664", "x", blob)))),
		empty,
		git.Object("tree", row("160000", "f", strings.Repeat("1", 40))),
		git.Object("tree", row("0100644", "f", blob)),
		plain,
		plain,
	}
	heads := []string{
		"author " + ada + "\ncommitter " + ada + "\n\nm\n",
		"author " + ada + "\ncommitter Bob <bob@example.com> 1000000009 -0800\nencoding ISO-8859-1\n\n\xe9\n",
		"author " + ada + "\ncommitter " + ada + "\ngpgsig -----BEGIN\n x\n\n no end",
		"author Ada<a@b>1 +0000\ncommitter " + ada + "\n\n",
		"committer " + ada + "\n\nno author\n",
		"author  <> 01 +0000\ncommitter " + ada + "\n\n\n\n",
		"author A\x00 <a@b> 1 +9999\ncommitter " + ada + "\n\nm\x00\n",
		"author " + ada + "\nauthor " + ada + "\ncommitter " + ada + "\n\nm",
		"author Ada <ada@example.com> -86400 +0100\ncommitter Ada <ada@example.com> 99999999999 -0100\n\nbefore 1970, after 2038\n",
		"author " + ada + "\ncommitter " + ada + "\n" + strings.Repeat("x y\n", 1_000_000) + "\na million lines of header\n",
		"author " + ada,
		"author " + ada + "\nunknown x\ncommitter " + ada + "\n\nm\n",
		"author " + ada + "\ncommitter " + ada + "\nmergetag x\n y\n\nm\n",
	}
	parent := ""
	for i, tree := range trees {
		parent = git.Object("commit", "tree "+tree+"\n"+parent+heads[i])
		git.Git("update-ref", "refs/heads/b"+string(rune('a'+i)), parent)
		if i%3 == 2 { // the same parent twice
			parent = "parent " + parent + "\nparent " + parent + "\n"
			continue
		}
		parent = "parent " + parent + "\n"
	}
	tag := git.Object("tag", "object "+strings.Fields(parent)[1]+"\ntype commit\ntag old\n\nno tagger\n")
	git.Git("update-ref", "refs/tags/old", tag)
	git.Git("update-ref", "refs/tags/of-tag", git.Object("tag", "object "+tag+"\ntype tag\ntag of-tag\ntagger "+ada+"\n\nm\n"))
	git.Git("update-ref", "refs/tags/of-blob", blob)
	r, err := repo.Init(t.TempDir(), repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := take(t, r, git); n != len(trees) {
		t.Fatalf("%d commits", n)
	}
	git.Git("update-ref", "-d", "refs/tags/of-blob") // what is no commit is not carried
	out := &gittest.Repo{TB: t, Dir: t.TempDir()}
	if _, err := Export(context.Background(), r, out.Dir, ExportOptions{FS: vfs.OS(), Progress: silent{}}); err != nil {
		t.Fatal(err)
	}
	const format = "--format=%(objectname) %(refname)"
	if got, want := out.Git("for-each-ref", format), git.Git("for-each-ref", format); got != want {
		t.Fatalf("refs\n%s\nwant\n%s", got, want)
	}
	if got, want := out.Git("rev-list", "--all", "--objects", "--no-object-names"), git.Git("rev-list", "--all", "--objects", "--no-object-names"); len(got) != len(want) {
		t.Fatalf("objects\n%s\nwant\n%s", got, want)
	}
}

// The history of this very project comes in whole, is proved, and goes back.
func TestOwnHistory(t *testing.T) {
	here, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("not in a checkout of Git's")
	}
	git := gittest.New(t, "--bare")
	root := strings.TrimSpace(string(here))
	if shallow, err := exec.Command("git", "-C", root, "rev-parse", "--is-shallow-repository").Output(); err != nil || strings.TrimSpace(string(shallow)) != "false" {
		t.Skip("the checkout is shallow")
	}
	git.Git("fetch", "-q", root, "HEAD:refs/heads/main")
	r, err := repo.Init(t.TempDir(), repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	t.Log(take(t, r, git), "commits")
	giveBack(t, r, git)
}
