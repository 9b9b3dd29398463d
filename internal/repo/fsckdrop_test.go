package repo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// frameStart is where a frame of a log lies.
type frameStart struct {
	file string
	off  int64
	kind byte // as docs/spec/store.md numbers them
}

// framesIn lists the frames of a repository's log.
func framesIn(t testing.TB, mem *vfs.Mem) (list []frameStart) {
	t.Helper()
	for name, size := range logFilesOf(t, mem) {
		data, err := mem.ReadFile(name, 1<<30)
		check(t, err)
		for off := int64(0); off+32 <= size; off += 8 {
			if string(data[off+8:off+12]) == "OFRM" {
				list = append(list, frameStart{name, off, data[off+12]})
			}
		}
	}
	slices.SortFunc(list, func(a, b frameStart) int {
		return strings.Compare(fmt.Sprintf("%s %9d", a.file, a.off), fmt.Sprintf("%s %9d", b.file, b.off))
	})
	return list
}

func withAt(t testing.TB, mem vfs.FS, root string, fn func(r *Repo) error) {
	t.Helper()
	r, err := Open(root, memOptions(mem))
	check(t, err)
	check(t, errors.Join(fn(r), r.Close()))
}

// smallStory is a repository with two branches, a merge, changes that came by a pull all at once, one taken back and one that nobody
// else has; and a clone of it that has all but the last.
func smallStory(t testing.TB, packed bool) *world {
	t.Helper()
	w := &world{mem: newMem()}
	check(t, w.mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(w.mem))
	check(t, err)
	check(t, r.Close())
	put(t, w.mem, "a", lines(0, 40))
	put(t, w.mem, "b", lines(1, 40))
	w.commit(t, "first")
	w.with(t, func(r *Repo) error { return r.SetBookmark("side", w.moments[0].state, false) })
	put(t, w.mem, "a", lines(0, 41))
	w.commit(t, "second")
	w.with(t, func(r *Repo) error {
		_, err := r.Checkout(context.Background(), "side")
		return err
	})
	put(t, w.mem, "c", "c\n")
	w.commit(t, "on the side")
	put(t, w.mem, "d", "d\n")
	w.commit(t, "on the side as well")
	w.with(t, func(r *Repo) error {
		_, err := r.Checkout(context.Background(), "main")
		return err
	})
	w.with(t, func(r *Repo) error {
		_, err := r.Merge(context.Background(), "side", MergeOptions{})
		return err
	})
	put(t, w.mem, "bin", binary5000)
	w.commit(t, "binary")
	check(t, w.mem.MkdirAll(copyRoot, 0o777))
	c, _, err := Clone(context.Background(), memRoot, copyRoot, memOptions(w.mem), SyncOptions{Dir: "/"})
	check(t, err)
	check(t, c.Close())
	w.with(t, func(r *Repo) error { return r.AddRemote("copy", copyRoot, "/") })
	for i := range 3 {
		check(t, vfs.WriteFileAtomic(w.mem, copyRoot+"/there", []byte(lines(i, 20+i)), true))
		withAt(t, w.mem, copyRoot, func(r *Repo) error {
			_, err := r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint("there ", i), Time: at(int64(2000 + i))})
			return err
		})
	}
	w.with(t, func(r *Repo) error {
		_, err := r.Pull(context.Background(), SyncOptions{Remote: "copy", Dir: "/"})
		return err
	})
	w.with(t, func(r *Repo) error {
		_, err := r.Unrecord(context.Background(), []string{"main"}, UnrecordOptions{})
		return err
	})
	put(t, w.mem, "b", lines(1, 43))
	put(t, w.mem, "e", lines(5, 4000)) // a content of its own
	w.commit(t, "only here")
	if packed {
		w.with(t, func(r *Repo) error { _, err := r.GC(context.Background(), GCOptions{Anew: true}); return err })
	}
	return w
}

func repairNow(t testing.TB, mem vfs.FS, opt RepairOptions) []Repaired {
	t.Helper()
	r, err := OpenDamaged(memRoot, memOptions(mem))
	check(t, err)
	opt.Dir = "/"
	done, err := r.Repair(context.Background(), opt)
	check(t, err)
	check(t, r.Close())
	return done
}

func damageLeft(t testing.TB, mem vfs.FS) []Problem {
	t.Helper()
	r, err := OpenDamaged(memRoot, memOptions(mem))
	check(t, err)
	return problemsOf(t, r)
}

