package repo

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// Whatever state is asked for, no more than checkpointMin changes, or a quarter as many as there are files, lie between it and a
// tree that is kept: also once the trees were written anew or lost, and whatever checkpoints were dropped.
func TestReadingIsBounded(t *testing.T) {
	w := born(t)
	w.commit(t, "first")
	for i := range 3*checkpointMin - 50 {
		put(t, w.mem, "a", fmt.Sprint(i, "\n"))
		w.with(t, func(r *Repo) error {
			_, err := r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint(i), Time: at(int64(i))})
			check(t, err)
			if i%200 == 77 {
				_, err = r.Checkpoint()
			}
			return err
		})
	}
	bounded := func(r *Repo) int {
		b, err := r.openBlocks()
		check(t, err)
		longest := 0
		for s := range r.store.NumStates() {
			steps := 0
			for at := s; at != NoState; steps++ {
				_, ok, err := b.Root(at)
				check(t, err)
				if ok {
					break
				}
				_, at, err = r.step(at)
				check(t, err)
			}
			longest = max(longest, steps)
		}
		if longest > checkpointMin {
			t.Errorf("%d changes lie between a state and a tree", longest)
		}
		return longest
	}
	w.with(t, func(r *Repo) error { bounded(r); return nil })
	pack(t, w)
	w.with(t, func(r *Repo) error {
		if longest := bounded(r); longest < 50 {
			t.Errorf("packing keeps too many trees: the longest way is %d", longest)
		}
		list, err := r.Checkpoints()
		check(t, err)
		for _, s := range list {
			if _, err := r.DropCheckpoint(fmt.Sprintf("%x", s.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	pack(t, w)
	w.with(t, func(r *Repo) error { bounded(r); return nil })
	check(t, w.mem.RemoveAll(filepath.Join(memRoot, DirName, "trees")))
	w.with(t, func(r *Repo) error {
		put(t, w.mem, "a", "after the loss\n")
		_, err := r.Commit(context.Background(), CommitOptions{Message: "after the loss", Time: at(5000)})
		check(t, err)
		bounded(r)
		return nil
	})
}

// Undoing goes to the tree of before, though the trees were written anew meanwhile and that tree was an old one.
func TestTreesWrittenAnewKeepTheStateBefore(t *testing.T) {
	w := born(t)
	w.commit(t, "first")
	ctx := context.Background()
	w.with(t, func(r *Repo) error {
		v, err := r.view()
		check(t, err)
		before := baseOf(v)
		for i := range 2 * recentTrees { // none of these trees is the one before
			put(t, w.mem, "a", fmt.Sprint(i, "\n"))
			if _, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint(i), Time: at(int64(100 + i))}); err != nil {
				return err
			}
			if _, err := r.Undo(ctx); err != nil {
				return err
			}
		}
		tx, err := r.begin()
		check(t, err)
		tx.view.Bookmarks = nil
		tx.view.Base = -1
		next, err := r.compact(nil, tx.view, tx.old)
		check(t, err)
		r.blocks = next
		if _, ok, err := next.Root(before); err != nil || !ok {
			t.Errorf("the tree of the state before is gone: %v", err)
		}
		r.dropUnacknowledged()
		return tx.Abort()
	})
}
