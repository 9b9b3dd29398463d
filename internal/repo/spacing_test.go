package repo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Whatever branches there are, and however often trees were written anew: twice the interval lies at most between a state and a tree of its
// own log, and short branches keep none.
func TestTreesOfBranchesAreSpaced(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	w := born(t)
	w.commit(t, "first")
	ctx := context.Background()
	w.with(t, func(r *Repo) error {
		at0, err := r.Base()
		check(t, err)
		states := []StateRef{at0}
		im, err := r.NewImporter(ctx)
		check(t, err)
		put := func(on StateRef, n int) StateRef {
			s, err := im.Put(&Imported{Parents: []uint32{on.Num}, Message: fmt.Sprint(n), Time: *at(int64(n)),
				Files: []ImportedFile{{Path: fmt.Sprint("f", rnd.IntN(4)), Data: []byte(fmt.Sprint(n, "\n"))}}})
			check(t, err)
			ref, err := r.stateRef(s)
			if err != nil { // of the transaction under way
				ref = StateRef{Num: s, Len: on.Len + 1}
			}
			ref.Len = on.Len + 1
			return ref
		}
		tip := at0
		for i := range 4 * checkpointMin {
			tip = put(tip, i)
			states = append(states, tip)
			if i%40 == 7 { // a short branch
				s := states[max(0, len(states)-30)]
				for k := range 3 {
					s = put(s, 10_000+10*i+k)
				}
			}
			if im.Full() || i%300 == 299 {
				check(t, im.Commit("import"))
			}
		}
		long := states[checkpointMin/2]
		for i := range 2 * checkpointMin {
			long = put(long, 100_000+i)
		}
		im.View().Bookmarks["main"] = tip.Num
		im.View().Bookmarks["long"] = long.Num
		check(t, im.Commit("import"))
		return im.Close()
	})
	for range 3 {
		w.with(t, func(r *Repo) error {
			tx, err := r.begin()
			check(t, err)
			_, err = r.openBlocks()
			check(t, err)
			next, err := r.compact(nil, tx.view)
			check(t, err)
			r.blocks = next
			check(t, tx.commit("test"))
			return tx.Abort()
		})
	}
	w.with(t, func(r *Repo) error {
		b, err := r.openBlocks()
		check(t, err)
		roots, err := b.Roots()
		check(t, err)
		if n := len(roots); n > recentTrees+4+2+2+3 {
			t.Errorf("%d trees are kept", n)
		}
		for s := range r.store.NumStates() {
			steps := 0
			for at := s; at != NoState; steps++ {
				if r.hasTree(at) {
					break
				}
				_, at, err = r.step(at)
				check(t, err)
			}
			if steps > 2*checkpointMin {
				t.Fatalf("%d changes lie between state %d and a tree", steps, s)
			}
		}
		return nil
	})
}
