package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

var errCut = errors.New("the power is cut")

// cuts are what may be found after a power cut now.
func cuts(mem *vfs.Mem, seeds int) []*vfs.Mem {
	out := []*vfs.Mem{mem.CrashWorst()}
	for seed := range seeds {
		out = append(out, mem.Crash(rand.New(rand.NewPCG(uint64(seed), 7))))
	}
	return out
}

func crashSeeds() int {
	if *thorough {
		return 6
	}
	return 1
}

// The power is cut at each call of each command, and after the last. What was acknowledged is there, the command's effect
// is there as a whole or not at all, no edit is lost that was on the disk before, and work goes on.
func TestPowerCuts(t *testing.T) {
	for i := range commands {
		c := &commands[i]
		w := c.from(t)
		if c.prepare != nil {
			c.prepare(t, w)
		}
		before := look(t, copyOf(w.mem), w.moments)
		after := copyOf(w.mem)
		check(t, c.attempt(after))
		wanted := look(t, after, w.moments)
		edits := unrecorded(t, copyOf(w.mem))
		t.Run(c.name, func(t *testing.T) {
			for n := 1; ; n++ {
				mem := copyOf(w.mem)
				faulty := vfs.Inject(mem, n, errCut, vfs.FaultStays)
				err := c.attempt(faulty)
				for seed, found := range cuts(mem, crashSeeds()) {
					if !*thorough && (n+seed)%2 == 0 && faulty.Fired() {
						continue
					}
					if !t.Run(fmt.Sprint(n, "/", seed), func(t *testing.T) {
						w.judgeCut(t, found, before, wanted, err)
						checkNothingLost(t, found, edits)
						if *thorough || n%3 == 0 || !faulty.Fired() {
							w.goOn(t, found)
						}
					}) {
						t.Logf("call %d, cut %d: the command said: %v", n, seed, err)
					}
				}
				if !faulty.Fired() {
					break
				}
			}
		})
	}
}

func (w *world) judgeCut(t *testing.T, found *vfs.Mem, before, wanted seen, err error) {
	t.Helper()
	now := look(t, found, w.moments)
	is := func(s seen) bool { return now.View == s.View && now.Ops == s.Ops && now.Config == s.Config }
	if !is(wanted) && (err == nil || !is(before)) {
		t.Fatalf("the command said %v: %d operations, %s, settings %s", err, now.Ops, now.View, now.Config)
	}
	// Where the command writes no working files, all of them were durable.
	if maps.Equal(before.Disk, wanted.Disk) {
		if !maps.Equal(now.Disk, before.Disk) {
			t.Fatalf("other files: %s", cmp.Diff(before.Disk, now.Disk))
		}
		if !(is(wanted) && now.Status == wanted.Status) && (err == nil || !is(before) || now.Status != before.Status) {
			t.Fatalf("the command said %v: status %s", err, now.Status)
		}
	}
}

// goOn works on after a cut: what is on disk is recorded and reads back.
func (w *world) goOn(t *testing.T, found *vfs.Mem) {
	t.Helper()
	put(t, found, "after", "the cut\n")
	r, err := Open(memRoot, memOptions(found))
	check(t, err)
	res, err := r.Commit(context.Background(), CommitOptions{Message: "after", Time: at(3000)})
	check(t, err)
	check(t, r.Close())
	moments := append(w.moments[:len(w.moments):len(w.moments)], moment{res.State, w.recordable(t, found, res.State)})
	now := look(t, found, moments)
	// A subrepo whose pin is not recorded, or not any more, is a repository of its own.
	if want := `untracked [] nested [] special []`; strings.Replace(now.Status, `["sub/"]`, `[]`, 1) != want {
		t.Fatalf("after the commit: %s", now.Status)
	}
	look(t, found.CrashWorst(), moments)
}

// recordable is the disk without what is ignored.
func (w *world) recordable(t *testing.T, mem *vfs.Mem, s StateRef) map[string]string {
	t.Helper()
	now := memDisk(t, mem)
	with(t, mem, func(r *Repo) error { return withOutside(t, r, s, now) })
	if _, ignored := now[".oxyignore"]; ignored {
		r, err := Open(memRoot, memOptions(mem))
		check(t, err)
		if _, tracked := stored(t, r, s)["d/bin"]; !tracked {
			delete(now, "d/bin")
		}
		check(t, r.Close())
	}
	return now
}

// withOutside makes of what is on disk what a record of it holds: where the working copy is sparse, all outside of it is what
// it was before.
func withOutside(t *testing.T, r *Repo, s StateRef, now map[string]string) error {
	t.Helper()
	cone, err := r.workingCone()
	if err != nil || cone == nil {
		return err
	}
	before, err := r.stateBefore(s.Num)
	if err != nil {
		return err
	}
	for path := range now {
		if !cone.Holds(path, worktree.File) {
			delete(now, path)
		}
	}
	if before.Num != NoState {
		for path, content := range stored(t, r, before) {
			if !cone.Holds(path, worktree.File) {
				now[path] = content
			}
		}
	}
	return nil
}

