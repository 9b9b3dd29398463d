package repo

import (
	"context"
	"fmt"
	"testing"
)

// Whatever state is asked for, no more than checkpointMin changes, or a quarter as many as there are files, lie between it and a
// tree that is kept: also once the trees were written anew, and whatever checkpoints were dropped.
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
}
