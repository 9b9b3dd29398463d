package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/state"
)

// Packing leaves one compact file of trees, and what a repository that stays open reads is what it read before.
func TestGC(t *testing.T) {
	root := t.TempDir()
	ctx := context.Background()
	r, err := Init(root, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	var last *CommitResult
	for i := range 40 {
		for f := range 30 {
			if i > 0 && f != i%30 {
				continue
			}
			text := strings.Repeat(fmt.Sprintf("line %d of file %d\n", i, f), 20)
			if err := os.WriteFile(filepath.Join(root, fmt.Sprint("file", f)), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if last, err = r.Commit(ctx, CommitOptions{Message: fmt.Sprint("change ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	other, err := Open(root, testOptions()) // reads nothing before the repack
	if err != nil {
		t.Fatal(err)
	}
	want := stored(t, r, last.State)
	ops := r.store.NumOps()
	res, err := r.GC(ctx, GCOptions{})
	if err != nil || res.After >= res.Before {
		t.Fatalf("%+v, %v", res, err)
	}
	if r.store.NumOps() != ops {
		t.Error("packing is no operation to undo")
	}
	gens, err := state.Generations(r.fs, filepath.Join(r.dir, "trees"))
	if err != nil || len(gens) != 1 {
		t.Errorf("trees %v, %v", gens, err)
	}
	for _, open := range []*Repo{r, other} {
		got := stored(t, open, last.State)
		if len(got) != len(want) {
			t.Errorf("%d files, not %d", len(got), len(want))
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s holds %q, not %q", name, got[name], text)
			}
		}
		if open.stale {
			t.Error("the trees were made again from nothing")
		}
	}
	again, err := r.GC(ctx, GCOptions{})
	if err != nil || again.Before != res.After || again.After > again.Before {
		t.Errorf("again %+v, %v", again, err)
	}
	if _, err := r.Undo(ctx); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}
