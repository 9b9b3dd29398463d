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
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

const (
	copyRoot   = "/copy"
	backupRoot = "/backup"
)

// withCopy is a repository with contents of all kinds, and a clone of it at copyRoot on the same disk. The repository's log is
// packed, or not.
func withCopy(t testing.TB, packed bool) *world {
	t.Helper()
	w := grown(t)
	put(t, w.mem, "large", strings.Repeat("a line of what is cut into chunks\n", 40_000)+lines(0, 900))
	put(t, w.mem, "long", lines(0, 4000))
	w.commit(t, "large")
	check(t, w.mem.MkdirAll(copyRoot, 0o777))
	c, _, err := Clone(context.Background(), memRoot, copyRoot, memOptions(w.mem), SyncOptions{Dir: "/"})
	check(t, err)
	check(t, c.Close())
	w.with(t, func(r *Repo) error { return r.AddRemote("copy", copyRoot, "/") })
	if packed {
		pack(t, w)
		put(t, w.mem, "after", lines(3, 30))
		w.commit(t, "after packing")
		w.with(t, func(r *Repo) error {
			_, err := r.Push(context.Background(), SyncOptions{Remote: "copy", Dir: "/"})
			return err
		})
	}
	return w
}

// logBytes is the log of the repository by its files.
func logFilesOf(t testing.TB, mem *vfs.Mem) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	filesIn(t, mem, filepath.Join(memRoot, DirName, "log"), files)
	return files
}

func mendNow(mem vfs.FS, from string) ([]Repaired, error) {
	r, err := Open(memRoot, memOptions(mem))
	if err != nil {
		return nil, err
	}
	done, err := r.Repair(context.Background(), RepairOptions{From: from, Dir: "/"})
	return done, errors.Join(err, r.Close())
}

func damageIn(t testing.TB, mem vfs.FS) []Problem {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	check(t, err)
	return problemsOf(t, r)
}

// problemsOf looks for damage in a repository, and closes it.
func problemsOf(t testing.TB, r *Repo) []Problem {
	t.Helper()
	defer r.Close()
	res, err := r.Fsck(context.Background(), FsckOptions{})
	check(t, err)
	return res.Problems
}

// Wherever the log is damaged, in changes or in contents, what the copy has comes from there, and all is as it was; where an
// operation or a state of several changes is damaged, which the copy has not, nothing of the log is altered, and it is said.
func TestMendFromACopy(t *testing.T) {
	for _, isPacked := range []bool{false, true} {
		t.Run(fmt.Sprint("packed ", isPacked), func(t *testing.T) {
			w := withCopy(t, isPacked)
			want := look(t, copyOf(w.mem), w.moments)
			mended, left := 0, 0
			for name, size := range logFilesOf(t, w.mem) {
				steps := int64(40)
				if *thorough {
					steps = 600
				}
				for i := range steps {
					off := 200 + (size-300)*i/steps
					mem := turned(t, w.mem, name, off, 0x24)
					before := damageIn(t, mem)
					if len(before) == 0 {
						continue // padding, or what was told to be nothing
					}
					log := readLog(t, mem)
					done, err := mendNow(mem, "")
					check(t, err)
					if n := mem.Handles(); n != 0 {
						t.Fatalf("%d files stay open", n)
					}
					var st vfs.Stat
					if mem.Lstat(filepath.Join(memRoot, DirName, mendingDir), &st) == nil {
						t.Error("what was gathered is still there")
					}
					if after := damageIn(t, mem); len(after) == 0 {
						mended++
						if diff := cmp.Diff(want, look(t, mem, w.moments)); diff != "" {
							t.Errorf("byte %d of %s, mended (-before +after)\n%s", off, name, diff)
						}
						continue
					}
					left++
					if readLog(t, mem) != log {
						t.Errorf("byte %d of %s: %v: what could not be mended was altered", off, name, done)
					}
					if !slices.ContainsFunc(done, func(d Repaired) bool { return errors.Is(d.Err, store.ErrNotReplaced) }) {
						t.Errorf("byte %d of %s: it is not said why it was not mended: %v", off, name, done)
					}
				}
			}
			t.Logf("%d mended, %d not", mended, left)
			if mended < 20 || mended < 3*left {
				t.Errorf("%d were mended, %d not", mended, left)
			}
		})
	}
}

