package repo

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A repository that came from others may have a link in the place of any of its files: nothing is written through one.
func TestLinksInsideARepositoryLeadNowhere(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("f", "one\n")
	h.put("ignored", "x")
	h.commit("one")
	h.put("f", "one\ntwo\n")
	h.commit("two")
	h.put(DirName+"/ignore", "ignored\n")
	h.must(h.ConfigSet("user.name", "Ada", false))
	_, err := h.Untrack(context.Background(), []string{"ignored"})
	h.must(err)
	h.must(h.Close())

	var names []string
	h.must(filepath.WalkDir(h.path(DirName), func(name string, _ fs.DirEntry, err error) error {
		if name != h.path(DirName) {
			names = append(names, strings.TrimPrefix(name, h.root+"/"))
		}
		return err
	}))
	if len(names) < 15 {
		t.Fatalf("only %q to try", names)
	}
	names = append(names, DirName+"/incoming")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			root, outside := filepath.Join(home, "w"), filepath.Join(home, "outside")
			check(t, os.CopyFS(root, os.DirFS(h.root)))
			check(t, os.Mkdir(outside, 0o777))
			at, target := filepath.Join(root, name), filepath.Join(outside, "target")
			if _, err := os.Lstat(at); err == nil {
				check(t, os.Rename(at, target))
			}
			check(t, os.Symlink(target, at))
			before := disk(t, outside)

			isDir := strings.HasSuffix(name, "incoming")
			if fi, err := os.Stat(at); err == nil {
				isDir = fi.IsDir()
			}
			workOn(t, root, isDir)
			if d := cmp.Diff(before, disk(t, outside)); d != "" {
				t.Errorf("what lies outside was written to (-before +after):\n%s", d)
			}
			if got, err := os.ReadFile(filepath.Join(root, "f")); err != nil || string(got) != "one\ntwo\nthree\n" {
				t.Errorf("the edit is gone: %q, %v", got, err)
			}
		})
	}
}

// workOn does a bit of everything that writes. Each step may be refused.
func workOn(t *testing.T, root string, refused bool) {
	check(t, os.WriteFile(filepath.Join(root, "f"), []byte("one\ntwo\nthree\n"), 0o666))
	r, err := Open(root, testOptions())
	if refused {
		if err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("opened through a link: %v", err)
		}
		return
	}
	if err != nil {
		return
	}
	defer r.Close()
	ctx := context.Background()
	_, _ = r.Status(ctx, StatusOptions{})
	_, _ = r.Untrack(ctx, []string{"f"})
	_ = r.ConfigSet("user.email", "ada@example.org", false)
	_, _ = r.Commit(ctx, CommitOptions{Message: "three"})
	_, _ = r.GC(ctx, GCOptions{})
}
