package repo

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/state"
)

// An operation that makes no tree leaves those that are stored: else whoever comes next makes them again from all changes.
func TestOperationsOnNamesKeepTheTrees(t *testing.T) {
	root := t.TempDir()
	ctx := context.Background()
	r, err := Init(root, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("one\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	res, err := r.Commit(ctx, CommitOptions{Message: "one"})
	if err != nil {
		t.Fatal(err)
	}
	for name, act := range map[string]func(r *Repo) error{
		"bookmark": func(r *Repo) error { return r.SetBookmark("b", res.State, false) },
		"tag":      func(r *Repo) error { return r.SetTag("t", res.State, false) },
		"undo":     func(r *Repo) error { _, err := r.Undo(ctx); return err },
	} {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err = Open(root, testOptions()); err != nil {
			t.Fatal(err)
		}
		if err := act(r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		h, err := state.DecodeHint(r.store.Hint())
		if err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		b, err := state.OpenBlocks(r.fs, filepath.Join(r.dir, "trees"), h)
		if err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		if _, ok, err := b.Root(res.State.Num); err != nil || !ok {
			t.Errorf("after %s the tree of the state is gone: %v", name, err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
