package repo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// branched is a repository with several bookmarks and tags and random changes on each.
func branched(t testing.TB, seed uint64, commits int) *world {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 9))
	ctx := context.Background()
	w := born(t)
	for i := range commits {
		w.with(t, func(r *Repo) error {
			for range 1 + rnd.IntN(2) {
				from := rnd.IntN(20)
				put(t, w.mem, []string{"a", "d/b", "d/bin", "run.sh", "n" + fmt.Sprint(rnd.IntN(6))}[rnd.IntN(5)],
					lines(0, from)+fmt.Sprint("step ", i, "\n")+lines(from+rnd.IntN(3), 24))
			}
			res, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint(i), Time: at(int64(i)), Amend: i > 0 && rnd.IntN(8) == 0})
			check(t, err)
			if rnd.IntN(3) == 0 {
				check(t, r.SetTag(fmt.Sprint("t", i), res.State, false))
			}
			if rnd.IntN(4) == 0 {
				name := fmt.Sprint("b", i)
				s, err := r.ResolveState(fmt.Sprint("@~", rnd.Uint64N(res.State.Len)))
				check(t, err)
				check(t, r.SetBookmark(name, s, false))
				_, err = r.Checkout(ctx, name)
				check(t, err)
			}
			return nil
		})
	}
	return w
}

// changesOf is the set of a state as its log tells it.
func changesOf(t testing.TB, r *Repo, s StateRef) map[uint32]bool {
	t.Helper()
	out := map[uint32]bool{}
	check(t, r.Log(LogOptions{State: &s}, func(c *ChangeInfo) error {
		out[c.Num] = true
		return nil
	}))
	return out
}

// everyNamed gives all bookmarks and tags and the working copy's base.
func everyNamed(t testing.TB, r *Repo) (bookmarks, tags []Named, all []StateRef) {
	t.Helper()
	bookmarks, err := r.Bookmarks()
	check(t, err)
	tags, err = r.Tags()
	check(t, err)
	base, err := r.Base()
	check(t, err)
	all = []StateRef{base, {Num: NoState}}
	for _, n := range slices.Concat(bookmarks, tags) {
		all = append(all, n.State)
	}
	return bookmarks, tags, all
}
