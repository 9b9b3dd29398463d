package odb

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Of a pack with any one byte changed, every object is read as it was or is refused by its id.
func TestChangedByteIsNeverReadAsData(t *testing.T) {
	r := gittest.New(t)
	fill(r)
	r.Git("repack", "-adfq", "--depth=50")
	list := objects(r)
	packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.pack"))
	stem := strings.TrimSuffix(packs[0], ".pack")
	rng := rand.New(rand.NewPCG(5, 6))
	for _, ext := range []string{".pack", ".idx"} {
		whole, err := os.ReadFile(stem + ext)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := os.ReadFile(stem + map[string]string{".pack": ".idx", ".idx": ".pack"}[ext])
		for range 80 {
			b := bytes.Clone(whole)
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			mem := memRepo(t)
			put(t, mem, "/r/objects/pack/pack-1"+ext, b)
			put(t, mem, "/r/objects/pack/pack-1"+map[string]string{".pack": ".idx", ".idx": ".pack"}[ext], other)
			readAll(t, mem, list)
		}
		for range 15 {
			mem := memRepo(t)
			put(t, mem, "/r/objects/pack/pack-1"+ext, whole[:rng.IntN(len(whole))])
			put(t, mem, "/r/objects/pack/pack-1"+map[string]string{".pack": ".idx", ".idx": ".pack"}[ext], other)
			if _, err := Open(mem, "/r", Options{}); err == nil {
				t.Fatalf("a %s cut short is opened", ext)
			}
		}
	}
}

func memRepo(t testing.TB) vfs.FS {
	mem := vfs.NewMem()
	put(t, mem, "/r/HEAD", []byte("ref: refs/heads/main\n"))
	if err := mem.MkdirAll("/r/objects/pack", 0o777); err != nil {
		t.Fatal(err)
	}
	return mem
}

