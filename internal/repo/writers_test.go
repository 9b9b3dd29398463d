package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
)

// Two commit at once, each its own files, while a third reads. What was acknowledged is in the log once, and no file of
// either is lost or mixed up.
func TestTwoWriters(t *testing.T) {
	const writers = 2
	rounds := 50
	if testing.Short() {
		rounds = 12
	}
	ctx := context.Background()
	root := t.TempDir()
	r, err := Init(root, testOptions())
	check(t, err)
	check(t, r.Close())
	var group, reading sync.WaitGroup
	done := make([]map[change.ID]bool, writers)
	for w := range writers {
		done[w] = map[change.ID]bool{}
		group.Go(func() {
			r, err := Open(root, testOptions())
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			dir := fmt.Sprint("w", w)
			for i := range rounds {
				if err := scribbleRound(filepath.Join(root, dir), i); err != nil {
					t.Error(err)
					return
				}
				res, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint(w, " ", i), Paths: []string{dir}})
				switch {
				case err == nil:
					done[w][res.ID] = true
				case !errors.Is(err, store.ErrLocked):
					t.Errorf("writer %d, round %d: %v", w, i, err)
				}
			}
		})
	}
	stop := make(chan struct{})
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := readAll(root); err != nil {
					t.Errorf("reading meanwhile: %v", err)
					return
				}
			}
		}
	})
	group.Wait()
	close(stop)
	reading.Wait()
	if r, err = Open(root, testOptions()); err != nil {
		t.Fatal(err)
	}
	found := map[change.ID]int{}
	check(t, r.Log(LogOptions{}, func(c *ChangeInfo) error { found[c.ID]++; return nil }))
	total := 0
	for w := range writers {
		total += len(done[w])
		for id := range done[w] {
			if found[id] != 1 {
				t.Errorf("change %s of writer %d is in the log %d times", id.Short(), w, found[id])
			}
		}
	}
	if len(found) != total || total == 0 {
		t.Errorf("%d changes in the log, %d were acknowledged", len(found), total)
	}
	if _, err := r.Commit(ctx, CommitOptions{Message: "what a busy lock left"}); err != nil {
		if e := (*Error)(nil); !errors.As(err, &e) || !e.No {
			t.Fatal(err)
		}
	}
	base, err := r.Base()
	check(t, err)
	if d := cmp.Diff(disk(t, root), stored(t, r, base)); d != "" {
		t.Errorf("-disk +stored\n%s", d)
	}
	check(t, r.Close())
}

// scribbleRound edits one file, adds one and removes the one before.
func scribbleRound(dir string, i int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(lines(0, i)+"edit\n"+lines(i+1, 60)), 0o666); err != nil {
		return err
	}
	if i > 0 {
		if err := os.Remove(filepath.Join(dir, fmt.Sprint("file", i-1))); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprint("file", i)), []byte(fmt.Sprintf("%s in round %d\n", dir, i)), 0o666)
}

// readAll reads as a process of its own.
func readAll(root string) error {
	r, err := Open(root, testOptions())
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := r.Status(context.Background(), StatusOptions{}); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	base, err := r.Base()
	if err != nil {
		return err
	}
	n := 0
	if err := r.Log(LogOptions{State: &base}, func(*ChangeInfo) error { n++; return nil }); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if uint64(n) != base.Len {
		return fmt.Errorf("the log has %d changes, its state %d", n, base.Len)
	}
	if _, err := contents(r, base); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}
