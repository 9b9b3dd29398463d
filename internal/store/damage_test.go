package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// smallStore returns a store of a few operations, and its model.
func smallStore(t *testing.T, seed uint64, ops int, segment uint32) (*vfs.Mem, *model) {
	t.Helper()
	mem := newMem(t)
	s := open(t, mem)
	s.segmentMax = segment
	rng, m := testRand(seed), newModel()
	for range ops {
		var err error
		if m, err = m.commit(s, rng, small); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return mem, m
}

// files returns the contents of every file of the store by its name in it, but for format and lock.
func files(t *testing.T, fsys vfs.FS) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, dir := range []string{"", "log", "index"} {
		names, err := fsys.ReadDir(filepath.Join(testDir, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if b, err := fsys.ReadFile(filepath.Join(testDir, dir, n), 1<<30); err == nil && n != "format" && n != "lock" {
				out[filepath.Join(dir, n)] = b
			}
		}
	}
	return out
}

// write replaces a file of the store; nil removes it.
func write(t *testing.T, fsys vfs.FS, name string, b []byte) {
	t.Helper()
	name = filepath.Join(testDir, name)
	var err error
	if b == nil {
		err = fsys.Remove(name)
	} else {
		err = vfs.WriteFileAtomic(fsys, name, b, false)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkPrefix says how what a store returns differs from every earlier state of the model, if it does. It may report
// damage instead where it must read the log.
func checkPrefix(fsys vfs.FS, m *model) (ops int, err error) {
	s, err := Open(fsys, testDir)
	if errors.Is(err, ErrDamaged) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	defer s.Close()
	ops = int(s.NumOps())
	if ops > len(m.ops) {
		return ops, fmt.Errorf("%d ops of %d", ops, len(m.ops))
	}
	was := m.upTo(ops)
	if ops < len(m.ops) {
		was.blobs = nil // some are of later ops
	}
	if err := was.check(s); err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(s.Err(), ErrDamaged) {
		return ops, err
	}
	return ops, nil
}

// Every flip of a bit and every truncation of the log is reported, or makes it end earlier where nothing says that more
// was acknowledged. Never is something else read than was written.
func TestDamagedLog(t *testing.T) {
	for seed, segment := range []uint32{segmentSize, 700} {
		mem, m := smallStore(t, uint64(seed), 5, segment)
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
					damageLog(t, mem, m, name, good, derived)
				}
			}
		}
	}
}

func damageLog(t *testing.T, mem *vfs.Mem, m *model, name string, good []byte, derived bool) {
	t.Helper()
	rng := testRand(9)
	step := max(1, len(good)/500)
	for i := rng.IntN(step); i < len(good); i += step {
		bad := []byte(string(good))
		bad[i] ^= 1 << rng.IntN(8)
		for what, b := range map[string][]byte{"flip": bad, "cut": good[:i]} {
			write(t, mem, name, b)
			ops, err := checkPrefix(mem, m)
			if err != nil {
				t.Fatalf("%s at %d of %s, derived files %v: %v", what, i, name, derived, err)
			}
			// With the head nothing acknowledged goes unnoticed; without, a flip before the last batch is noticed.
			if derived && ops >= 0 && ops != len(m.ops) || !derived && what == "flip" && ops >= 0 && ops < len(m.ops)-1 {
				t.Fatalf("%s at %d of %s, derived files %v: opened with %d ops of %d", what, i, name, derived, ops, len(m.ops))
			}
		}
	}
	write(t, mem, name, good)
}

// Whatever is derived may be lost, damaged or old, and every answer stays the same; and a writer makes it anew.
func TestDamagedDerived(t *testing.T) {
	for _, packed := range []bool{false, true} {
		t.Run(fmt.Sprint("packed ", packed), func(t *testing.T) { damageDerived(t, packed) })
	}
}

