package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

func repackAll(s *Store) error {
	st, err := s.Repack(context.Background(), RepackOptions{Force: true})
	if err == nil && !st.Packed {
		err = errors.New("not packed")
	}
	return err
}

// Whatever was recorded, a repack keeps it under its number, and one can go on: record more, and repack again.
func TestRepack(t *testing.T) {
	for seed, segment := range []uint32{segmentSize, 1, 3000, 50_000} {
		t.Run(fmt.Sprint("segments of ", segment), func(t *testing.T) {
			mem := newMem(t)
			s, reader := open(t, mem), open(t, mem)
			s.segmentMax = segment
			rng, m := testRand(uint64(seed)), newModel()
			for round := range 3 {
				for range 5 {
					var err error
					if m, err = m.commit(s, rng, mixed); err != nil {
						t.Fatal(err)
					}
				}
				ops := s.now.Load().cols[opsCol]
				if err := errors.Join(repackAll(s), m.check(s)); err != nil {
					t.Fatal("same store: ", err)
				}
				if want := fmt.Sprint("hint ", s.NumOps()-1); string(s.Hint()) != want {
					t.Errorf("hint %q", s.Hint())
				}
				if len(s.now.Load().cols[opsCol].extra) > 0 || len(ops.at(0)) == 0 {
					t.Error("the indexes do not have all")
				}
				again := open(t, mem)
				if err := m.check(again); err != nil {
					t.Fatal("opened again: ", err)
				}
				for h := range m.blobs {
					if err := again.VerifyBlob(h); err != nil {
						t.Error(err)
					}
				}
				if err := errors.Join(again.Close(), reader.Refresh(), m.check(reader)); err != nil {
					t.Fatal("reader: ", err)
				}
				ls, err := listLog(mem, testDir)
				if err != nil || len(ls.bases) != 1 || len(ls.unfinished) != 0 || len(ls.segments) > 0 && ls.segments[0] < ls.bases[0] {
					t.Fatalf("round %d: %v left, %v", round, ls, err)
				}
			}
			// Without all that is derived the base tells the same.
			for name := range files(t, mem) {
				if filepath.Dir(name) != "log" {
					write(t, mem, name, nil)
				}
			}
			again := open(t, mem)
			if err := m.check(again); err != nil {
				t.Fatal("without what is derived: ", err)
			}
			if err := errors.Join(s.Close(), reader.Close(), again.Close()); err != nil || mem.Handles() != 0 {
				t.Errorf("close: %v; %d handles left open", err, mem.Handles())
			}
		})
	}
}

// A repack packs better: neighbours share a frame.
func TestRepackGains(t *testing.T) {
	mem := newMem(t)
	s := open(t, mem)
	for i := range 400 {
		if err := appendOne(s, "main"+strings.Repeat("i", i%3)+fmt.Sprint(i/100)); err != nil {
			t.Fatal(err)
		}
	}
	calls := int64(0)
	st, err := s.Repack(context.Background(), RepackOptions{Progress: func(done, total int64) {
		if done < calls || total != 1200-int64(400-s.NumChanges()) {
			t.Errorf("%d of %d after %d", done, total, calls)
		}
		calls = done
	}})
	if err != nil || !st.Packed || st.After*2 > st.Before || calls == 0 {
		t.Errorf("%+v after %d, %v", st, calls, err)
	}
	// Nothing is to be gained from it again.
	if again, err := s.Repack(context.Background(), RepackOptions{}); err != nil || again.Packed || again.Before != st.After || again.After != st.After {
		t.Errorf("again %+v, %v", again, err)
	}
}

