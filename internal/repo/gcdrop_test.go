package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// named is what a person sees under each name.
func named(t testing.TB, mem *vfs.Mem) map[string]picture {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	check(t, err)
	defer r.Close()
	out := map[string]picture{}
	// As pictureOf, with changes named by their ids: numbers change.
	pictureOf := func(t testing.TB, r *Repo, s StateRef) picture {
		p := picture{Files: stored(t, r, s)}
		cs, err := r.Conflicts(s)
		check(t, err)
		for _, c := range cs {
			text := fmt.Sprint(c.Kind, " ", c.Path, " ", c.Place, " ", c.ID, " ", c.Line)
			for _, side := range c.Sides {
				for _, n := range side.Changes {
					text += fmt.Sprint(" ", r.store.ChangeID(n))
				}
				text += fmt.Sprint(" | ", side.What, side.Path, string(side.Text))
			}
			p.Conflicts = append(p.Conflicts, text)
		}
		return p
	}
	bookmarks, tags, _ := everyNamed(t, r)
	for _, n := range append(bookmarks, tags...) {
		p := pictureOf(t, r, n.State)
		check(t, r.Log(LogOptions{State: &n.State}, func(c *ChangeInfo) error {
			p.Conflicts = append(p.Conflicts, fmt.Sprint(c.ID, c.Position, c.Deps))
			return nil
		}))
		out[n.Name] = p
	}
	base, err := r.Base()
	check(t, err)
	out["@"] = pictureOf(t, r, base)
	st, err := r.Status(context.Background(), StatusOptions{})
	check(t, err)
	out["status"] = picture{Conflicts: []string{statusText(st)}}
	return out
}

func samePictures(t testing.TB, got, want map[string]picture) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d names, not %d", len(got), len(want))
	}
	for name := range want {
		if !got[name].equal(want[name]) {
			t.Fatalf("%s is another one:\n%+v\nnot\n%+v", name, got[name], want[name])
		}
	}
}

func gcWith(t testing.TB, fsys vfs.FS, o GCOptions) (*GCResult, error) {
	t.Helper()
	r, err := Open(memRoot, Options{FS: fsys, Env: person})
	if err != nil {
		return nil, err
	}
	res, err := r.GC(context.Background(), o)
	return res, errors.Join(err, r.Close())
}

// strayed is a repository of which much is in no state any more: unrecorded, replaced, on bookmarks that are gone; with a
// merge, conflicts, something discarded and late signatures.
func strayed(t testing.TB, seed uint64) *world {
	t.Helper()
	ctx := context.Background()
	w := branched(t, seed, 14)
	putKey(t, w.mem, testKey, 1)
	rnd := rand.New(rand.NewPCG(seed, 5))
	w.with(t, func(r *Repo) error {
		all, _, _ := everyNamed(t, r)
		for _, b := range all {
			switch {
			case b.Current:
			case rnd.IntN(3) == 0:
				check(t, r.DeleteBookmark(b.Name))
			case rnd.IntN(2) == 0:
				_, err := r.Merge(ctx, b.Name, MergeOptions{})
				if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
					return err
				}
			}
		}
		base, err := r.Base()
		check(t, err)
		var nums []uint32
		check(t, r.Log(LogOptions{State: &base}, func(c *ChangeInfo) error { nums = append(nums, c.Num); return nil }))
		_, err = r.Sign(nums[:2], testKey)
		check(t, err)
		_, err = r.Unrecord(ctx, []string{r.store.ChangeID(nums[0]).String()}, UnrecordOptions{WithDependents: true})
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			return err
		}
		return nil
	})
	put(t, w.mem, "large", binary5000)
	put(t, w.mem, "a", "thrown away\n")
	w.with(t, func(r *Repo) error { return discardAll(ctx, r) })
	return w
}