func damageDerived(t *testing.T, packed bool) {
	mem, m := smallStore(t, 3, 8, segmentSize)
	rng := testRand(8)
	s := open(t, mem)
	if packed {
		if err := repackAll(s); err != nil {
			t.Fatal(err)
		}
	}
	s.tailMin = 1 // so that there are sorted lists, and records outside of them
	for range 3 {
		var err error
		if m, err = m.commit(s, rng, shape{60, 30, 10, []int{30}}); err != nil {
			t.Fatal(err)
		}
		s.tailMin = 1000
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, good := range files(t, mem) {
		if filepath.Dir(name) == "log" {
			continue
		}
		cases := map[string][]byte{"gone": nil, "empty": {}, "zeros": make([]byte, len(good)), "half": good[:len(good)/2],
			"longer": append(good[:len(good):len(good)], good[len(good)/2:]...), "odd": good[:len(good)-3],
			"zeros at the end": append(good[:len(good)*3/4:len(good)*3/4], make([]byte, len(good)-len(good)*3/4)...)}
		for range 6 {
			bad := []byte(string(good))
			i := rng.IntN(len(bad))
			bad[i] ^= 1 << rng.IntN(8)
			cases[fmt.Sprint("flip at ", i)] = bad
		}
		for what, b := range cases {
			write(t, mem, name, b)
			checkMended(t, mem, m, fmt.Sprint(name, " ", what))
			if b == nil {
				appendOrCreate(t, mem, name)
			}
			write(t, mem, name, good)
		}
	}
}

func appendOrCreate(t *testing.T, mem vfs.FS, name string) {
	t.Helper()
	f, err := mem.OpenFile(filepath.Join(testDir, name), os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

// checkMended checks a store whose derived files are damaged, lets a copy of it write, and checks that the files of the
// copy serve without repair.
func checkMended(t *testing.T, mem *vfs.Mem, m *model, what string) {
	t.Helper()
	s := open(t, mem)
	if err := m.check(s); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	_ = s.Close()
	copied := vfs.NewMem()
	for _, dir := range []string{"log", "index"} {
		if err := copied.MkdirAll(filepath.Join(testDir, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files(t, mem) {
		write(t, copied, name, b)
	}
	write(t, copied, "format", []byte("oxy repository, format 2\n"))
	s = open(t, copied)
	err := m.check(s) // finds the damage
	if err == nil {
		m, err = m.commit(s, testRand(11), small)
	}
	if err == nil {
		err = m.check(s)
	}
	_ = s.Close()
	if err != nil {
		t.Fatalf("%s, written to: %v", what, err)
	}
	s = open(t, copied)
	defer s.Close()
	if err := m.check(s); err != nil || s.mend {
		t.Fatalf("%s, written to and opened again: %v, still damaged: %v", what, err, s.mend)
	}
	if len(s.now.Load().cols[changesCol].extra) != 0 {
		t.Fatalf("%s: the index does not have all", what)
	}
}

func TestDamageIsNamed(t *testing.T) {
	mem, _ := smallStore(t, 1, 6, segmentSize)
	all := files(t, mem)
	log := filepath.Join("log", "00000001.seg")
	bad := []byte(string(all[log]))
	bad[segmentStart+40] ^= 1
	write(t, mem, log, bad)
	write(t, mem, "head", nil)
	for name := range all {
		if strings.HasPrefix(name, "index") {
			write(t, mem, name, nil)
		}
	}
	_, err := Open(mem, testDir)
	want := fmt.Sprintf("log/00000001.seg is damaged at or after offset %d; later operations follow it", segmentStart)
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say: %s", err, want)
	}
	if got := files(t, mem)[log]; string(got) != string(bad) {
		t.Error("the log was altered")
	}
}

// A writer whose head is behind does not take a damaged log for one with a tail.
func TestWriterRefusesDamage(t *testing.T) {
	mem, m := smallStore(t, 2, 3, segmentSize)
	behind := files(t, mem)["head"]
	s := open(t, mem)
	start := s.now.Load().end
	for range 3 {
		var err error
		if m, err = m.commit(s, testRand(uint64(len(m.ops))), small); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Close()
	log := filepath.Join("log", "00000001.seg")
	bad := files(t, mem)[log]
	bad[start.off()+headerSize] ^= 1
	write(t, mem, log, bad)
	write(t, mem, "head", behind)
	s = open(t, mem)
	defer s.Close()
	if err := m.upTo(3).checkOps(s); err != nil {
		t.Error(err)
	}
	if _, err := s.Begin(nil); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if got := files(t, mem)[log]; string(got) != string(bad) {
		t.Error("the log was altered")
	}
}

// checkOps checks all but the blobs.
func (m *model) checkOps(s *Store) error {
	c := m.clone()
	c.blobs = nil
	return c.check(s)
}

// What the message about a lost operation tells one to do helps.
func TestGoOnWithWhatIsLeft(t *testing.T) {
	mem, m := smallStore(t, 4, 4, segmentSize)
	log := filepath.Join("log", "00000001.seg")
	b := files(t, mem)[log]
	write(t, mem, log, b[:len(b)-8])
	if _, err := Open(mem, testDir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "operation 3 was committed") {
		t.Fatal(err)
	}
	write(t, mem, "head", nil)
	if _, err := Open(mem, testDir); !errors.Is(err, ErrDamaged) { // the index of ops knows it, too
		t.Fatal(err)
	}
	if err := mem.RemoveAll(filepath.Join(testDir, "index")); err != nil {
		t.Fatal(err)
	}
	s := open(t, mem)
	defer s.Close()
	m = m.upTo(3)
	if err := m.checkOps(s); err != nil {
		t.Fatal(err)
	}
	m.blobs = map[change.Hash][]byte{}
	var err error
	if m, err = m.commit(s, testRand(1), small); err != nil {
		t.Fatal(err)
	}
	again := open(t, mem)
	defer again.Close()
	if err := m.check(again); err != nil {
		t.Fatal(err)
	}
	if len(again.now.Load().cols[opsCol].extra) != 0 {
		t.Error("the indexes were not made again")
	}
}
