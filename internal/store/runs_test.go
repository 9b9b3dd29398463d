package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// packedStore has much of everything, packed, and more behind it.
func packedStore(t *testing.T, seed uint64) (*vfs.Mem, *model) {
	t.Helper()
	mem, m := newMem(t), newModel()
	s, rng := open(t, mem), testRand(seed)
	var err error
	for i := range 12 {
		if m, err = m.commit(s, rng, mixed); err != nil {
			t.Fatal(err)
		}
		if i == 8 {
			if err := repackAll(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return mem, m
}

// copied returns another file system with the same store.
func copied(t *testing.T, mem *vfs.Mem) *vfs.Mem {
	t.Helper()
	to := newMem(t)
	for name := range files(t, to) {
		write(t, to, name, nil)
	}
	for name, b := range files(t, mem) {
		write(t, to, name, b)
	}
	return to
}

// What is packed has runs in place of records, and every record is what the log itself gives.
func TestRunsAreTheRecords(t *testing.T) {
	mem, m := packedStore(t, 3)
	s := open(t, mem)
	now := s.now.Load()
	runs := now.cols[blobsCol].runs
	if runs == nil || runs.n == 0 || runs.n != now.log.packed.n[blobsCol] || runs.n >= now.n[blobsCol] || !runs.sound() {
		t.Fatalf("%+v of %v", runs, now.n)
	}
	records := func() (all [][]byte) {
		for n := range s.NumBlobs() {
			rec, _, ok := s.record(blobsCol, n)
			if !ok {
				t.Fatal(s.missing())
			}
			all = append(all, bytes.Clone(rec))
		}
		return all
	}
	got := records()
	if err := s.fromLog(); err != nil {
		t.Fatal(err)
	}
	if want := records(); !slices.EqualFunc(got, want, bytes.Equal) || s.now.Load().cols[blobsCol].runs != nil {
		t.Error("the runs tell other records than the log")
	}
	if err := m.check(s); err != nil {
		t.Error(err)
	}
	size := 0
	for name, b := range files(t, mem) {
		if strings.HasPrefix(name, "index/blobs") && !strings.HasSuffix(name, ".order") {
			size += len(b)
		}
	}
	if most := int(now.n[blobsCol]-runs.n)*recordSizes[blobsCol] + len(runs.list) + 2*indexHeader; size != most {
		t.Errorf("the index of contents has %d bytes, not %d", size, most)
	}
}

// An index of contents that is an earlier build's, lost or damaged is made again: nothing is read by it that is not so.
func TestRunsMadeAgain(t *testing.T) {
	mem, m := packedStore(t, 4)
	good := files(t, mem)
	whole := func() []byte { // as earlier builds wrote it
		s := open(t, mem)
		defer s.Close()
		if err := s.fromLog(); err != nil {
			t.Fatal(err)
		}
		now := s.now.Load()
		return append(appendIndexHeader(nil, columnMagic, now.logID, blobsCol, 0), now.cols[blobsCol].extra...)
	}()
	const runs, rest = "index/blobs.frames", "index/blobs"
	turned := func(name string, off int) []byte {
		b := bytes.Clone(good[name])
		b[off] ^= 0x10
		return b
	}
	for what, damage := range map[string]map[string][]byte{
		"an earlier build's":   {runs: nil, rest: whole},
		"with runs beside":     {rest: whole},
		"no runs":              {runs: nil},
		"cut runs":             {runs: good[runs][:len(good[runs])-runSize]},
		"no rest":              {rest: nil},
		"neither":              {runs: nil, rest: nil},
		"a turned place":       {runs: turned(runs, indexHeader+1)},
		"a turned number":      {runs: turned(runs, len(good[runs])-8)},
		"a turned header":      {runs: turned(runs, 9)},
		"two runs that change": {runs: slices.Concat(good[runs][:indexHeader], good[runs][indexHeader+runSize:][:runSize], good[runs][indexHeader:][:runSize], good[runs][indexHeader+2*runSize:])},
	} {
		t.Run(what, func(t *testing.T) {
			mem := copied(t, mem)
			for name, b := range damage {
				write(t, mem, name, b)
			}
			s := open(t, mem)
			if now := s.now.Load(); what == "an earlier build's" && (len(now.cols[blobsCol].base) == 0 || len(now.cols[blobsCol].extra) > 0) {
				t.Error("the index is not used as it is")
			}
			if err := errors.Join(m.check(s), s.Close()); err != nil {
				t.Fatal(err)
			}
			s = open(t, mem)
			next, err := m.commit(s, testRand(9), small)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(next.check(s), s.Close()); err != nil {
				t.Fatal(err)
			}
			if what == "an earlier build's" {
				s := open(t, mem)
				if s.now.Load().cols[blobsCol].runs == nil {
					t.Error("who wrote did not make the runs")
				}
				if err := errors.Join(next.check(s), s.Close()); err != nil {
					t.Error(err)
				}
			}
			// Whoever wrote made the runs good, if they were found to be damaged; fsck finds no fault then.
			s = open(t, mem)
			if err := errors.Join(s.Rederive(nil, func() ([]byte, error) { return nil, nil }), s.Close()); err != nil {
				t.Fatal(err)
			}
			s = open(t, mem)
			if s.now.Load().cols[blobsCol].runs == nil {
				t.Error("no runs are there")
			}
			if err := errors.Join(next.check(s), s.Close()); err != nil {
				t.Error(err)
			}
			if faults, _, err := audit(t, mem, false); err != nil || len(faults) > 0 {
				t.Errorf("%v, %v", faults, err)
			}
		})
	}
}

// A frame of packed contents is damaged, its table above all, where their hashes are: each of them is damaged, and none missing;
// all others are read as before, and what is damaged is not put a second time under a wrong name.
func TestDamagedPackedFrame(t *testing.T) {
	mem, m := packedStore(t, 5)
	s := open(t, mem)
	runs := s.now.Load().cols[blobsCol].runs
	rng := testRand(6)
	type hit struct {
		at     place
		hashes []change.Hash
		size   int
	}
	var hits []hit
	for rank := range runs.count() {
		p, first, _ := runs.run(rank)
		f, err := s.frame(p)
		if err != nil {
			t.Fatal(err)
		}
		h := hit{at: p, size: int(f.size())}
		items := f.items
		if f.kind == kindList {
			items = 1
		}
		for n := first; n < first+items; n++ {
			rec, _, _ := s.record(blobsCol, n)
			h.hashes = append(h.hashes, parseBlobRecord(rec).hash)
		}
		hits = append(hits, h)
	}
	base := strings.ReplaceAll(runs.log.display(runs.log.first), "\\", "/")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good := files(t, mem)[base]
	for i, h := range hits {
		if i%(1+len(hits)/8) != 0 { // each is as good as another
			continue
		}
		for name, off := range map[string]int{"kind": 12, "items": 25, "hash": headerSize + rng.IntN(32), "length": headerSize + 33, "anywhere": rng.IntN(h.size)} {
			t.Run(fmt.Sprint(name, " of ", i), func(t *testing.T) {
				mem := copied(t, mem)
				b := bytes.Clone(good)
				b[int(h.at.off())+off] ^= 0x41
				write(t, mem, base, b)
				s := open(t, mem)
				defer s.Close()
				for hash, want := range m.blobs {
					got, err := s.Blob(nil, hash)
					switch {
					case slices.Contains(h.hashes, hash):
						if !errors.Is(err, ErrDamaged) {
							t.Errorf("content %s, which is damaged: %d bytes, %v", hash, len(got), err)
						}
					case err != nil && !errors.Is(err, ErrDamaged): // a large one may have its chunks there
						t.Errorf("content %s: %v", hash, err)
					case err == nil && !bytes.Equal(got, want):
						t.Errorf("content %s is another", hash)
					}
				}
				faults, _, err := audit(t, mem, false)
				if err != nil {
					t.Fatal(err)
				}
				if len(faults) == 0 {
					t.Error("fsck finds nothing")
				}
				for _, f := range faults {
					if f.Derived {
						t.Errorf("%s at %d is said to be what is damaged: %v", f.File, f.Off, f.Err)
					}
				}
			})
		}
	}
}

// Runs of whatever bytes give records that are refused, or the frames that they name; nothing is read beyond what there is.
func FuzzRuns(f *testing.F) {
	mem := newMem(f)
	s := open(f, mem)
	m, rng := newModel(), testRand(8)
	for range 4 {
		var err error
		if m, err = m.commit(s, rng, mixed); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := s.Repack(context.Background(), RepackOptions{Force: true}); err != nil {
		f.Fatal(err)
	}
	real := s.now.Load().cols[blobsCol].runs
	f.Add(bytes.Clone(real.list), uint32(3), false)
	f.Add(real.list[runSize:], uint32(0), true)
	f.Add([]byte{}, uint32(0), true)
	f.Add(bytes.Repeat([]byte{255}, 3*runSize), uint32(1<<32-2), true)
	f.Fuzz(func(t *testing.T, list []byte, n uint32, seal bool) {
		list = bytes.Clone(list[:len(list)/runSize*runSize])
		for rank := range len(list) / runSize {
			if run := list[rank*runSize:][:runSize]; seal { // past the checksums
				copy(run, appendRun(nil, real.log.id, uint32(rank), place(uint64(run[0])|uint64(run[1])<<8|uint64(run[2])<<16|uint64(run[4])<<32), uint32(run[8])))
			}
		}
		r := &packedRuns{log: real.log, n: real.n, list: list}
		rec := r.record(n)
		if len(rec) != recordSizes[blobsCol] {
			t.Fatalf("a record of %d bytes", len(rec))
		}
		if _, _, ok := r.find(n); ok != recordOK(rec, real.log.id, blobsCol, n) {
			t.Errorf("found is %v of %x", ok, rec)
		}
		r.sound()
	})
}
