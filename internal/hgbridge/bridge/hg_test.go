package bridge

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// hg runs Mercurial in a repository without anybody's settings.
func hg(t testing.TB, dir string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("hg")
	if err != nil {
		t.Skip("Mercurial is not installed: apt-get install mercurial")
	}
	extension, err := filepath.Abs("../../../revlog/testdata/oxytest.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"--config", "extensions.oxytest=" + extension}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HGRCPATH=", "HGPLAIN=1", "HGUSER=test", "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hg %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

type silent struct{}

func (silent) Begin(string, int64, bool) {}
func (silent) Add(int64)                 {}
func (silent) End()                      {}

func begin(t testing.TB) *repo.Repo {
	t.Helper()
	r, err := repo.Init(t.TempDir(), repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// take imports and proves.
func take(t testing.TB, r *repo.Repo, dir string, opt Options) *Report {
	t.Helper()
	opt.FS, opt.Progress = vfs.OS(), silent{}
	rep, err := Import(context.Background(), r, dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	prove(t, r)
	return rep
}

// prove verifies, and wants no faults.
func prove(t testing.TB, r *repo.Repo) *Verified {
	sameReplays(t, r)
	t.Helper()
	v, err := Verify(context.Background(), r, silent{})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Faults) > 0 {
		t.Fatalf("%+v", v.Faults)
	}
	return v
}

// theirs is what the manifest of a changeset has: by path the flag and the contents.
func theirs(t testing.TB, h *hgbridge.Repo, manifest revlog.Node) map[string]string {
	t.Helper()
	text, err := h.Manifest(manifest)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	m := revlog.Manifest{Text: bytes.Clone(text)}
	for m.Next() {
		f, err := h.File(string(m.Entry.Path))
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := f.Read(m.Entry.Node)
		if err != nil {
			t.Fatal(err)
		}
		all[string(m.Entry.Path)] = string([]byte{max(m.Entry.Flag, '-')}) + string(b)
		f.Close()
	}
	return all
}

// ours is what a revision of the repository has, in the same form.
func ours(t testing.TB, r *repo.Repo, rev string) map[string]string {
	t.Helper()
	s, err := r.ResolveState(rev)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	err = r.Files(s, "", func(e *repo.Side) error {
		flag := "-"
		switch {
		case e.Kind == change.Link:
			flag = "l"
		case e.Exec:
			flag = "x"
		}
		var b bytes.Buffer
		if err := r.Cat(&b, s, e.Path); err != nil {
			return err
		}
		all[e.Path] = flag + b.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sameFiles holds what a bookmark has to what Mercurial has in a revision.
func sameFiles(t testing.TB, r *repo.Repo, bookmark, dir, rev string) {
	t.Helper()
	h, err := hgbridge.Open(vfs.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	manifest, err := revlog.ParseNode(strings.TrimSpace(hg(t, dir, "log", "--hidden", "-r", rev, "-T", "{manifest % '{node}'}")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ours(t, r, bookmark), theirs(t, h, manifest); !maps.Equal(got, want) {
		t.Errorf("%s has other files than %s: %d and %d", bookmark, rev, len(got), len(want))
	}
}

func TestRandomHistories(t *testing.T) {
	for seed := range 6 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "theirs")
			hg(t, ".", "init", dir)
			hg(t, dir, "oxymake", "--revisions", "50", "--seed", fmt.Sprint(seed))
			r := begin(t)
			first := take(t, r, dir, Options{Secret: true, Obsolete: true})
			hg(t, dir, "oxyrefs")
			rep := take(t, r, dir, Options{Secret: true, Obsolete: true})
			if again := take(t, r, dir, Options{Secret: true, Obsolete: true}); again.Changesets != 0 || len(again.Moved) > 0 {
				t.Errorf("again: %+v", again)
			}
			if want := strings.Count(hg(t, dir, "log", "--hidden", "-T", "x"), "x"); first.Changesets+rep.Changesets != want || first.Merges == 0 {
				t.Errorf("%d and %d changesets, want %d", first.Changesets, rep.Changesets, want)
			}
			if v := prove(t, r); v.Trusted > 0 || v.Changesets != first.Changesets+rep.Changesets {
				t.Errorf("%+v", v)
			}
			sameFiles(t, r, "a-bookmark", dir, "7")
			sameFiles(t, r, "b", dir, "9")
			sameFiles(t, r, "three", dir, "three")
			sameFiles(t, r, "mine", dir, "8")
		})
	}
}
