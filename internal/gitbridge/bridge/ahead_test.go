package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// stopping ends what reports to it after some commits.
type stopping struct {
	silent
	after int
	stop  context.CancelFunc
}

func (s *stopping) Add(n int64) {
	if s.after -= int(n); s.after == 0 {
		s.stop()
	}
}

// A proof of commits that hold more than the replay hands on finds all in order, and one that is ended leaves nothing behind.
func TestProofOfMuch(t *testing.T) {
	git := gittest.New(t)
	var out strings.Builder
	for n := range 12 {
		fmt.Fprintf(&out, "commit refs/heads/main\nmark :%d\ncommitter Bob <bob@example.com> %d +0000\ndata 2\nm\n", n+1, 1_000_000_000+n)
		if n > 0 {
			fmt.Fprintf(&out, "from :%d\n", n)
		}
		for k := range 3 {
			if n > 0 && k > 0 {
				break
			}
			text := strings.Repeat(fmt.Sprintf("a line of file %d, version %d\n", k, n), aheadBytes/60)
			fmt.Fprintf(&out, "M 100644 inline f%d\ndata %d\n%s\n", (k+n)%3, len(text), text)
		}
	}
	git.In(out.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
	r, err := repo.Init(t.TempDir(), repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := take(t, r, git); n != 12 {
		t.Fatalf("%d commits", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if v, err := Verify(ctx, r, nil, &stopping{after: 3, stop: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", v, err)
	}
}

// A commit that does not come out as it was is told, and those after it are proved all the same.
func TestProofTells(t *testing.T) {
	r, err := repo.Init(t.TempDir(), repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	im, err := r.NewImporter(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var parents []uint32
	for n := range 5 {
		id := func(n int) string { return strings.Repeat(string(rune('a'+n)), 20) }
		extra := []change.Field{{Key: fieldCommit, Value: id(n)}}
		if n > 0 {
			extra = append(extra, change.Field{Key: fieldParents, Value: id(n - 1)})
		}
		s, err := im.Put(&repo.Imported{Parents: parents, Message: "m", Extra: extra,
			Files: []repo.ImportedFile{{Path: "f", Data: []byte(fmt.Sprint(n, "\n"))}}})
		if err != nil {
			t.Fatal(err)
		}
		parents = []uint32{s}
	}
	if err := im.Commit("git import"); err != nil {
		t.Fatal(err)
	}
	if err := im.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(context.Background(), r, nil, silent{})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Faults) != 5 || v.Commits != 0 || v.Files != 5 {
		t.Errorf("%+v", v)
	}
}