// A script of commands, one after the other, with a cut after each: derived files of several commands are in all stages
// of being written.
func TestPowerCutsInAScript(t *testing.T) {
	seeds := 6
	if *thorough {
		seeds = 100
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { crashScript(t, rand.New(rand.NewPCG(uint64(seed), 3)), 14) })
	}
}

func crashScript(t *testing.T, rng *rand.Rand, steps int) {
	ctx := context.Background()
	w := born(t)
	w.commit(t, "first")
	for step := range steps {
		for range rng.IntN(3) {
			p := []string{"a", "b", "d/b", "d/sub/x", "e/f/g"}[rng.IntN(5)]
			switch rng.IntN(4) {
			case 0:
				put(t, w.mem, p, binary5000[:rng.IntN(5000)])
			default:
				put(t, w.mem, p, lines(rng.IntN(9), 9+rng.IntN(30)))
			}
		}
		r, err := Open(memRoot, memOptions(w.mem))
		check(t, err)
		said := ""
		switch k := rng.IntN(12); {
		case k < 6:
			var res *CommitResult
			res, err = r.Commit(ctx, CommitOptions{Message: fmt.Sprint(step), Time: at(int64(2000 + step)), Amend: k == 5})
			if err == nil {
				w.moments = append(w.moments, moment{res.State, memDisk(t, w.mem)})
			}
		case k < 8:
			m := w.moments[rng.IntN(len(w.moments))]
			_, err = r.Checkout(ctx, fmt.Sprintf("main:%d", m.state.Len))
		case k < 9:
			_, err = r.Checkout(ctx, "main")
		case k < 10:
			_, err = r.Discard(ctx, nil, nil)
		case k < 11:
			_, err = r.Undo(ctx)
		default:
			var s StateRef
			if s, err = r.Base(); err == nil {
				err = r.SetTag(fmt.Sprint("t", step), s, false)
			}
		}
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatalf("step %d: %v", step, err)
		} else if err != nil {
			said = err.Error()
		}
		want := lookAt(t, r, w.moments)
		want.Disk = memDisk(t, w.mem)
		check(t, r.Close())
		if rng.IntN(2) == 0 {
			syncFiles(t, w.mem)
		}
		for cut, found := range cuts(w.mem, crashSeeds()) {
			now := look(t, found, w.moments)
			if now.View != want.View || now.Ops != want.Ops {
				t.Fatalf("step %d (%s), cut %d: %d operations, %s; before it %d, %s", step, said, cut, now.Ops, now.View, want.Ops, want.View)
			}
			if maps.Equal(want.Disk, now.Disk) {
				w.goOn(t, found)
			}
		}
	}
}

// A note for the next record that outlives it, because the power was cut in between, does not speak of a file that
// comes to its path later.
func TestNoteOutlivesItsRecord(t *testing.T) {
	w := settled(t)
	ignoreBin(t, w)
	w.with(t, func(r *Repo) error { return untrackBin(context.Background(), r) })
	note, err := w.mem.ReadFile(memRoot+"/.oxy/wc/pending", maxPending)
	check(t, err)
	w.with(t, func(r *Repo) error { return commitAll(context.Background(), r) })
	put(t, w.mem, ".oxy/wc/pending", string(note))
	drop(t, w.mem, ".oxyignore")
	w.commit(t, "it comes back")
	put(t, w.mem, "a", "edited\n")
	w.commit(t, "another file's edit")
	look(t, w.mem, w.moments)
	if _, there := w.moments[len(w.moments)-1].files["d/bin"]; !there {
		t.Fatal("d/bin is not there")
	}
}

// Trees and weaves of many pages, none of them synced: what a cut leaves of them is torn in the middle.
func TestPowerCutsOfManyPages(t *testing.T) {
	ctx := context.Background()
	w := grown(t)
	w.mem = copyOf(w.mem)
	w.moments = w.moments[len(w.moments)-2:]
	steps := 4
	if *thorough {
		steps = 40
	}
	for step := range steps {
		for i := step; i < 400; i += 7 {
			if dir := i % 20; dir != 5 {
				put(t, w.mem, fmt.Sprintf("dir%d/file%d", dir, i), lines(i, i+3+step))
			}
		}
		put(t, w.mem, "a", lines(step, 30)+"step\n"+lines(31, 60))
		r, err := Open(memRoot, memOptions(w.mem))
		check(t, err)
		res, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint("step ", step), Time: at(int64(7000 + step))})
		check(t, err)
		w.moments = append(w.moments[1:], moment{res.State, memDisk(t, w.mem)})
		if step%2 == 1 {
			_, err = r.Checkout(ctx, "main~1")
			check(t, err)
			_, err = r.Checkout(ctx, "main")
			check(t, err)
		}
		want := lookAt(t, r, w.moments)
		check(t, r.Close())
		syncFiles(t, w.mem)
		for cut, found := range cuts(w.mem, 3*crashSeeds()) {
			now := look(t, found, w.moments)
			if now.View != want.View || now.Ops != want.Ops {
				t.Fatalf("step %d, cut %d: %d operations, %s", step, cut, now.Ops, now.View)
			}
			if cut%4 == 1 {
				w.goOn(t, found)
			}
		}
	}
}
