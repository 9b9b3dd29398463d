package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// repackRun commits, repacks, and commits again until something fails, like run.
func repackRun(fsys vfs.FS, base *model, seed uint64, segment uint32) (acked, next *model) {
	acked, next = base, base
	s, err := Open(fsys, testDir)
	if err != nil {
		return acked, next
	}
	defer s.Close()
	s.segmentMax = segment
	if err := repackAll(s); err != nil {
		// Whichever log counts now, it holds all.
		if s.Refresh() != nil || acked.check(s) != nil {
			return acked, nil
		}
	}
	tx, err := s.Begin(nil)
	if err != nil {
		return acked, next
	}
	m, op, err := acked.put(tx, testRand(seed+5000), small)
	if err != nil {
		_ = tx.Abort()
		return acked, next
	}
	next = m
	if _, err := tx.Commit(op, nil); err != nil {
		return acked, next
	}
	return m, m
}

// Each call of a repack that changes the disk fails in turn, or the power does after it: the old log counts or the new
// one does, with all that was acknowledged, and the next writer clears up.
func TestRepackEveryFault(t *testing.T) {
	for _, mode := range []vfs.FaultMode{0, vfs.FaultStays, vfs.FaultShort | vfs.FaultStays} {
		for _, segment := range []uint32{700, segmentSize} {
			for n := 1; ; n++ {
				mem, m := smallStore(t, uint64(n), 4, segment)
				if n%2 == 0 { // of a log that was packed before
					s := open(t, mem)
					var err error
					if err = repackAll(s); err == nil {
						m, err = m.commit(s, testRand(uint64(n)+1000), small)
					}
					if err = errors.Join(err, s.Close()); err != nil {
						t.Fatal(err)
					}
				}
				faulty := vfs.Inject(mem, n, errDisk, mode)
				acked, next := repackRun(faulty, m, uint64(n), segment)
				if next == nil {
					t.Fatalf("mode %d, call %d: the process itself lost something", mode, n)
				}
				for seed := range uint64(3) {
					verifyRepacked(t, mem.Crash(testRand(seed)), acked, next, "mode %d, call %d, cut %d", mode, n, seed)
				}
				verifyRepacked(t, mem.CrashWorst(), acked, next, "mode %d, call %d, worst cut", mode, n)
				verifyRepacked(t, mem, acked, next, "mode %d, call %d", mode, n)
				if !faulty.Fired() {
					break
				}
			}
		}
	}
}

// verifyRepacked is verify, and checks that the writer cleared up.
func verifyRepacked(t *testing.T, fsys *vfs.Mem, acked, next *model, what string, args ...any) {
	t.Helper()
	verify(t, fsys, acked, next, what, args...)
	ls, err := listLog(fsys, testDir)
	if err != nil {
		t.Fatal(err)
	}
	first, base := ls.first()
	if len(ls.bases) > 1 || len(ls.unfinished) > 0 || len(ls.segments) > 0 && (ls.segments[0] < first || base && ls.segments[0] == first) {
		t.Fatalf(what+": %v left", append(args, ls)...)
	}
	s := open(t, fsys)
	defer s.Close()
	if last := s.now.Load().end.segment(); len(ls.segments) > 0 && ls.segments[len(ls.segments)-1] > last {
		t.Fatalf(what+": %v left behind %d", append(args, ls, last)...)
	}
}

// A read that fails while the log is packed is an error, and leaves what there was.
func TestRepackEveryReadFault(t *testing.T) {
	for n := 1; ; n++ {
		mem, m := smallStore(t, 3, 4, 700)
		faulty := vfs.Inject(mem, n, errDisk, vfs.FaultReads)
		s, err := Open(faulty, testDir)
		if err == nil {
			_ = repackAll(s)
			_ = s.Close()
		}
		verifyRepacked(t, mem, m, m, "read %d", n)
		if !faulty.Fired() {
			return
		}
	}
}

