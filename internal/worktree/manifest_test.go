package worktree

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/zeebo/xxh3"
)

// content is all that a manifest says of the base state, checked against each way to ask for it.
func content(t testing.TB, m *Manifest) map[string]Entry {
	t.Helper()
	got := map[string]Entry{}
	var paths []string
	if err := m.All(func(path string, e *Entry) bool {
		got[path] = *e
		paths = append(paths, path)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != m.Len() || len(paths) != len(got) {
		t.Fatalf("%d entries, Len says %d", len(paths), m.Len())
	}
	for path, e := range got {
		if found, ok, err := m.Lookup(path); err != nil || !ok || found != e {
			t.Fatalf("lookup of %q: %v, %v, %v", path, found, ok, err)
		}
		if dir, _ := split(path); !m.IsDir(dir) {
			t.Fatalf("%q is no directory", dir)
		}
	}
	return got
}

func someEntry(rng *rand.Rand) Entry {
	return Entry{
		Mtime: rng.Int64(), Ctime: -rng.Int64(), Size: rng.Int64(), Ino: rng.Uint64(), Hash: [32]byte{byte(rng.Uint32())},
		Kind: Kind(rng.IntN(int(numKinds))), Exec: rng.IntN(2) == 0, Valid: rng.IntN(2) == 0, Alias: uint8(rng.IntN(maxAlias + 1)),
	}
}

// TestManifestAgainstMap makes random edits, saves and loads, beside a plain map.
func TestManifestAgainstMap(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		mem := vfs.NewMem()
		m, err := New(mem, "/m")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]Entry{}
		var state uint32
		for range 40 {
			switch rng.IntN(6) {
			case 0:
				m.whole = m.whole || rng.IntN(2) == 0 // a new base
				if err := m.Save(); err != nil {
					t.Fatal(err)
				}
			case 1:
				if err := m.Save(); err != nil {
					t.Fatal(err)
				}
				m.Close()
				if m, err = Load(mem, "/m"); err != nil {
					t.Fatal(err)
				}
			case 2:
				state = rng.Uint32N(5)
				m.SetBase(state, [32]byte{byte(state)})
			default:
				var edits []Edit
				for range rng.IntN(5) {
					path := strings.Join(slices.Repeat([]string{string('a' + rune(rng.IntN(3)))}, 1+rng.IntN(4)), "/") + "/" +
						string('x'+rune(rng.IntN(3)))
					if rng.IntN(3) == 0 {
						edits = append(edits, Edit{Path: path, Delete: true})
						delete(want, path)
						continue
					}
					e := someEntry(rng)
					edits = append(edits, Edit{Path: path, Entry: e})
					want[path] = e
				}
				if err := m.Update(edits); err != nil {
					t.Fatal(err)
				}
			}
			if got := content(t, m); !maps.Equal(got, want) {
				t.Fatalf("seed %d: got %v\nwant %v", seed, got, want)
			}
			if s, id := m.Base(); s != state || id[0] != byte(state) {
				t.Fatalf("base is %d, want %d", s, state)
			}
		}
	}
}

func TestManifestOutgrownLogIsFolded(t *testing.T) {
	mem := vfs.NewMem()
	m, err := New(mem, "/m")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	folds, gen := 0, m.base.gen
	for i := range 3 * foldRecords / 10 {
		for j := range 10 {
			if err := m.Update([]Edit{{Path: fmt.Sprintf("d%d/f%d", i%10, j)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Save(); err != nil {
			t.Fatal(err)
		}
		if m.base.gen != gen {
			folds, gen = folds+1, m.base.gen
		}
		if m.log.records > foldRecords {
			t.Fatalf("the log has %d records", m.log.records)
		}
	}
	if folds < 2 || folds > 20 {
		t.Errorf("%d folds", folds)
	}
	if len(content(t, m)) != 100 {
		t.Error("entries got lost")
	}
}

func TestTwoProcessesSave(t *testing.T) {
	b := newMem(t)
	b.recorded(sample())
	load := func() *Manifest {
		m, err := Load(b.fs, b.meta())
		b.must(err)
		return m
	}
	for _, fold := range []bool{false, true} {
		status, commit, late := load(), load(), load()
		status.setDir("src", DirInfo{Ino: 77})
		status.whole = fold
		b.must(status.Save())
		state, _ := commit.Base()
		b.must(commit.Update([]Edit{{Path: "new", Entry: Entry{Size: 9}}}))
		commit.SetBase(state+1, [32]byte{9})
		b.must(commit.Save())
		late.setDir("src", DirInfo{Ino: 78})
		if err := late.Save(); !errors.Is(err, ErrStale) {
			t.Fatalf("got %v: a status must not save into another state", err)
		}
		now := load()
		if s, _ := now.Base(); s != state+1 || now.info(now.ref("src")).Ino != 77 {
			t.Fatal("one of two saves got lost")
		}
		if _, ok, _ := now.Lookup("new"); !ok {
			t.Fatal("the commit's entry got lost")
		}
	}
}

// A batch of the log counts whole or not at all, wherever a crash cuts or tears it.
func TestTornLog(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"f": text("f")})
	var states []map[string]Entry
	states = append(states, content(t, b.m))
	for i := range 3 {
		b.must(b.m.Update([]Edit{{Path: fmt.Sprint("n", i), Entry: Entry{Size: int64(i)}}, {Path: "f", Entry: Entry{Size: int64(i)}}}))
		b.m.SetBase(uint32(10+i), [32]byte{})
		b.must(b.m.Save())
		states = append(states, content(t, b.m))
	}
	name := filepath.Join(b.meta(), logName)
	whole, err := b.fs.ReadFile(name, maxLog)
	b.must(err)
	try := func(log []byte) {
		t.Helper()
		b.must(vfs.WriteFileAtomic(b.fs, name, log, false))
		m, err := Load(b.fs, b.meta())
		b.must(err)
		got := content(t, m)
		i := slices.IndexFunc(states, func(s map[string]Entry) bool { return maps.Equal(s, got) })
		if s, _ := m.Base(); i < 0 || i > 0 && s != uint32(9+i) {
			t.Fatalf("half a batch was taken: %v", got)
		}
		b.must(m.Update([]Edit{{Path: "after", Entry: Entry{}}}))
		b.must(m.Save())
		again, err := Load(b.fs, b.meta())
		b.must(err)
		if _, ok, _ := again.Lookup("after"); !ok || again.Len() != m.Len() {
			t.Fatal("what was saved after the crash got lost")
		}
	}
	for cut := range whole {
		try(whole[:cut])
	}
	for i := range whole {
		torn := slices.Clone(whole)
		torn[i] ^= 0x41
		try(torn)
	}
}

func TestDamageIsFound(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"f": text("f"), "d/g": text("g"), "d/e/h": text("h")})
	b.m.whole = true
	b.must(b.m.Save())
	name := filepath.Join(b.meta(), baseName)
	whole, err := b.fs.ReadFile(name, 1<<20)
	b.must(err)
	try := func(data []byte) {
		t.Helper()
		b.must(vfs.WriteFileAtomic(b.fs, name, data, false))
		m, err := Load(b.fs, b.meta())
		if err == nil {
			err = m.All(func(string, *Entry) bool { return true })
		}
		if !errors.Is(err, ErrDamaged) {
			t.Fatalf("got %v for a damaged manifest", err)
		}
	}
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 0x10
		try(bad)
		try(whole[:i])
	}
	b.must(b.fs.Remove(name))
	if _, err := Load(b.fs, b.meta()); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v for a missing manifest", err)
	}
}

