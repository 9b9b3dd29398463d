package store

import (
	"context"
	"errors"
	"fmt"
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
