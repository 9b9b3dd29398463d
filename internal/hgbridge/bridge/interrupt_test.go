package bridge

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// stopper ends an import after so many changesets.
type stopper struct {
	silent
	left int
	stop func()
}

func (s *stopper) Add(int64) {
	if s.left--; s.left == 0 {
		s.stop()
	}
}

// An import that is interrupted leaves nothing half done, and goes on.
func TestInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "theirs")
	hg(t, ".", "init", dir)
	hg(t, dir, "oxymake", "--revisions", "40", "--seed", "9")
	r := begin(t)
	for _, after := range []int{1, 10, 30} {
		ctx, stop := context.WithCancel(context.Background())
		_, err := Import(ctx, r, dir, Options{FS: vfs.OS(), Progress: &stopper{left: after, stop: stop}})
		stop()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %d: %v", after, err)
		}
		prove(t, r)
	}
	take(t, r, dir, Options{})
	if v, want := prove(t, r), strings.Count(hg(t, dir, "log", "-T", "x"), "x"); v.Changesets != want {
		t.Errorf("%d changesets are proved of %d", v.Changesets, want)
	}
}
