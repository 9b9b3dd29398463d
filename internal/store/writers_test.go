package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

func TestTwoWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".oxy")
	if err := Create(vfs.OS(), dir); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const rounds = 30
	for w := range 2 {
		wg.Go(func() {
			s, err := Open(vfs.OS(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := range rounds {
				if err := appendOne(s, fmt.Sprint(w, " ", i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	s, err := Open(vfs.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.NumOps() != 2*rounds || s.NumChanges() != 2*rounds {
		t.Errorf("%d ops, %d changes", s.NumOps(), s.NumChanges())
	}
	if v, err := s.View(); err != nil || len(v.Bookmarks) != 2*rounds {
		t.Error(v, err)
	}
}

// appendOne adds a change, a state and a bookmark of a name.
func appendOne(s *Store, name string) error {
	tx, err := s.Begin(func(int) bool { return true })
	if err != nil {
		return err
	}
	n, err := tx.PutChange(Record{ID: change.ID(hashOf([]byte(name)))}, nil, 0)
	if err != nil {
		return err
	}
	st, err := tx.PutState(State{Parent: -1, Changes: []uint32{n}, Pos: 1})
	if err != nil {
		return err
	}
	v, err := s.View()
	if err != nil {
		return err
	}
	v = v.Clone()
	v.Bookmarks[name] = st
	_, err = tx.Commit(Op{View: v}, nil)
	return err
}

func TestLockHeld(t *testing.T) {
	mem := newMem(t)
	s, other := open(t, mem), open(t, mem)
	tx, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Begin(func(tries int) bool { return tries < 3 }); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if err := tx.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.PutChange(Record{}, nil, 0); !errors.Is(err, ErrDone) {
		t.Error(err)
	}
	if tx, err = other.Begin(nil); err != nil {
		t.Fatal(err)
	}
	if err := tx.Abort(); err != nil {
		t.Fatal(err)
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	mem := newMem(t)
	s := open(t, mem)
	s.segmentMax = 1000
	m, err := newModel().commit(s, testRand(4), mixed)
	if err != nil {
		t.Fatal(err)
	}
	before := logFiles(t, mem)
	tx, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		_, _, err := m.put(tx, testRand(uint64(i)), mixed) // numbers differ from the model's from the second on
		if i == 0 && err != nil {
			t.Fatal(err)
		}
		if err := tx.own.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Abort(); err != nil {
		t.Fatal(err)
	}
	if after := logFiles(t, mem); after != before {
		t.Errorf("log before %s, after %s", before, after)
	}
	if err := m.check(s); err != nil {
		t.Error(err)
	}
}

func logFiles(t *testing.T, mem vfs.FS) (sizes string) {
	t.Helper()
	names, err := mem.ReadDir(filepath.Join(testDir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		var st vfs.Stat
		if err := mem.Lstat(filepath.Join(testDir, "log", n), &st); err != nil {
			t.Fatal(err)
		}
		sizes += fmt.Sprint(n, ":", st.Size, " ")
	}
	return sizes
}

// A writer that is killed leaves a tail; readers do not see it and the next writer removes it.
func TestKilledWriter(t *testing.T) {
	mem := newMem(t)
	s := open(t, mem)
	m, err := newModel().commit(s, testRand(5), mixed)
	if err != nil {
		t.Fatal(err)
	}
	before := logFiles(t, mem)
	for _, tail := range []string{"x", strings.Repeat("no frame", 1000)} {
		appendFile(t, mem, segmentName(testDir, 1), tail)
		if err := vfs.WriteFileAtomic(mem, segmentName(testDir, 2), []byte(tail), false); err != nil {
			t.Fatal(err)
		}
		other := open(t, mem)
		if err := m.check(other); err != nil {
			t.Fatal(err)
		}
		tx, err := other.Begin(nil)
		if err != nil {
			t.Fatal(err)
		}
		if after := logFiles(t, mem); after != before {
			t.Errorf("log before %s, after %s", before, after)
		}
		if m, err = m.commit2(tx, testRand(6)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(m.check(other), s.Refresh(), m.check(s)); err != nil {
			t.Fatal(err)
		}
		before = logFiles(t, mem)
	}
}

// commit2 fills and commits a transaction that has begun.
func (m *model) commit2(tx *Tx, rng interface{ Uint64() uint64 }) (*model, error) {
	next, op, err := m.put(tx, testRand(rng.Uint64()), mixed)
	if err == nil {
		_, err = tx.Commit(op, nil)
	}
	return next, err
}

func appendFile(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