// What could not be removed, or came back after a power cut, is not read any more, and the next writer removes it.
func TestOldSegmentsBesideBase(t *testing.T) {
	mem, m := smallStore(t, 8, 5, 700)
	old := files(t, mem)
	s := open(t, mem)
	if err := errors.Join(repackAll(s), s.Close()); err != nil {
		t.Fatal(err)
	}
	bring := func() {
		for name, b := range old {
			if filepath.Dir(name) == "log" {
				write(t, mem, name, b)
			}
		}
	}
	bring()
	write(t, mem, "head", old["head"])
	write(t, mem, filepath.Join("index", "changes"), old[filepath.Join("index", "changes")])
	verifyRepacked(t, mem, m, m, "beside old segments")
	// A base that is damaged is not passed over for what was before it.
	bring()
	ls, err := listLog(mem, testDir)
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join("log", filepath.Base(logName(testDir, ls.bases[0], baseSuffix)))
	bad := files(t, mem)[base]
	bad[40] ^= 1
	write(t, mem, base, bad)
	if _, err := Open(mem, testDir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(base)) {
		t.Error(err)
	}
}

// What a repack or a writer that was killed left is removed, a segment behind a gap too: the names of files become durable in
// any order.
func TestSweep(t *testing.T) {
	mem, m := smallStore(t, 9, 3, segmentSize)
	for name, b := range map[string]string{"00000002.new": "half", "00000003.seg": "of another log", "notes.txt": "mine", "0.seg": ""} {
		write(t, mem, filepath.Join("log", name), []byte(b))
	}
	l, err := openLog(mem, testDir, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, mem, filepath.Join("log", "00000005.seg"), segmentFrame(5, l.id, 1))
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	verify(t, mem, m, m, "beside leftovers")
	names, err := mem.ReadDir(filepath.Join(testDir, "log"))
	if want := "[0.seg 00000001.seg notes.txt]"; err != nil || fmt.Sprint(names) != want {
		t.Errorf("%v left, not %s: %v", names, want, err)
	}
}

// A segment that is gone from the middle of the log is damage, also where nothing derived tells of it: no writer takes what
// lies behind it for leftovers.
func TestSegmentGone(t *testing.T) {
	for _, derived := range []bool{true, false} {
		mem, _ := smallStore(t, 9, 8, 700)
		ls, err := listLog(mem, testDir)
		if err != nil || len(ls.segments) < 5 {
			t.Fatal(ls, err)
		}
		if !derived {
			for name := range files(t, mem) {
				if filepath.Dir(name) != "log" {
					write(t, mem, name, nil)
				}
			}
		}
		if err := mem.Remove(segmentName(testDir, ls.segments[2])); err != nil {
			t.Fatal(err)
		}
		s, err := Open(mem, testDir)
		if err == nil {
			_, err = s.Begin(func(int) bool { return false })
			_ = s.Close()
		}
		if !derived && !errors.Is(err, ErrDamaged) { // else it is told when something there is read
			t.Errorf("derived %v: %v", derived, err)
		}
		if now, err := listLog(mem, testDir); err != nil || len(now.segments) != len(ls.segments)-1 {
			t.Errorf("derived %v: %v left of %v: %v", derived, now, ls, err)
		}
	}
}

// A flip of any bit of a base is reported wherever it is read, also without all that is derived, and no writer takes
// what follows it for a tail.
func TestDamagedBase(t *testing.T) {
	mem, m := smallStore(t, 12, 6, segmentSize)
	s := open(t, mem)
	s.segmentMax = 2500
	if err := errors.Join(repackAll(s), s.Close()); err != nil {
		t.Fatal(err)
	}
	all := files(t, mem)
	for _, derived := range []bool{true, false} {
		if !derived {
			for name := range all {
				if filepath.Dir(name) != "log" {
					write(t, mem, name, nil)
				}
			}
		}
		for name, good := range all {
			if filepath.Dir(name) == "log" {
				damageBase(t, mem, m, name, good, derived, testRand(3))
			}
		}
	}
}

func damageBase(t *testing.T, mem *vfs.Mem, m *model, name string, good []byte, derived bool, rng *rand.Rand) {
	t.Helper()
	step := max(1, len(good)/300)
	for i := rng.IntN(step); i < len(good); i += step {
		bad := []byte(string(good))
		bad[i] ^= 1 << rng.IntN(8)
		for what, b := range map[string][]byte{"flip": bad, "cut": good[:i]} {
			write(t, mem, name, b)
			ops, err := checkPrefix(mem, m)
			if err != nil || ops >= 0 && ops != len(m.ops) {
				t.Fatalf("%s at %d of %s, derived files %v: %d ops, %v", what, i, name, derived, ops, err)
			}
			if !derived && ops >= 0 {
				t.Fatalf("%s at %d of %s was not noticed", what, i, name)
			}
		}
	}
	write(t, mem, name, good)
}
