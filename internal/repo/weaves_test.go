package repo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// What is stored of a weave under a right checksum and cannot be read, as after a change of its form, is made again like
// anything derived, and whoever asks never hears of it.
func TestWeavesOfAnotherFormAreMadeAgain(t *testing.T) {
	spoiled := map[string][]byte{
		"a snapshot of another form":          {blockSnapshot, 3, 0xff, 0xff, 0xff},
		"a snapshot that ends early":          {blockSnapshot, 9},
		"a block of an unknown kind":          {77, 1, 2, 3},
		"a record whose hunks cannot be read": append(appendSource(appendSource([]byte{blockDelta}, source(1)), source(0)), 0xff),
		"a record that does not fit its file": change.AppendLocalHunks(appendSource(appendSource([]byte{blockDelta}, source(1)), source(0)), []change.Hunk{{L: change.Pos{Change: 9, Off: 9}, R: change.End, InsLen: 1}}),
		"a block without anything in it":      {},
	}
	for name, payload := range spoiled {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			ctx := context.Background()
			r, err := Init(root, testOptions())
			if err != nil {
				t.Fatal(err)
			}
			var last StateRef
			for i := range 3 {
				if err := os.WriteFile(filepath.Join(root, "f"), fmt.Appendf(nil, "one\ntwo %d\nthree\n", i), 0o666); err != nil {
					t.Fatal(err)
				}
				res, err := r.Commit(ctx, CommitOptions{Message: "m"})
				if err != nil {
					t.Fatal(err)
				}
				last = res.State
			}
			// The tree of the last state is stored anew, with the spoiled weave.
			tree, err := r.tree(last.Num)
			if err != nil {
				t.Fatal(err)
			}
			e, _, err := tree.Get("f")
			if err != nil {
				t.Fatal(err)
			}
			if e.Weave, err = r.blocks.PutWeave(0, payload); err != nil {
				t.Fatal(err)
			}
			if tree, err = tree.Edit([]state.Edit{{Path: "f", Entry: e}}); err != nil {
				t.Fatal(err)
			}
			r.blocks.PutRoot(state.StateRoot{State: last.Num, Root: tree.Root()})
			if err := r.SetTag("publish", last, false); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if r, err = Open(root, testOptions()); err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var b bytes.Buffer
			if err := r.Cat(&b, last, "f"); err != nil || b.String() != "one\ntwo 2\nthree\n" {
				t.Errorf("cat gives %q, %v", b.String(), err)
			}
			if err := os.WriteFile(filepath.Join(root, "f"), []byte("one\nnew\nthree\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Commit(ctx, CommitOptions{Message: "more"}); err != nil {
				t.Errorf("commit: %v", err)
			}
			if _, err := r.Blame(ctx, "f", BlameOptions{}); err != nil {
				t.Errorf("blame: %v", err)
			}
		})
	}
}

func source(change uint32) weave.Source { return weave.Source{Change: change, Size: 1} }
