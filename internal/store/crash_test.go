package store

import (
	"errors"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

var errDisk = errors.New("disk full")

// run commits three transactions until one fails, and returns the model of what was acknowledged and the one with what
// was under way. The second transaction is aborted.
func run(fsys vfs.FS, seed uint64, segment uint32) (acked, next *model) {
	acked = newModel()
	next = acked
	s, err := Open(fsys, testDir)
	if err != nil {
		return acked, next
	}
	defer s.Close()
	s.segmentMax = segment
	rng := testRand(seed)
	for i := range 4 {
		tx, err := s.Begin(nil)
		if err != nil {
			return acked, next
		}
		m, op, err := acked.put(tx, rng, small)
		if err != nil || i == 1 {
			_ = tx.Abort()
			if err != nil {
				return acked, next
			}
			continue
		}
		next = m
		if _, err := tx.Commit(op, func() ([]byte, error) { return nil, errDisk }); err != nil {
			return acked, next
		}
		acked = m
	}
	return acked, next
}

// verify opens what is left, checks that all that was acknowledged is there and nothing half, and goes on writing.
func verify(t *testing.T, fsys vfs.FS, acked, next *model, what string, args ...any) {
	t.Helper()
	s, err := Open(fsys, testDir)
	if err != nil {
		t.Fatalf(what+": %v", append(args, err)...)
	}
	defer s.Close()
	m := acked
	if int(s.NumOps()) == len(next.ops) { // written though not acknowledged
		m = next
	}
	rng := testRand(99)
	for range 2 {
		if err := m.check(s); err != nil {
			t.Fatalf(what+": %v", append(args, err)...)
		}
		if m, err = m.commit(s, rng, small); err != nil {
			t.Fatalf(what+", going on: %v", append(args, err)...)
		}
	}
	again, err := Open(fsys, testDir)
	if err != nil {
		t.Fatalf(what+", opened again: %v", append(args, err)...)
	}
	defer again.Close()
	if err := m.check(again); err != nil {
		t.Fatalf(what+", opened again: %v", append(args, err)...)
	}
}

// Each call that changes the disk fails in turn, once or from then on. Afterwards the disk is as the process left it, or
// as one of several power cuts did.
func TestEveryFault(t *testing.T) {
	for _, mode := range []vfs.FaultMode{0, vfs.FaultStays, vfs.FaultShort | vfs.FaultStays} {
		for _, segment := range []uint32{700, segmentSize} {
			for n := 1; ; n++ {
				mem := newMem(t)
				faulty := vfs.Inject(mem, n, errDisk, mode)
				acked, next := run(faulty, uint64(n), segment)
				for seed := range uint64(2) {
					verify(t, mem.Crash(testRand(seed)), acked, next, "mode %d, call %d, cut %d", mode, n, seed)
				}
				verify(t, mem.CrashWorst(), acked, next, "mode %d, call %d, worst cut", mode, n)
				verify(t, mem, acked, next, "mode %d, call %d", mode, n)
				if !faulty.Fired() {
					if len(acked.ops) != 3 {
						t.Fatalf("%d ops without a fault", len(acked.ops))
					}
					break
				}
			}
		}
	}
}

// A read that fails is an error and never taken for the log's end.
func TestEveryReadFault(t *testing.T) {
	for n := 1; ; n++ {
		mem := newMem(t)
		acked, _ := run(mem, 5, 700)
		faulty := vfs.Inject(mem, n, errDisk, vfs.FaultReads)
		s, err := Open(faulty, testDir)
		if err == nil {
			var next *model
			if next, err = acked.commit(s, testRand(1), small); err == nil {
				acked = next
			}
			_ = s.Close()
		}
		if !faulty.Fired() {
			return
		}
		s = open(t, mem)
		if int(s.NumOps()) < len(acked.ops) {
			t.Fatalf("read %d failed (%v): %d ops of %d", n, err, s.NumOps(), len(acked.ops))
		}
		_ = s.Close()
	}
}

// A sync that began early and failed fails the commit: the system tells of a lost write only once.
func TestEarlySyncFails(t *testing.T) {
	for n := 1; n < 20; n++ {
		mem := newMem(t)
		s := open(t, vfs.Inject(mem, n, errDisk, 0))
		tx, err := s.Begin(nil)
		if err != nil {
			continue
		}
		tx.early.pending = earlyBytes
		p := tx.Packer()
		err = errors.Join(p.Put(hashOf([]byte("x")), []byte("x")), p.Flush())
		tx.early.group.Wait()
		if err == nil && tx.early.err == nil {
			_ = tx.Abort()
			continue
		}
		if _, err := tx.Commit(Op{}, nil); !errors.Is(err, errDisk) || s.NumOps() != 0 {
			t.Errorf("call %d failed: %v", n, err)
		}
		if err == nil {
			return
		}
	}
	t.Error("no early sync failed")
}