func put(t testing.TB, fsys vfs.FS, name string, b []byte) {
	t.Helper()
	if err := fsys.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFileAtomic(fsys, name, b, false); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, mem vfs.FS, list []string) {
	t.Helper()
	db, err := Open(mem, "/r", Options{})
	if err != nil {
		return
	}
	defer db.Close()
	reader := db.NewReader()
	for _, line := range list {
		hex, _, _ := strings.Cut(line, " ")
		id, err := object.ParseID(object.SHA1, hex)
		if err != nil {
			t.Fatal(err)
		}
		// What is read without an error has the right hash.
		if _, _, err := reader.Read(id, nil); err != nil && !strings.Contains(err.Error(), hex) {
			t.Errorf("%v does not name %s", err, hex)
		}
	}
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// varint is a size as a delta has it.
func varint(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// head is the type and size before an entry.
func head(typ byte, size uint64) []byte {
	b := []byte{typ<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return b
}

// hostile is a pack of entries, each reached by its offset.
func hostile(entries ...[]byte) (*Reader, *pack, []uint64) {
	p := &pack{name: "pack-x", idx: &index{size: 20, fanout: make([]byte, fanoutSize)}, data: make([]byte, packHeader)}
	var offs []uint64
	for _, e := range entries {
		offs = append(offs, uint64(len(p.data)))
		p.data = append(p.data, e...)
	}
	db := &DB{opt: Options{CacheBytes: 1 << 20, MaxObject: 1 << 30}, packs: []*pack{p}}
	return db.NewReader(), p, offs
}

func TestHostileEntries(t *testing.T) {
	// A chain of deltas longer than any, each to the entry before it.
	var chain [][]byte
	chain = append(chain, append(head(3, 1), deflate([]byte("x"))...))
	delta1 := deflate(append(append(varint(1), varint(1)...), 0x91, 0, 1))
	for range maxDeltaDepth + 1 {
		e := append(head(offsetDelta, 5), byte(len(chain[len(chain)-1])))
		chain = append(chain, append(e, delta1...))
	}
	base := append(head(3, 3), deflate([]byte("abc"))...)
	delta := func(b ...byte) [][]byte {
		e := append(head(offsetDelta, uint64(len(b))), byte(len(base)))
		return [][]byte{base, append(e, deflate(b)...)}
	}
	tests := []struct {
		name    string
		entries [][]byte
		want    error
	}{
		{"type 0", [][]byte{append(head(0, 1), deflate([]byte("x"))...)}, ErrCorrupt},
		{"type 5", [][]byte{append(head(5, 1), deflate([]byte("x"))...)}, ErrCorrupt},
		{"size of an exabyte", [][]byte{append(head(3, 1<<59), deflate([]byte("x"))...)}, ErrTooLarge},
		{"size of more than 60 bits", [][]byte{{0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}}, ErrCorrupt},
		{"a gigabyte from nothing", [][]byte{append(head(3, 1<<30), deflate([]byte("x"))...)}, ErrCorrupt},
		{"less than it says", [][]byte{append(head(3, 100), deflate([]byte("x"))...)}, ErrCorrupt},
		{"not zlib", [][]byte{append(head(3, 3), "abcdefgh"...)}, ErrCorrupt},
		{"base before the pack", [][]byte{append(head(offsetDelta, 3), 0x7f, 1, 2, 3)}, ErrCorrupt},
		{"base is itself", [][]byte{append(head(offsetDelta, 3), 0, 1, 2, 3)}, ErrCorrupt},
		{"base by an id that is not there", [][]byte{append(append(head(refDelta, 3), make([]byte, 20)...), deflate([]byte("abc"))...)}, ErrCorrupt},
		{"chain", chain, ErrCorrupt},
		{"delta for another base", delta(4, 1, 0x91, 0, 1), ErrCorrupt},
		{"delta beyond its base", delta(3, 2, 0x91, 2, 2), ErrCorrupt},
		{"delta of more than it says", delta(3, 2, 0x91, 0, 3), ErrCorrupt},
		{"delta of less than it says", delta(3, 3, 0x91, 0, 2), ErrCorrupt},
		{"delta with operation 0", delta(3, 3, 0x91, 0, 2, 0), ErrCorrupt},
		{"delta cut in a copy", delta(3, 3, 0x91, 0), ErrCorrupt},
		{"delta cut in an insert", delta(3, 3, 3, 'a'), ErrCorrupt},
		{"delta of a gigabyte", delta(append(append([]byte{3}, varint(1<<30)...), 0x91, 0, 3)...), ErrCorrupt},
		{"delta of two gigabytes", delta(append(append([]byte{3}, varint(1<<31)...), 0x91, 0, 3)...), ErrTooLarge},
		{"delta without sizes", delta(0x80, 0x80), ErrCorrupt},
	}
	for _, test := range tests {
		r, p, offs := hostile(test.entries...)
		if _, _, err := r.unpack(p, offs[len(offs)-1], nil); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// Two deltas by id that name each other.
func TestBasesInACircle(t *testing.T) {
	delta := deflate(append(append(varint(1), varint(1)...), 0x91, 0, 1))
	ids := [][]byte{bytes.Repeat([]byte{1}, 20), bytes.Repeat([]byte{2}, 20)}
	r, p, offs := hostile(
		append(append(head(refDelta, 5), ids[1]...), delta...),
		append(append(head(refDelta, 5), ids[0]...), delta...))
	x := &index{size: 20, version: 1, count: 2, fanout: make([]byte, fanoutSize)}
	for i := range 256 {
		binary.BigEndian.PutUint32(x.fanout[4*i:], uint32(min(i, 2)))
	}
	for i, id := range ids {
		x.names = append(binary.BigEndian.AppendUint32(x.names, uint32(offs[i])), id...)
	}
	p.idx = x
	if _, _, err := r.Read(object.SHA1.ID(ids[0]), nil); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// An index that gives two ids one place: what was verified under the one is not taken for the other.
func TestTwoIdsForOneObject(t *testing.T) {
	text := object.AppendEntry(nil, &object.Entry{Mode: object.ModeFile, Name: []byte("a"), ID: bytes.Repeat([]byte{9}, 20)})
	r, p, offs := hostile(append(head(byte(object.TreeKind), uint64(len(text))), deflate(text)...))
	id, _ := object.NewHasher(object.SHA1, nil).Sum(object.TreeKind, text)
	other := id
	other[19]++
	x := &index{size: 20, version: 1, fanout: make([]byte, fanoutSize)}
	for i := int(id[0]); i < 256; i++ {
		binary.BigEndian.PutUint32(x.fanout[4*i:], 2)
	}
	for _, id := range []object.ID{id, other} {
		x.names = append(binary.BigEndian.AppendUint32(x.names, uint32(offs[0])), id[:20]...)
	}
	p.idx = x
	for range 2 {
		if _, got, err := r.View(id); err != nil || !bytes.Equal(got, text) {
			t.Error(err)
		}
		if _, _, err := r.View(other); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	}
}

func TestHostileLooseObjects(t *testing.T) {
	id := object.ID{0xab, 19: 1}
	for text, want := range map[string]error{
		"":                         ErrCorrupt,
		"blob 3\x00ab":             ErrCorrupt,
		"blob 3\x00abc":            ErrCorrupt, // another id
		"blob 03\x00abc":           ErrCorrupt,
		"blob -1\x00abc":           ErrCorrupt,
		"blob 3abc":                ErrCorrupt,
		"blo\x00b 3\x00abc":        object.ErrKind,
		"blog 3\x00abc":            object.ErrKind,
		"blob 9999999999\x00abc":   ErrTooLarge,
		"blob 900000000\x00abc":    ErrCorrupt,
		strings.Repeat("blob", 99): ErrCorrupt,
	} {
		mem := memRepo(t)
		put(t, mem, loosePath("/r/objects", object.SHA1, id), deflate([]byte(text)))
		db, err := Open(mem, "/r", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := db.NewReader().Read(id, nil); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", text, err, want)
		}
	}
	mem := memRepo(t)
	put(t, mem, loosePath("/r/objects", object.SHA1, id), []byte("not deflated"))
	db, err := Open(mem, "/r", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []object.ID{id, {1}} {
		if _, _, err := db.NewReader().Read(id, nil); !errors.Is(err, map[bool]error{true: ErrCorrupt, false: ErrMissing}[id[0] == 0xab]) {
			t.Error(err)
		}
	}
}

// alarm is a detector that finds a collision in whatever has the word in it.
type alarm struct {
	hash.Hash
	heard bool
}

func (a *alarm) Reset() { a.Hash.Reset(); a.heard = false }

func (a *alarm) Write(b []byte) (int, error) {
	a.heard = a.heard || bytes.Contains(b, []byte("shattered"))
	return a.Hash.Write(b)
}

func (a *alarm) CollisionResistantSum(in []byte) ([]byte, bool) { return a.Sum(in), a.heard }

func TestCollisionIsRefused(t *testing.T) {
	r := gittest.New(t)
	bad, good := r.Object("blob", "it is shattered"), r.Object("blob", "it is whole")
	db := open(t, r.Dir, Options{Detect: func() object.Detector { return &alarm{Hash: sha1New()} }})
	for hex, want := range map[string]error{bad: object.ErrCollision, good: nil} {
		id, _ := object.ParseID(object.SHA1, hex)
		if _, _, err := db.NewReader().Read(id, nil); !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), hex) {
			t.Errorf("%s: %v", hex, err)
		}
	}
}
