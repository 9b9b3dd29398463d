package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/zeebo/blake3"
)

func TestPendingVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/repo.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```vector\n")
	want, _, _ := strings.Cut(rest, "```")
	r, err := Init(t.TempDir(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := &pending{Moves: []move{{"\xe9", "b"}}, Untracked: []string{"log"}}
	if err := r.savePending(p); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(r.dir, "wc", "pending"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("-page +written:\n%s", d)
	}
	back, err := r.loadPending()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back); d != "" {
		t.Errorf("-noted +read back:\n%s", d)
	}
}

// Moving on and back again: what is noted is always where a file was recorded and where it is now.
func TestMovesJoin(t *testing.T) {
	p := &pending{}
	p.note("a", "b")
	p.note("b", "c")
	if d := cmp.Diff([]move{{"a", "c"}}, p.Moves); d != "" {
		t.Error(d)
	}
	p.note("a", "d") // the move to c was noted and then failed
	if d := cmp.Diff([]move{{"a", "d"}}, p.Moves); d != "" {
		t.Error(d)
	}
	p.note("d", "c")
	p.note("c", "a")
	if len(p.Moves) != 0 {
		t.Errorf("back where it was, yet noted: %v", p.Moves)
	}
}

func TestEmptyHash(t *testing.T) {
	if want := change.Hash(blake3.Sum256(nil)); emptyHash != want {
		t.Errorf("written out as %s, it is %s", emptyHash, want)
	}
}
