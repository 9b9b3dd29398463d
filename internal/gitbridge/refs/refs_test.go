package refs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

func read(t *testing.T, gitDir, commonDir string, f object.Format) *List {
	t.Helper()
	l, err := Read(vfs.OS(), Place{GitDir: gitDir, CommonDir: commonDir, Format: f})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// show is a list as git for-each-ref tells it, but for HEAD and the like.
func show(l *List) string {
	var out []string
	for _, r := range l.Refs {
		if strings.HasPrefix(r.Name, "refs/") {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s %s", r.ID, r.Name, r.Target), " "))
		}
	}
	return strings.Join(out, "\n")
}

func forEachRef(r *gittest.Repo) string {
	var out []string
	for line := range strings.SplitSeq(r.Git("for-each-ref", "--format=%(objectname) %(refname) %(symref)"), "\n") {
		out = append(out, strings.TrimSuffix(line, " "))
	}
	return strings.Join(out, "\n")
}

func TestListsWhatGitLists(t *testing.T) {
	for _, init := range [][]string{nil, {"--object-format=sha256"}} {
		r := gittest.New(t, init...)
		format := object.SHA1
		if init != nil {
			format = object.SHA256
		}
		first := r.Commit(r.Tree(map[string]string{"a": "1"}), "first")
		second := r.Commit(r.Tree(map[string]string{"a": "2"}), "second", first)
		r.Git("update-ref", "refs/heads/main", first)
		r.Git("update-ref", "refs/heads/deep/er/branch", first)
		r.Git("tag", "-a", "-m", "tag", "v1", first)
		r.Git("update-ref", "refs/notes/commits", second)
		r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main")
		r.Git("pack-refs", "--all")
		r.Git("update-ref", "refs/heads/main", second) // over a packed one
		r.Git("update-ref", "refs/heads/é", second)
		git := filepath.Join(r.Dir, ".git")
		l := read(t, git, git, format)
		if got, want := show(l), forEachRef(r); got != want || len(l.Problems) > 0 {
			t.Errorf("got\n%s\nwant\n%s\n%v", got, want, l.Problems)
		}
		if head, _ := l.Find("HEAD"); head.ID.String() != second || head.Target != "refs/heads/main" {
			t.Errorf("HEAD is %+v", head)
		}
		if tag, _ := l.Find("refs/tags/v1"); tag.Peeled.String() != first {
			t.Errorf("the tag is %+v", tag)
		}

		r.Git("worktree", "add", "-q", "--detach", "wt", first)
		wt := &gittest.Repo{TB: t, Dir: filepath.Join(r.Dir, "wt")}
		wt.Git("update-ref", "refs/worktree/own", first)
		l = read(t, filepath.Join(git, "worktrees", "wt"), git, format)
		if got, want := show(l), forEachRef(wt); got != want || len(l.Problems) > 0 {
			t.Errorf("in a worktree\n%s\nwant\n%s\n%v", got, want, l.Problems)
		}
		if head, _ := l.Find("HEAD"); head.ID.String() != first {
			t.Errorf("HEAD of the worktree is %+v", head)
		}
		if head, _ := read(t, git, git, format).Find("worktrees/wt/HEAD"); head.ID.String() != first {
			t.Errorf("the worktree's HEAD is %+v", head)
		}
	}
}

func TestSymbolicRefsThatLeadNowhere(t *testing.T) {
	mem := vfs.NewMem()
	put := func(name, text string) {
		t.Helper()
		if err := mem.MkdirAll(filepath.Dir("/r/"+name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFileAtomic(mem, "/r/"+name, []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	put("HEAD", "ref: refs/heads/none\n")
	put("refs/heads/a", "ref: refs/heads/b\n")
	put("refs/heads/b", "ref: refs/heads/a\n")
	put("refs/heads/c", strings.Repeat("1", 40)+"\n")
	put("refs/heads/d", "ref: refs/heads/c\n")
	put("refs/heads/long", strings.Repeat("1", maxLoose+1))
	put("refs/heads/e.lock", "")
	l, err := Read(mem, Place{GitDir: "/r", CommonDir: "/r"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]error{"HEAD": ErrDangling, "refs/heads/a": ErrTarget, "refs/heads/b": ErrTarget, "refs/heads/long": ErrContent}
	for _, p := range l.Problems {
		if !errors.Is(p, want[p.Name]) {
			t.Errorf("%v, want %v", p, want[p.Name])
		}
		delete(want, p.Name)
	}
	if len(want) > 0 || len(l.Refs) != 2 {
		t.Errorf("%+v without %v", l, want)
	}
}

// CheckName judges as git check-ref-format does.
func TestNamesAsGit(t *testing.T) {
	r := gittest.New(t)
	for _, name := range []string{
		"refs/heads/a", "refs/heads/a.b", "refs/heads/-a", "refs/heads/a-", "refs/heads/@", "refs/@/a", "refs/heads/a@b", "refs/a",
		"refs/heads/é", "refs/heads/\xff", "refs/heads/a\"b", "refs/heads/a'b", "refs/heads/a{b", "refs/heads/{", "refs/heads/a.lockb",
		"", "@", "refs//a", "refs/a/", "/refs/a", "refs/.a", "refs/a.", "refs/a..b", "refs/a.lock", "refs/a.lock/b", "refs/a b", "refs/a~b",
		"refs/a^b", "refs/a:b", "refs/a?b", "refs/a*b", "refs/a[b", "refs/a\\b", "refs/a@{b", "refs/a\tb", "refs/a\x7fb", "refs/a\nb",
	} {
		_, err := r.Try("", "check-ref-format", name)
		if got := CheckName(name); (got == nil) != (err == nil) || got != nil && !errors.Is(got, ErrName) {
			t.Errorf("%q: %v, git: %v", name, got, err)
		}
	}
}

func FuzzParsePacked(f *testing.F) {
	one := strings.Repeat("1", 40)
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n"+one+" refs/heads/a\n"+one+" refs/tags/b\n^"+one+"\n"), false)
	f.Add([]byte(one+" refs/heads/b\n"+one+" refs/heads/a\n"), false)
	f.Add([]byte("^"+one+"\n"), true)
	f.Fuzz(func(t *testing.T, b []byte, long bool) {
		format := object.SHA1
		if long {
			format = object.SHA256
		}
		// What is taken comes out again line by line.
		var again []byte
		err := ParsePacked(format, b, func(r PackedRef) error {
			again = append(format.AppendHex(again, r.ID), ' ')
			again = append(append(again, r.Name...), '\n')
			if !r.Peeled.IsZero() {
				again = append(format.AppendHex(append(again, '^'), r.Peeled), '\n')
			}
			_ = CheckName(r.Name)
			return nil
		})
		if err != nil {
			if !errors.Is(err, ErrPacked) {
				t.Fatal(err)
			}
			return
		}
		body := string(b)
		if strings.HasPrefix(body, "#") {
			_, body, _ = strings.Cut(body, "\n")
		}
		if body != string(again) {
			t.Fatalf("%q becomes %q", body, again)
		}
	})
}