// Each frame of a small log is damaged in turn, with another copy and without. What the copy has is mended, also where something else is
// lost. Nothing goes before somebody says so; then what is left is a sound repository, which can be worked with, and the
// damaged one is kept.
func TestEveryFrameIsMendedOrGivenUp(t *testing.T) {
	for _, packed := range []bool{false, true} {
		w := smallStory(t, packed)
		want := look(t, copyOf(w.mem), w.moments)
		tally := map[string]int{}
		for _, f := range framesIn(t, w.mem) {
			for _, from := range []string{"copy", "nobody"} {
				t.Run(fmt.Sprintf("packed %v/%s at %d, kind %d/%s", packed, filepath.Base(f.file), f.off, f.kind, from), func(t *testing.T) {
					mem := turned(t, w.mem, f.file, f.off+20, 0x24)
					if from == "nobody" {
						check(t, mem.RemoveAll(copyRoot))
						check(t, mem.RemoveAll(filepath.Join(memRoot, DirName, "trees"))) // states are guessed, and proved by their ids
					}
					if len(damageLeft(t, mem)) == 0 {
						t.Fatal("no damage")
					}
					log := readLog(t, mem)
					done := repairNow(t, mem, RepairOptions{})
					left := damageLeft(t, mem)
					if len(left) == 0 {
						tally["mended/"+from]++
						if diff := cmp.Diff(want, look(t, mem, w.moments)); diff != "" {
							t.Errorf("mended (-before +after)\n%s", diff)
						}
						return
					}
					told := slices.ContainsFunc(done, func(d Repaired) bool { return d.Err != nil && (len(d.Lost) > 0 || strings.Contains(d.What, "content")) })
					if !told {
						t.Errorf("nobody is told what is lost: %+v", done)
					}
					if readLog(t, mem) == log {
						tally["untouched/"+from]++
					} else {
						tally["in part/"+from]++
					}
					if again := repairNow(t, mem, RepairOptions{}); !slices.ContainsFunc(again, func(d Repaired) bool { return d.Err != nil }) {
						t.Errorf("the second time nothing is lost any more: %+v", again)
					}
					before := len(damageLeft(t, mem))
					done = repairNow(t, mem, RepairOptions{DropLost: true})
					after := damageLeft(t, mem)
					for _, p := range after {
						if !strings.Contains(p.Text, "content") || !strings.Contains(p.Text, "missing") && !strings.Contains(p.Text, "no copy had it") {
							t.Errorf("left: %+v (%d before)\n%+v", p, before, done)
						}
					}
					tally["given up/"+from]++
					if len(after) > 0 {
						tally["contents missing/"+from]++
						return
					}
					gone := slices.IndexFunc(done, func(d Repaired) bool { return len(d.Gone) > 0 })
					if gone < 0 || done[gone].Aside == "" {
						t.Fatalf("nobody is told what went: %+v", done)
					}
					r, err := OpenDamaged(filepath.Join(memRoot, done[gone].Aside), memOptions(mem))
					check(t, err)
					if r.store.NumChanges() == 0 {
						t.Error("what is kept has nothing")
					}
					check(t, r.Close())
					// It can be worked with.
					w := &world{mem: mem}
					put(t, mem, "after", "all\n")
					w.commit(t, "after all")
					w.with(t, func(r *Repo) error {
						_, err := r.GC(context.Background(), GCOptions{Prune: true, Anew: true})
						return err
					})
					if left := damageIn(t, mem); len(left) > 0 {
						t.Errorf("worked with: %v", left)
					}
					r, err = Open(memRoot, memOptions(mem))
					check(t, err)
					defer r.Close()
					base, err := r.Base()
					check(t, err)
					got, err := contents(r, base)
					check(t, err)
					if got["after"] == "" || from == "copy" && !strings.Contains(got["bin"], binary5000) {
						t.Errorf("the working copy's files: %.200q", got)
					}
				})
			}
		}
		t.Logf("packed %v: %v", packed, tally)
		if tally["mended/copy"] == 0 || tally["given up/nobody"] == 0 || tally["untouched/nobody"] == 0 || packed && tally["mended/nobody"] < 2 || packed && tally["in part/copy"] == 0 {
			t.Errorf("packed %v: %v", packed, tally)
		}
	}
}

// While what is lost is dropped the disk fails at each call, or the power does: the repository is as damaged as before or sound, and saying
// so once more makes it sound.
func TestGivingUpFails(t *testing.T) {
	w := smallStory(t, false)
	var damaged *vfs.Mem
	for _, f := range framesIn(t, w.mem) {
		if f.kind == 4 { // the last change, and with the copy gone nobody has it
			damaged = turned(t, w.mem, f.file, f.off+20, 0x24)
		}
	}
	check(t, damaged.RemoveAll(copyRoot))
	damaged = copyOf(damaged)
	giveUp := func(fsys vfs.FS) error {
		r, err := OpenDamaged(memRoot, memOptions(fsys))
		if err != nil {
			return err
		}
		_, err = r.Repair(context.Background(), RepairOptions{Dir: "/", DropLost: true})
		return errors.Join(err, r.Close())
	}
	sound := func(mem *vfs.Mem, what string, args ...any) {
		t.Helper()
		if err := giveUp(mem); err != nil {
			t.Fatalf(what+": %v", append(args, err)...)
		}
		if left := damageIn(t, mem); len(left) > 0 {
			t.Fatalf(what+": %v", append(args, left)...)
		}
		withAt(t, mem, memRoot, func(r *Repo) error {
			base, err := r.Base()
			if err != nil || base.Len != w.moments[len(w.moments)-1].state.Len-1 {
				t.Fatalf(what+": %d changes, %v", append(args, base.Len, err)...)
			}
			return nil
		})
	}
	sound(copyOf(damaged), "without a fault")
	points, cuts := 0, 0
	for _, mode := range []vfs.FaultMode{0, vfs.FaultStays, vfs.FaultShort | vfs.FaultStays} {
		for n := 1; ; n++ {
			mem := copyOf(damaged)
			faulty := vfs.Inject(mem, n, syscall.ENOSPC, mode)
			_ = giveUp(faulty)
			if !faulty.Fired() {
				break
			}
			points++
			if n%3 == 0 || *thorough {
				cuts += 2
				sound(mem.Crash(rand.New(rand.NewPCG(uint64(n), 1))), "mode %d, call %d, cut", mode, n)
				sound(mem.CrashWorst(), "mode %d, call %d, worst cut", mode, n)
			}
			sound(mem, "mode %d, call %d", mode, n)
		}
	}
	t.Logf("%d error points, %d power cuts", points, cuts)
}