func TestRepackOfLittle(t *testing.T) {
	mem := newMem(t)
	s := open(t, mem)
	if st, err := s.Repack(context.Background(), RepackOptions{Force: true}); err != nil || st.Packed {
		t.Errorf("an empty store: %+v, %v", st, err)
	}
	m, rng := newModel(), testRand(1)
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	tx, err := s.Begin(nil)
	if err == nil {
		m.blobs[hashOf(noise)] = noise
		err = tx.own.Put(hashOf(noise), noise)
	}
	if err == nil {
		m.ops, m.at = []Op{{View: NewView()}}, []modelAt{{1, 0, 0}}
		_, err = tx.Commit(m.ops[0], nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := logFiles(t, mem)
	st, err := s.Repack(context.Background(), RepackOptions{})
	if err != nil || st.Packed || logFiles(t, mem) != before {
		t.Errorf("%+v, %v: %s became %s", st, err, before, logFiles(t, mem))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Repack(ctx, RepackOptions{Force: true}); !errors.Is(err, context.Canceled) || logFiles(t, mem) != before {
		t.Errorf("interrupted: %v: %s became %s", err, before, logFiles(t, mem))
	}
	if m, err = m.commit(s, testRand(2), small); err != nil {
		t.Fatal(err)
	}
	if err := m.check(s); err != nil {
		t.Error(err)
	}
}

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
	if _, err := Open(mem, testDir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), strings.TrimSuffix(base, baseSuffix)) {
		t.Error(err)
	}
}

// What a repack that was killed left is removed, and a segment of this log that lies beyond a gap is not.
func TestSweep(t *testing.T) {
	mem, m := smallStore(t, 9, 3, segmentSize)
	for name, b := range map[string]string{"00000002.new": "half", "00000003.seg": "of another log", "notes.txt": "mine", "0.seg": ""} {
		write(t, mem, filepath.Join("log", name), []byte(b))
	}
	l, err := openLog(mem, testDir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, mem, filepath.Join("log", "00000005.seg"), segmentFrame(5, l.id, 1))
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	verify(t, mem, m, m, "beside leftovers")
	names, err := mem.ReadDir(filepath.Join(testDir, "log"))
	if want := "[0.seg 00000001.seg 00000005.seg notes.txt]"; err != nil || fmt.Sprint(names) != want {
		t.Errorf("%v left, not %s: %v", names, want, err)
	}
}

// A reader that opened before, ones that open meanwhile, and a writer that waits notice nothing but new operations.
func TestRepackBesideOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".oxy")
	if err := Create(vfs.OS(), dir); err != nil {
		t.Fatal(err)
	}
	s, err := Open(vfs.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s.segmentMax = 100_000
	rng, m := testRand(6), newModel()
	for range 8 {
		if m, err = m.commit(s, rng, mixed); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	read := func(again bool) {
		var r *Store
		var err error
		for n := 0; ; n++ {
			select {
			case <-stop:
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				return
			default:
			}
			if r != nil && again && n%2 == 0 {
				err = r.Close()
				r = nil
			}
			if r == nil && err == nil {
				r, err = Open(vfs.OS(), dir)
			} else if n%3 == 0 && err == nil {
				err = r.Refresh()
			}
			if err == nil {
				err = m.checkAtLeast(r)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
	readers.Go(func() { read(false) })
	readers.Go(func() { read(true) })
	for w := range 2 {
		writers.Go(func() {
			other, err := Open(vfs.OS(), dir)
			for i := 0; i < 10 && err == nil; i++ {
				if err = appendOne(other, fmt.Sprint("w", w, i)); err == nil && i%2 == w {
					_, err = other.Repack(context.Background(), RepackOptions{Force: true, Wait: func(int) bool { return true }})
				}
			}
			if err = errors.Join(err, other.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if err := errors.Join(s.Refresh(), m.checkAtLeast(s), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// checkAtLeast checks a store that may hold more by now.
func (m *model) checkAtLeast(s *Store) error {
	if int(s.NumOps()) < len(m.ops) {
		return fmt.Errorf("%d ops of %d", s.NumOps(), len(m.ops))
	}
	for h, want := range m.blobs {
		if got, err := s.Blob(nil, h); err != nil || string(got) != string(want) {
			return fmt.Errorf("blob %s: %w", h, err)
		}
	}
	for i, c := range m.changes {
		if err := c.check(s, uint32(i)); err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
	}
	for i, want := range m.ops {
		if v, err := s.OpView(uint32(i)); err != nil || !sameView(v, want.View) {
			return fmt.Errorf("view of op %d: %w", i, err)
		}
	}
	return nil
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