// Whatever is dropped, each name shows what it showed, nothing else is left, and all goes on: undoing as far as operations
// were kept, recording, merging.
func TestDropping(t *testing.T) {
	dropped := 0
	for seed := range uint64(12) {
		for _, keep := range []int{0, 1, 3, 8} {
			t.Run(fmt.Sprint(seed, " keeps ", keep), func(t *testing.T) {
				ctx := context.Background()
				w := strayed(t, seed)
				want := named(t, w.mem)
				o := GCOptions{KeepOps: keep, Prune: keep == 0, DryRun: true}
				would, err := gcWith(t, w.mem, o)
				check(t, err)
				o.DryRun = false
				did, err := gcWith(t, w.mem, o)
				check(t, err)
				if would.Dropped != did.Dropped {
					t.Errorf("would drop %+v, dropped %+v", would.Dropped, did.Dropped)
				}
				if did.Dropped.Any() {
					dropped++
				}
				samePictures(t, named(t, w.mem), want)
				res := fine(t, w.mem)
				if did.Dropped.Any() && res.Ops != uint64(max(keep, 1)) {
					t.Errorf("%d operations are left", res.Ops)
				}
				again, err := gcWith(t, w.mem, o)
				check(t, err)
				if again.Dropped.Any() {
					t.Errorf("again: %+v", again.Dropped)
				}
				for _, gone := range []string{"head", "index", "trees"} {
					check(t, w.mem.RemoveAll(filepath.Join(memRoot, DirName, gone)))
				}
				samePictures(t, named(t, w.mem), want)
				for i := range keep {
					w.with(t, func(r *Repo) error {
						_, err := r.Undo(ctx)
						if e := (*Error)(nil); errors.As(err, &e) {
							return nil
						}
						if err != nil {
							return fmt.Errorf("undo %d: %w", i, err)
						}
						return nil
					})
				}
				put(t, w.mem, "more", "more\n")
				w.with(t, func(r *Repo) error {
					_, err := r.Commit(ctx, CommitOptions{Message: "more", Time: at(9000)})
					return err
				})
				if _, err := gcWith(t, w.mem, GCOptions{Prune: true}); err != nil {
					t.Error(err)
				}
				fine(t, w.mem)
			})
		}
	}
	if dropped < 30 {
		t.Errorf("something was dropped %d times", dropped)
	}
}

// Operations go by their age.
func TestOldOperationsGo(t *testing.T) {
	w := strayed(t, 1)
	for _, days := range []int{0, 89, 91} {
		res, err := gcWith(t, w.mem, GCOptions{DryRun: true, Now: time.Now().AddDate(0, 0, days)})
		check(t, err)
		if res.Dropped.Any() != (days > 90) {
			t.Errorf("after %d days %+v", days, res.Dropped)
		}
	}
}

// An error, and a power cut, at each call while history is dropped: all is as before or as after, never in between, and what has
// a name is never touched.
func TestDroppingFails(t *testing.T) {
	w := strayed(t, 3)
	want := named(t, w.mem)
	edits := unrecorded(t, copyOf(w.mem))
	points := 0
	for _, power := range []bool{false, true} {
		for n := 1; ; n++ {
			mem := copyOf(w.mem)
			what := vfs.FaultStays
			if !power {
				what = 0
			}
			faulty := vfs.Inject(mem, n, errCut, what)
			_, err := gcWith(t, faulty, GCOptions{Prune: true})
			if !faulty.Fired() {
				check(t, err)
				break
			}
			found := []*vfs.Mem{mem}
			if power {
				found = cuts(mem, crashSeeds())
			}
			for _, mem := range found {
				points++
				samePictures(t, named(t, mem), want)
				if points%4 == 0 || *thorough {
					res, err := fsck(t, mem, false)
					check(t, err)
					for _, p := range res.Problems { // head and indexes may be those of the log before
						if !p.Derived {
							t.Errorf("%+v", p)
						}
					}
				}
				checkNothingLost(t, mem, edits)
			}
		}
	}
	t.Log(points, "points")
}

// Who opened the repository before reads on as if nothing were gone, and is told to begin again once it would write.
func TestDroppingBesideOthers(t *testing.T) {
	ctx := context.Background()
	w := strayed(t, 5)
	want := named(t, w.mem)
	other, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	base, err := other.Base()
	check(t, err)
	files := stored(t, other, base)
	if res, err := gcWith(t, w.mem, GCOptions{Prune: true}); err != nil || !res.Dropped.Any() {
		t.Fatal(res, err)
	}
	if got := stored(t, other, base); !maps.Equal(got, files) {
		t.Errorf("%v, not %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(files)))
	}
	put(t, w.mem, "late", "late\n")
	if _, err := other.Commit(ctx, CommitOptions{Message: "late", Time: at(1)}); !errors.Is(err, store.ErrRenumbered) {
		t.Errorf("%v", err)
	}
	if _, err := other.Fsck(ctx, FsckOptions{}); err != nil && !errors.Is(err, store.ErrRenumbered) {
		t.Errorf("%v", err)
	}
	check(t, other.Close())
	drop(t, w.mem, "late")
	samePictures(t, named(t, w.mem), want)
	fine(t, w.mem)
}