// readLog is all of the log in one string.
func readLog(t testing.TB, mem *vfs.Mem) string {
	t.Helper()
	var b strings.Builder
	files := logFilesOf(t, mem)
	for name := range files {
		data, err := mem.ReadFile(name, 1<<30)
		check(t, err)
		fmt.Fprintf(&b, "%s %d %x\n", name, len(data), hashOf(data))
	}
	all := strings.Split(b.String(), "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// smallWithCopy is a repository of a few changes, packed in part, whose log is damaged in a change, in contents that are packed, and
// in one that is not; and a clone of it as it was.
func smallWithCopy(t testing.TB) (damaged *vfs.Mem, w *world, want seen) {
	t.Helper()
	w = &world{mem: newMem()}
	check(t, w.mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(w.mem))
	check(t, err)
	check(t, r.Close())
	for i := range 5 {
		put(t, w.mem, fmt.Sprint("file", i), lines(i, 400+i))
	}
	w.commit(t, "first")
	pack(t, w)
	put(t, w.mem, "file1", lines(0, 50))
	w.commit(t, "second")
	put(t, w.mem, "bin", binary5000)
	w.commit(t, "third")
	c, _, err := Clone(context.Background(), memRoot, copyRoot, memOptions(w.mem), SyncOptions{Dir: "/"})
	check(t, err)
	check(t, c.Close())
	w.with(t, func(r *Repo) error { return r.AddRemote("copy", copyRoot, "/") })
	want = look(t, copyOf(w.mem), w.moments)
	damaged = copyOf(w.mem)
	for name, size := range logFilesOf(t, w.mem) {
		data, err := w.mem.ReadFile(name, 1<<30)
		check(t, err)
		if strings.HasSuffix(name, ".base") {
			damaged = turned(t, damaged, name, 200, 0x24)
		}
		// The frames of the second change and of the binary's content.
		for off := int64(0); off+32 <= size; off += 8 {
			if string(data[off+8:off+12]) == "OFRM" && (data[off+12] == 4 || data[off+12] == 2) && off > 400 {
				damaged = turned(t, damaged, name, off+40, 0x24)
			}
		}
	}
	return copyOf(damaged), w, want
}

// While the log is mended the disk fails at each call, or the power does: nothing that could be read is lost, and mending again mends
// all.
func TestMendingFails(t *testing.T) {
	damaged, w, want := smallWithCopy(t)
	if n := len(damageIn(t, damaged)); n < 3 {
		t.Fatalf("%d problems", n)
	}
	whole := func(mem *vfs.Mem, what string, args ...any) {
		t.Helper()
		done, err := mendNow(mem, "copy")
		if err != nil {
			t.Fatalf(what+": %v", append(args, err)...)
		}
		if left := damageIn(t, mem); len(left) > 0 {
			t.Fatalf(what+": %v is left: %v", append(args, left, done)...)
		}
		got := look(t, mem, w.moments)
		got.Ops = want.Ops // it may have been noted first that nobody answered
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf(what+" (-before +after)\n%s", append(args, diff)...)
		}
	}
	whole(copyOf(damaged), "without a fault")
	points, cuts := 0, 0
	for _, mode := range []vfs.FaultMode{0, vfs.FaultStays, vfs.FaultShort | vfs.FaultStays} {
		for n := 1; ; n++ {
			mem := copyOf(damaged)
			faulty := vfs.Inject(mem, n, syscall.EIO, mode)
			_, _ = mendNow(faulty, "copy")
			if !faulty.Fired() {
				break
			}
			points++
			if n%2 == 0 || *thorough {
				cuts += 2
				whole(mem.Crash(rand.New(rand.NewPCG(uint64(n), 1))), "mode %d, call %d, cut", mode, n)
				whole(mem.CrashWorst(), "mode %d, call %d, worst cut", mode, n)
			}
			whole(mem, "mode %d, call %d", mode, n)
		}
	}
	t.Logf("%d error points, %d power cuts", points, cuts)
}

// The only copy has not all: what it has comes, what was readable stays so, and the rest is named. Without any copy nothing is altered.
func TestMendInPart(t *testing.T) {
	w := withCopy(t, true)
	r, err := Open(copyRoot, memOptions(w.mem))
	check(t, err)
	put(t, w.mem, "dir10/only here", lines(5, 700))
	check(t, r.Close())
	w.commit(t, "after the last push")
	pack2 := func() {
		w.with(t, func(r *Repo) error { _, err := r.GC(context.Background(), GCOptions{Anew: true}); return err })
	}
	pack2()
	for name := range logFilesOf(t, w.mem) { // the first frame has contents of all files
		if !strings.HasSuffix(name, ".base") {
			continue
		}
		mem := turned(t, w.mem, name, 5000, 0x24)
		if len(damageIn(t, mem)) == 0 {
			t.Fatal("no damage")
		}
		log := readLog(t, mem)
		check(t, mem.RemoveAll(copyRoot+"/"+DirName+"/format"))
		done, err := mendNow(mem, "")
		check(t, err)
		if readLog(t, mem) != log || done[0].Err == nil || !strings.Contains(done[0].Err.Error(), "nothing was altered") {
			t.Errorf("without a copy: %v", done)
		}
		mem = turned(t, w.mem, name, 5000, 0x24)
		done, err = mendNow(mem, copyRoot)
		check(t, err)
		if len(done) < 2 || !strings.Contains(done[0].What, "as "+copyRoot+" has them") || done[1].Err == nil || !strings.Contains(done[1].What, "missing now") {
			t.Errorf("%v", done)
		}
		left := damageIn(t, mem)
		named := false
		for _, p := range left {
			named = named || slices.Contains(p.Paths, "dir10/only here")
			if p.File != "" && !p.Derived {
				t.Errorf("the log is damaged yet: %v", p)
			}
			for _, path := range p.Paths {
				if path != "dir10/only here" {
					t.Errorf("%s is said to be lost", path)
				}
			}
		}
		if !named {
			t.Errorf("what is lost is not named: %v", left)
		}
	}
}

// A copy that lies is not believed: what it says is refused by its hashes, and nothing is altered.
func TestMendFromALiar(t *testing.T) {
	damaged, _, _ := smallWithCopy(t)
	liars := 0
	for name, size := range func() map[string]int64 {
		files := map[string]int64{}
		filesIn(t, damaged, copyRoot+"/"+DirName+"/log", files)
		return files
	}() {
		for i := range int64(30) {
			mem := turned(t, damaged, name, size*i/30, 0x24)
			before := len(damageIn(t, mem))
			_, err := mendNow(mem, "")
			if err != nil {
				continue // the copy's own store cannot be read at all
			}
			left := damageIn(t, mem)
			for _, p := range left {
				if strings.Contains(p.Text, "another hash") {
					t.Errorf("byte %d: %v", size*i/30, p)
				}
			}
			if len(left) > before {
				t.Errorf("byte %d: %d problems, %d before", size*i/30, len(left), before)
			}
			if len(left) > 0 {
				liars++
			}
		}
	}
	if liars == 0 {
		t.Error("no damage of the copy was of any matter")
	}
}

// A content that no change names, as what an import keeps, is damaged with others, and no copy has it: the others are mended, and fsck
// goes on to tell of it, also once something was undone.
func TestMendTellsOfWhatNoChangeNames(t *testing.T) {
	w := withCopy(t, false)
	kept := []byte(lines(7, 3000))
	h := hashOf(kept)
	w.with(t, func(r *Repo) error {
		_, err := transact(r, func(t *tx) (struct{}, error) {
			if _, _, err := t.PutStream(strings.NewReader(string(kept))); err != nil {
				return struct{}{}, err
			}
			t.view.Kept[keptGitRefs] = h[:]
			return struct{}{}, errors.Join(t.passedOver(), t.commit("git import"))
		})
		return err
	})
	put(t, w.mem, "a", "more\n")
	w.commit(t, "more")
	w.with(t, func(r *Repo) error {
		_, err := r.Push(context.Background(), SyncOptions{Remote: "copy", Dir: "/"})
		return err
	})
	files := map[string]int64{}
	filesIn(t, w.mem, filepath.Join(memRoot, DirName), files)
	for name := range files { // a backup of all of it
		data, err := w.mem.ReadFile(name, 1<<30)
		check(t, err)
		to := backupRoot + strings.TrimPrefix(name, memRoot)
		check(t, w.mem.MkdirAll(filepath.Dir(to), 0o777))
		check(t, vfs.WriteFileAtomic(w.mem, to, data, true))
	}
	mem := copyOf(w.mem)
	damagedFrames := 0
	for name, size := range logFilesOf(t, mem) {
		data, err := mem.ReadFile(name, 1<<30)
		check(t, err)
		for off := int64(0); off+32 <= size; off += 8 {
			if string(data[off+8:off+12]) == "OFRM" && data[off+12] == 2 && (off < 1000 || strings.Contains(string(data[off:off+64]), string(h[:8]))) {
				mem = turned(t, mem, name, off+70, 0x24)
				damagedFrames++
			}
		}
	}
	if damagedFrames < 2 {
		t.Fatalf("%d frames are damaged", damagedFrames)
	}
	whole := copyOf(mem)
	_, err := mendNow(whole, backupRoot)
	check(t, err)
	if left := damageIn(t, whole); len(left) > 0 {
		t.Errorf("mended from a backup, which has all: %v", left)
	}
	done, err := mendNow(mem, "copy")
	check(t, err)
	if !strings.Contains(done[0].What, "has them") || !strings.Contains(done[1].What, "1 content, missing now") {
		t.Errorf("%v", done)
	}
	told := func(what string) {
		t.Helper()
		left := damageIn(t, mem)
		if len(left) != 1 || !strings.Contains(left[0].Text, h.String()) || !strings.Contains(left[0].Text, "no copy had it") {
			t.Errorf("%s: %v", what, left)
		}
	}
	told("mended")
	w.mem = mem
	w.with(t, func(r *Repo) error { _, err := r.Undo(context.Background()); return err })
	told("undone")
	done, err = mendNow(mem, backupRoot)
	check(t, err)
	if left := damageIn(t, mem); len(left) > 0 || !strings.Contains(done[0].What, "1 content that had been missing") {
		t.Errorf("brought back: %v, %v", done, left)
	}
}
