package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// audit opens what there is and looks through it.
func audit(t *testing.T, fsys vfs.FS, quick bool) (faults []Fault, done Audited, err error) {
	t.Helper()
	s, err := Open(fsys, testDir)
	if err != nil {
		return nil, done, err
	}
	done, err = s.Audit(context.Background(), AuditOptions{
		Quick:    quick,
		Progress: func(int64) {},
		Fault:    func(f Fault) { faults = append(faults, f) },
		BadBlob:  func(change.Hash) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return faults, done, nil
}

// The log in one segment and in many, packed and not: whole it has no fault, and none of it can be altered unseen.
func TestAudit(t *testing.T) {
	for _, packed := range []bool{false, true} {
		for _, segment := range []uint32{1000, segmentSize} {
			t.Run(fmt.Sprintf("packed %v, segments of %d", packed, segment), func(t *testing.T) {
				mem, m := smallStore(t, 7, 20, segment)
				s := open(t, mem)
				s.segmentMax = segment
				var err error
				if packed {
					if err = repackAll(s); err != nil {
						t.Fatal(err)
					}
					rng := testRand(8)
					for range 6 {
						if m, err = m.commit(s, rng, small); err != nil {
							t.Fatal(err)
						}
					}
				}
				blobs := uint64(s.NumBlobs())
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				faults, done, err := audit(t, mem, false)
				if err != nil || len(faults) > 0 || done.Blobs != blobs {
					t.Fatalf("%v, %v, %d contents of %d", err, faults, done.Blobs, blobs)
				}
				for name, b := range files(t, mem) {
					auditDamaged(t, mem, name, b)
					write(t, mem, name, b)
				}
			})
		}
	}
}

func auditDamaged(t *testing.T, mem *vfs.Mem, name string, b []byte) {
	t.Helper()
	inLog := strings.HasPrefix(name, "log/")
	for off := 0; off < len(b); off += max(1, len(b)/40) {
		worse := slices.Clone(b)
		worse[off] ^= 0x41
		write(t, mem, name, worse)
		faults, _, err := audit(t, mem, true)
		if err != nil && (!inLog || !errors.Is(err, ErrDamaged)) {
			t.Errorf("%s at %d: %v", name, off, err)
		}
		if err == nil && len(faults) == 0 {
			t.Errorf("%s at %d: no fault", name, off)
		}
		for _, f := range faults {
			if f.Derived == inLog || f.Derived && f.File != name {
				t.Errorf("%s at %d: %+v", name, off, f)
			}
		}
		if !inLog {
			continue
		}
		write(t, mem, name, b[:off])
		if faults, _, err := audit(t, mem, true); err == nil && len(faults) == 0 {
			t.Errorf("%s cut to %d: no fault", name, off)
		}
	}
	if inLog {
		write(t, mem, name, nil)
		if faults, _, err := audit(t, mem, true); err == nil && len(faults) == 0 {
			t.Errorf("%s gone: no fault", name)
		}
	}
}

// A content with another hash than its name, sealed as if it were right.
func TestAuditProvesHashes(t *testing.T) {
	mem, _ := smallStore(t, 7, 20, segmentSize)
	s := open(t, mem)
	name := "log/00000001.seg"
	b := files(t, mem)[name]
	altered := 0
	for n := range s.NumBlobs() {
		rec, tb, _ := s.record(blobsCol, n)
		r := parseBlobRecord(rec)
		f, err := s.frame(r.at)
		if err != nil {
			t.Fatal(err)
		}
		if f.kind != kindBlobs || f.codec != codecRaw || len(f.stored) == 0 {
			continue
		}
		worse := slices.Clone(b)
		frame := worse[r.at.off():][:f.size()]
		frame[headerSize+len(f.table)] ^= 1
		seal(frame, tb.logID, r.at)
		write(t, mem, name, worse)
		for _, quick := range []bool{true, false} {
			faults, _, err := audit(t, mem, quick)
			if err != nil || quick && len(faults) > 0 || !quick && (len(faults) == 0 || !errors.Is(faults[0].Err, errBlobHash)) {
				t.Fatalf("quick %v: %v, %v", quick, faults, err)
			}
		}
		altered++
	}
	if altered == 0 {
		t.Error("no content lies there as it is")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRepacked(t *testing.T) {
	mem, _ := smallStore(t, 7, 20, segmentSize)
	s, other := open(t, mem), open(t, mem)
	for _, want := range []bool{false, true} {
		if got, err := s.Repacked(); err != nil || got != want {
			t.Errorf("repacked: %v, %v", got, err)
		}
		if err := repackAll(other); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
}
