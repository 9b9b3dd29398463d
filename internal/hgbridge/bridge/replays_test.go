package bridge

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/state"
)

// sameReplays holds what follows the files' versions against what makes the trees: each changeset must differ in the same from its first
// parent. Once it keeps all texts, and once none, so that each is made again.
func sameReplays(t testing.TB, r *repo.Repo) {
	t.Helper()
	for _, keep := range []int{keptReplay, 0} {
		if err := compareReplays(r, keep); err != nil {
			t.Fatalf("with %d bytes of texts: %v", keep, err)
		}
	}
}

func compareReplays(r *repo.Repo, keep int) error {
	ctx := context.Background()
	trees, err := r.NewReplay(ctx)
	if err != nil {
		return err
	}
	defer trees.Close()
	files := r.NewFileReplay(ctx, keep)
	parents := map[uint32][]uint32{}
	states := known{}
	steps := 0
	err = r.EachRecorded(0, func(s uint32, c *change.Change) error {
		m, ok, err := remember(s, c)
		if err != nil || !ok {
			return err
		}
		states[m.node], parents[s] = s, []uint32{}
		for _, n := range m.parents {
			parents[s] = append(parents[s], states[n])
			files.Expect(states[n])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.EachWhole(ctx, func(c *repo.Recorded) error {
		upon, ok := parents[c.State]
		if !ok {
			return nil
		}
		want, got := map[string]string{}, map[string]string{}
		err := trees.Step(c.State, upon, func(old, new *state.Entry, content func() ([]byte, error)) error {
			if new == nil {
				want[old.Path] = "gone"
				return nil
			}
			if old != nil && old.Hash == new.Hash && old.Exec == new.Exec && old.Kind == new.Kind {
				return nil
			}
			b, err := content()
			want[new.Path] = fmt.Sprint(new.Kind, new.Exec, string(b))
			return err
		})
		if err != nil {
			return fmt.Errorf("tree of state %d: %w", c.State, err)
		}
		err = files.Step(c, upon, func(old, new *repo.ReplayedFile) error {
			if new == nil {
				got[old.Path] = "gone"
				return nil
			}
			b, err := new.Content()
			if err != nil {
				return err
			}
			if old != nil {
				same, err := new.Holds(old)
				if err != nil {
					return err
				}
				if was, err := old.Content(); err != nil || same != bytes.Equal(was, b) {
					return fmt.Errorf("%s holds what it held: %t (%v)", new.Path, same, err)
				}
				if same && old.Exec == new.Exec && old.Kind == new.Kind {
					return nil
				}
			}
			got[new.Path] = fmt.Sprint(new.Kind, new.Exec, string(b))
			return nil
		})
		if err != nil {
			return fmt.Errorf("files of state %d: %w", c.State, err)
		}
		steps++
		files.Passed(steps)
		if !maps.Equal(got, want) {
			return fmt.Errorf("state %d upon %d differs in %.2000q, want %.2000q", c.State, upon, got, want)
		}
		return nil
	})
}
