package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// FuzzDerived writes anything over a derived file, and over the frame that begins the log: an ordinary opening finds what there was or
// refuses the log, and who mends reads no nonsense either.
func FuzzDerived(f *testing.F) {
	names := []string{"head", "index/ops", "index/changes", "index/deps", "index/blobs", "index/blobs.frames", "index/states", "index/changes.order",
		"index/blobs.order", "index/deps.sums"}
	grown := func(t testing.TB) (*vfs.Mem, counts) {
		mem := newMem(t)
		s := open(t, mem)
		m, rng := newModel(), testRand(8)
		for i := range 6 {
			var err error
			if m, err = m.commit(s, rng, mixed); err != nil {
				t.Fatal(err)
			}
			if i == 3 {
				if _, err := s.Repack(context.Background(), RepackOptions{Force: true}); err != nil {
					t.Fatal(err)
				}
			}
		}
		n := s.now.Load().n
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return mem, n
	}
	mem, n := grown(f)
	for i, name := range names {
		data, err := mem.ReadFile(filepath.Join(testDir, filepath.FromSlash(name)), 1<<26)
		if err == nil {
			f.Add(byte(i), uint16(0), data, false)
			f.Add(byte(i), uint16(40), []byte{1, 2, 3, 4}, true)
		}
	}
	files := map[string][]byte{}
	for _, dir := range []string{"", "log", "index"} {
		list, err := mem.ReadDir(filepath.Join(testDir, dir))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range list {
			name = filepath.Join(testDir, dir, name)
			if data, err := mem.ReadFile(name, 1<<26); err == nil {
				files[name] = data
			}
		}
	}
	base := ""
	if ls, err := listLog(mem, testDir); err == nil && len(ls.bases) > 0 {
		base = logName(testDir, ls.bases[len(ls.bases)-1], baseSuffix)
	}
	if base == "" {
		f.Fatal("no base")
	}
	f.Fuzz(func(t *testing.T, which byte, at uint16, data []byte, start bool) {
		mem := vfs.NewMem()
		for name, data := range files {
			if err := errors.Join(mem.MkdirAll(filepath.Dir(name), 0o777), vfs.WriteFileAtomic(mem, name, data, false)); err != nil {
				t.Fatal(err)
			}
		}
		name := filepath.Join(testDir, filepath.FromSlash(names[int(which)%len(names)]))
		old, _ := mem.ReadFile(name, 1<<26)
		off := min(int(at), len(old))
		next := append(append(old[:off:off], data...), old[min(off+len(data), len(old)):]...)
		if err := vfs.WriteFileAtomic(mem, name, next, false); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(mem, testDir); err == nil {
			if s.NumOps() != n[opsCol] || s.NumChanges() != n[changesCol] {
				t.Errorf("%d operations, %d changes", s.NumOps(), s.NumChanges())
			}
			for c := range s.NumChanges() {
				if _, err := s.Change(c); err != nil && s.Err() == nil {
					t.Errorf("change %d: %v", c, err)
				}
			}
			for b := range s.NumBlobs() {
				s.BlobHash(b)
			}
			if _, err := s.View(); err != nil {
				t.Error(err)
			}
			_ = s.Close()
		} else {
			t.Errorf("%s: %v", name, err)
		}
		if !start {
			return
		}
		log, err := mem.ReadFile(base, 1<<26)
		if err != nil {
			t.Fatal(err)
		}
		log[20] ^= 1
		if err := vfs.WriteFileAtomic(mem, base, log, false); err != nil {
			t.Fatal(err)
		}
		if s, err := OpenDamaged(mem, testDir); err == nil {
			if s.NumOps() > n[opsCol] || s.NumChanges() > n[changesCol] {
				t.Errorf("%d operations, %d changes from nothing", s.NumOps(), s.NumChanges())
			}
			for c := range s.NumChanges() {
				_, _ = s.Change(c)
			}
			_ = s.Close()
		}
	})
}