func TestBuildRefusesImpossiblePaths(t *testing.T) {
	for _, paths := range [][]string{{"a", "a"}, {"a/b", "a"}, {""}, {"/a"}, {"a//b"}, {"../a"}, {"a/."}, {".oxy/x"}, {"d/.git/x"}, {"a\x00"}} {
		_, err := Build(vfs.NewMem(), "/m", 0, [32]byte{}, func(yield func(string, Entry) bool) {
			for _, p := range paths {
				if !yield(p, Entry{}) {
					return
				}
			}
		})
		if err == nil {
			t.Errorf("%q were accepted", paths)
		}
	}
}

// reseal makes the checksums right, so that fuzzing reaches what they protect.
func reseal(data []byte) {
	if len(data) < headSize {
		return
	}
	dirs, files := int(le.Uint32(data[56:])), int(le.Uint32(data[60:]))
	paths, names := int(le.Uint32(data[64:])), int(le.Uint32(data[68:]))
	rest := data[headSize:]
	if want := dirs*dirSize + paths + files*entrySize + names; dirs < 1<<20 && files < 1<<20 && want == len(rest) {
		dirTab, dirPaths := rest[:dirs*dirSize], rest[dirs*dirSize:][:paths]
		entries, names := rest[dirs*dirSize+paths:][:files*entrySize], rest[len(rest)-names:]
		for i := range dirs {
			r := dirTab[i*dirSize:]
			first, count := uint64(le.Uint32(r[8:])), uint64(le.Uint32(r[12:]))
			off, n := uint64(le.Uint32(r[24:])), uint64(le.Uint32(r[28:]))
			if first+count <= uint64(files) && off+n <= uint64(len(names)) {
				sum := xxh3.HashSeed(names[off:off+n], xxh3.Hash(entries[first*entrySize:(first+count)*entrySize]))
				le.PutUint64(r[72:], sum)
			}
		}
		le.PutUint64(data[72:], xxh3.HashSeed(dirPaths, xxh3.Hash(dirTab)))
	}
	le.PutUint64(data[80:], xxh3.Hash(data[:80]))
}

func FuzzManifest(f *testing.F) {
	for _, st := range []tree{{}, sample(), {"a/b/c": text(""), "a/d": text(""), "e/f": text("")}} {
		b := newMem(f)
		b.base(st)
		f.Add(b.m.base.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = slices.Clone(data)
		reseal(data)
		m, err := fromBytes(vfs.NewMem(), "/m", data)
		if err != nil {
			return
		}
		var last string
		n := 0
		err = m.All(func(path string, e *Entry) bool {
			if n > 0 && compareEntries(last, path) >= 0 && !strings.Contains(last+path, "//") {
				t.Fatalf("%q after %q", path, last)
			}
			last, n = path, n+1
			return true
		})
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		m.Lookup("a/b/c")
	})
}

func FuzzManifestLog(f *testing.F) {
	put := appendPutRecord(nil, "a/b", &Entry{Size: 1})
	put = appendRemoveRecord(put, "README")
	put = appendDirRecord(put, "src", &DirInfo{})
	put = appendBaseRecord(put, 7, &[32]byte{7})
	f.Add(put, 4)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, body []byte, records int) {
		b := newMem(t)
		b.base(sample())
		if err := b.m.applyRecords(body, min(records, len(body))); err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		content(t, b.m)
		if data, err := b.m.flatten(); err != nil {
			t.Fatal(err)
		} else if _, err := parse(data); err != nil {
			t.Fatal(err)
		}
	})
}
