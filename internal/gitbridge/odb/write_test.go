package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

func TestGitReadsWhatIsWritten(t *testing.T) {
	for _, init := range [][]string{nil, {"--object-format=sha256"}} {
		r := gittest.New(t, init...)
		db := open(t, r.Dir, Options{})
		w, err := NewPackWriter(db)
		if err != nil {
			t.Fatal(err)
		}
		want := map[object.ID]string{}
		for i := range 300 {
			text := strings.Repeat(fmt.Sprint(i, " "), i*i%3000)
			for range 2 { // the second is not written
				id, err := w.Add(object.BlobKind, []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				want[id] = text
			}
		}
		var tree []byte
		blob, _ := w.Add(object.BlobKind, nil)
		tree = object.AppendEntry(tree, &object.Entry{Mode: object.ModeFile, Name: []byte("f"), ID: blob[:db.Format.Size()]})
		root, err := w.Add(object.TreeKind, tree)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := object.JoinCommit(db.Format, root, nil, object.Native{Person: object.Person{Name: "A", Email: "a@b", Sec: 1}, Message: "m"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tip, err := w.Add(object.CommitKind, raw)
		if err != nil {
			t.Fatal(err)
		}
		name, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		loose, err := db.WriteLoose(object.BlobKind, []byte("loose"))
		if err != nil {
			t.Fatal(err)
		}
		want[loose] = "loose"
		r.Git("update-ref", "refs/heads/main", string(db.Format.AppendHex(nil, tip)))
		r.Git("fsck", "--strict", "--full")
		r.Git("verify-pack", filepath.Join(r.Dir, ".git/objects/pack", name+".idx"))
		for _, line := range objects(r) {
			if strings.Contains(line, "missing") {
				t.Error(line)
			}
		}
		db = open(t, r.Dir, Options{})
		reader := db.NewReader()
		for id, text := range want {
			if _, b, err := reader.View(id); err != nil || string(b) != text || !db.Has(id) {
				t.Fatalf("%s: %d bytes, want %d: %v", id, len(b), len(text), err)
			}
		}
		if db.Has(object.ID{1}) {
			t.Error("it has what was never written")
		}
		left, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*tmp*"))
		if len(left) > 0 {
			t.Error(left)
		}
	}
}

func TestPackThatIsGivenUpLeavesNothing(t *testing.T) {
	r := gittest.New(t)
	db := open(t, r.Dir, Options{})
	for _, add := range []int{0, 5} {
		w, err := NewPackWriter(db)
		if err != nil {
			t.Fatal(err)
		}
		for i := range add {
			if _, err := w.Add(object.BlobKind, []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if add == 0 {
			if name, err := w.Finish(); name != "" || err != nil {
				t.Error(name, err)
			}
		} else if err := w.Abort(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(filepath.Join(r.Dir, ".git/objects/pack")); len(left) > 0 {
			t.Error(left)
		}
	}
}

// An index with offsets beyond 2 GiB is read as it was written, though no test writes such a pack.
func TestLargeOffsetsInAnIndex(t *testing.T) {
	w := &PackWriter{}
	for i := range 300 {
		var id object.ID
		binary.BigEndian.PutUint32(id[:], uint32(i)*0x00d00001)
		w.entries = append(w.entries, packed{id: id, off: uint64(i) << 26, crc: uint32(i)})
	}
	b := w.index(bytes.Repeat([]byte{7}, 20))
	x, err := parseIndex(b, object.SHA1)
	if err != nil || x.count != 300 {
		t.Fatal(err)
	}
	for _, e := range w.entries {
		rank, found := x.find(e.id[:20])
		if off, valid := x.offset(rank); !found || !valid || off != e.off {
			t.Fatalf("%s: %d, want %d", e.id, off, e.off)
		}
	}
}

// export writes a pack of two objects and tells whether it was finished.
func export(t *testing.T, fsys vfs.FS) bool {
	t.Helper()
	db, err := Open(fsys, "/r", Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewPackWriter(db)
	if err != nil {
		return false
	}
	for _, text := range []string{"one", strings.Repeat("two", packBuffer)} {
		if _, err := w.Add(object.BlobKind, []byte(text)); err != nil {
			_ = w.Abort() // the disk may be gone
			return false
		}
	}
	_, err = w.Finish()
	return err == nil
}

// holds tells whether both objects are read; with one of them alone the test fails.
func holds(t *testing.T, fsys vfs.FS) bool {
	t.Helper()
	db, err := Open(fsys, "/r", Options{})
	if err != nil {
		t.Fatal(err)
	}
	hasher := object.NewHasher(object.SHA1, nil)
	found := 0
	for _, text := range []string{"one", strings.Repeat("two", packBuffer)} {
		id, _ := hasher.Sum(object.BlobKind, []byte(text))
		if _, _, err := db.NewReader().View(id); err == nil {
			found++
		} else if !errors.Is(err, ErrMissing) {
			t.Fatal(err)
		}
	}
	if found == 1 {
		t.Fatal("half of a pack is there")
	}
	return found == 2
}

// Whatever call fails, and wherever the machine stops: a pack that was finished is there, and of any other all or nothing.
func TestPackOnABadDisk(t *testing.T) {
	for _, mode := range []vfs.FaultMode{0, vfs.FaultStays, vfs.FaultShort | vfs.FaultStays} {
		for n := 1; ; n++ {
			mem := memRepo(t).(*vfs.Mem)
			if err := errors.Join(mem.SyncDir("/r/objects"), mem.SyncDir("/r"), mem.SyncDir("/")); err != nil {
				t.Fatal(err)
			}
			faulty := vfs.Inject(mem, n, errors.New("disk"), mode)
			done := export(t, faulty)
			if done && !holds(t, mem) {
				t.Fatalf("call %d: finished, and not there", n)
			}
			holds(t, mem)
			// A pack without an index is nothing to Git; one that has it was complete but for the last sync.
			names, _ := mem.ReadDir("/r/objects/pack")
			if mode == 0 && strings.Contains(fmt.Sprint(names), "tmp") {
				t.Errorf("call %d leaves %v", n, names)
			}
			for seed := range uint64(4) {
				after := mem.Crash(rand.New(rand.NewPCG(seed, 1)))
				if seed == 0 {
					after = mem.CrashWorst()
				}
				var st vfs.Stat
				if after.Lstat("/r/HEAD", &st) != nil {
					continue // the repository's own files were never synced
				}
				if there := holds(t, after); done && !there {
					t.Fatalf("call %d: finished, and lost", n)
				}
			}
			if !faulty.Fired() {
				break
			}
		}
	}
}
