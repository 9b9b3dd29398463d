package store

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

const adoptedDir = "/clone/.oxy"

// source makes a store of several segments, and the model of what it holds.
func source(t *testing.T) (*vfs.Mem, *model) {
	t.Helper()
	mem := newMem(t)
	s := open(t, mem)
	s.segmentMax = 700
	rng, m := testRand(11), newModel()
	for range 4 {
		var err error
		if m, err = m.commit(s, rng, small); err != nil {
			t.Fatal(err)
		}
	}
	if s.now.Load().end.segment() < 3 {
		t.Fatal("too few segments")
	}
	if err := errors.Join(s.Close(), mem.MkdirAll(adoptedDir, 0o777), mem.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return mem, m
}

func adopt(fsys vfs.FS) (*Store, Adopted, error) {
	s, got, err := Adopt(fsys, testDir, adoptedDir, func(int64) error { return nil })
	if err != nil {
		return nil, got, err
	}
	if err := s.Accept(); err != nil {
		return nil, got, errors.Join(err, s.Close())
	}
	return s, got, nil
}

// segmentsOf gives a store's segments by name.
func segmentsOf(t *testing.T, fsys vfs.FS, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	names, err := fsys.ReadDir(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if out[n], err = fsys.ReadFile(filepath.Join(dir, "log", n), 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func within(t *testing.T, fsys vfs.FS, dir string, do func(vfs.Dir) error) {
	t.Helper()
	d, err := fsys.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(d), d.Close()); err != nil {
		t.Fatal(err)
	}
}

// Both sides record more, and pack what they have: what the other holds stays as it is.
func TestAdopt(t *testing.T) {
	mem, m := source(t)
	s, got, err := adopt(mem)
	if err != nil {
		t.Fatal(err)
	}
	if got.Way != vfs.Linked || got.Bytes == 0 {
		t.Fatalf("%d bytes were %s", got.Bytes, got.Way)
	}
	if err := m.check(s); err != nil {
		t.Fatal(err)
	}
	was := segmentsOf(t, mem, testDir)
	rng, mine := testRand(12), m
	for range 4 {
		if mine, err = mine.commit(s, rng, small); err != nil {
			t.Fatal(err)
		}
	}
	if err := repackAll(s); err != nil {
		t.Fatal(err)
	}
	if mine, err = mine.commit(s, rng, small); err != nil {
		t.Fatal(err)
	}
	for name, b := range segmentsOf(t, mem, testDir) {
		if !bytes.Equal(b, was[name]) {
			t.Fatalf("%s of the source is another", name)
		}
	}
	src := open(t, mem)
	if err := m.check(src); err != nil {
		t.Fatal(err)
	}
	second, _, err := Adopt(mem, testDir, "/second/.oxy", func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.commit(src, rng, small); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(repackAll(src), m.check(src), mine.check(s)); err != nil {
		t.Fatal(err)
	}
	if int(second.NumOps()) != len(m.ops)-1 {
		t.Fatalf("%d operations", second.NumOps())
	}
	if err := errors.Join(s.Close(), src.Close(), second.Close()); err != nil || mem.Handles() != 0 {
		t.Fatalf("%v, %d handles", err, mem.Handles())
	}
}

// What lies behind the last operation stays behind, and what was packed is one segment, with commits in the next.
func TestAdoptTails(t *testing.T) {
	mem, m := source(t)
	s := open(t, mem)
	s.sealMin = 1
	if err := repackAll(s); err != nil {
		t.Fatal(err)
	}
	rng, err := testRand(13), error(nil)
	if m, err = m.commit(s, rng, small); err != nil {
		t.Fatal(err)
	}
	end := s.now.Load().end
	name := s.now.Load().log.name(end.segment())
	if end.segment() == s.now.Load().log.packed.end.segment() {
		t.Fatal("the commit went into the packed segment")
	}
	f, err := mem.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte("left by a dead writer"), 9), int64(end.off())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s, _, err = adopt(mem)
	if err != nil {
		t.Fatal(err)
	}
	if got := segmentsOf(t, mem, adoptedDir); len(got[filepath.Base(name)]) != int(end.off()) || len(got) != 2 {
		t.Fatalf("%d segments, the last of %d bytes and not %d", len(got), len(got[filepath.Base(name)]), end.off())
	}
	if _, err = m.commit(s, rng, small); err != nil {
		t.Fatal(err)
	}
}

// owned is a file system with files of somebody else.
type owned struct {
	*vfs.Mem
}

type ownedFile struct{ vfs.File }

func (o owned) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := o.Mem.OpenFile(name, flag, perm)
	if err == nil && flag == os.O_RDONLY {
		f = ownedFile{f}
	}
	return f, err
}

func (f ownedFile) Stat(st *vfs.Stat) error {
	err := f.File.Stat(st)
	st.UID = 7
	return err
}

// A file that somebody else may write to, or owns, is copied: it could be altered once it was proved.
func TestAdoptCopiesWhatOthersMayWrite(t *testing.T) {
	for _, mode := range []fs.FileMode{0o664, 0o646, 0o666} {
		mem, m := source(t)
		for name := range segmentsOf(t, mem, testDir) {
			within(t, mem, filepath.Join(testDir, "log"), func(d vfs.Dir) error { return d.Chmod(name, mode) })
		}
		s, got, err := adopt(mem)
		if err != nil || got.Way != vfs.Copied {
			t.Fatalf("%o: %s, %v", mode, got.Way, err)
		}
		if err := errors.Join(m.check(s), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	mem, m := source(t)
	s, got, err := adopt(owned{mem})
	if err != nil || got.Way != vfs.Copied {
		t.Fatalf("of another owner: %s, %v", got.Way, err)
	}
	if err := errors.Join(m.check(s), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// Nothing is read through a link: it may lead to anybody's files.
func TestAdoptRefusesLinks(t *testing.T) {
	for _, what := range []string{"log", "log/00000001.seg", "log/00000002.seg"} {
		mem, _ := source(t)
		at := filepath.Join(testDir, what)
		if err := mem.Rename(at, "/elsewhere"); err != nil {
			t.Fatal(err)
		}
		within(t, mem, filepath.Dir(at), func(d vfs.Dir) error { return d.Symlink("/elsewhere", filepath.Base(at)) })
		if _, _, err := adopt(mem); !errors.Is(err, ErrNotPlain) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// lucky loses nothing in a crash.
type lucky struct{}

func (lucky) Uint64() uint64 { return 0x80000000_00000001 }

// Whatever call fails, and wherever the power is cut, the clone is no repository or it has all; the source is as it was.
func TestEveryFaultOfAdopt(t *testing.T) {
	whole, m := source(t)
	was := segmentsOf(t, whole, testDir)
	for _, mode := range []vfs.FaultMode{0, vfs.FaultStays, vfs.FaultShort | vfs.FaultStays, vfs.FaultReads} {
		step := 1
		if mode == vfs.FaultReads {
			step = 5 // they are many, and fail alike
		}
		for n := 1; ; n += step {
			mem := whole.Crash(rand.New(lucky{}))
			faulty := vfs.Inject(mem, n, errDisk, mode)
			s, _, err := adopt(faulty)
			if err == nil {
				if err := s.Close(); err != nil && !errors.Is(err, errDisk) {
					t.Fatal(err)
				}
			}
			found := append([]*vfs.Mem{mem.CrashWorst(), mem}, mem.Crash(testRand(uint64(n))))
			for i, mem := range found {
				for name, b := range segmentsOf(t, mem, testDir) {
					if !bytes.Equal(b, was[name]) {
						t.Fatalf("mode %d, call %d, %d: %s of the source is another", mode, n, i, name)
					}
				}
				s, opened := Open(mem, adoptedDir)
				if opened != nil {
					if err == nil || !errors.Is(opened, ErrNotRepository) {
						t.Fatalf("mode %d, call %d, %d: it said %v, then %v", mode, n, i, err, opened)
					}
					continue
				}
				if err := errors.Join(m.check(s), s.Close()); err != nil {
					t.Fatalf("mode %d, call %d, %d: %v", mode, n, i, err)
				}
			}
			if !faulty.Fired() {
				if err != nil {
					t.Fatalf("without a fault: %v", err)
				}
				break
			}
		}
	}
}
