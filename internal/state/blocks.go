// Package state stores what a state's tree is: for each path the file that stands there, for each file where it stands
// or when it went. All of it is derived from changes, local, checksummed, and may be thrown away: whoever meets
// ErrDamaged rebuilds it. It does not know how changes make a tree, nor what is inside a weave.
// The format is docs/spec/state.md.
package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// ErrDamaged says that stored blocks are missing or not what was written. Nothing is lost by it: the caller starts a
// new generation and rebuilds the trees from changes.
var ErrDamaged = errors.New("derived tree data is damaged")

// ErrVersion says, beside ErrDamaged, that another oxy wrote the trees in another version.
var ErrVersion = errors.New("it has another version")

// Ref finds a block: its offset in the file, and above that 16 bits of the block's hash. 0 is no block. The file is
// not synced: after a power failure an offset may hold a block of an earlier writer that was never published, whole and
// with a right checksum. Whoever refers to another block would then be deceived, but for those bits. What a block
// refers to was written before it, at a lower offset.
type Ref uint64

const refOffsetBits = 48 // 256 TiB

func (r Ref) offset() uint64 { return uint64(r) & (1<<refOffsetBits - 1) }

// The kinds of blocks.
const (
	kindRoots byte = 1 + iota
	kindPathLeaf
	kindPathInner
	kindFileLeaf
	kindFileInner
	kindWeave
	kindVacatedLeaf
	kindVacatedInner
	kindActs
	kindDisputes
	kindSet
	kindPackedWeave
)

const (
	fileMagic      = "oxytree\x03" // the last byte is the version
	fileHeaderSize = 24            // magic, generation, checksum of both
	blockHeadSize  = 9             // kind, length, checksum

	// maxBlock bounds a block's payload. The largest are weaves: it has room for eight million runs of eight bytes.
	maxBlock = 64 << 20

	// What was flushed stays in memory until it is worth a new mapping: earlier mappings must outlive the slices
	// that were given out, so there should be few.
	remapMin   = 8 << 20
	remapShare = 16

	treeSuffix = ".tree"
)

// Blocks is an append-only file of checksummed blocks and what was put since in memory. One process at a time may
// Flush, under the repository's lock; any number may read and put without ever flushing. Trees and weaves may be read and
// put by several goroutines; Flush, Compact and what concerns roots is for one at a time, and for no other beside it.
type Blocks struct {
	fsys       vfs.FS
	dir        string
	generation uint64

	mu      sync.RWMutex
	mapped  []byte // the first bytes of the file
	tail    tail   // what follows them
	flushed int    // so much of tail is in the file
	maps    []vfs.Mapping

	last  Ref    // the newest roots block
	live  uint64 // bytes that were in use when last counted
	chain rootChain
	moved map[Ref]Ref // see TakeMoved
}

// OpenBlocks maps the part of dir's tree file that the hint vouches for; what lies beyond is left over from a writer
// that did not finish. A hint with size 0 is a new generation with nothing in it, and needs no file yet. A file that
// is missing, too short or foreign is ErrDamaged. Without a file system, of a hint with size 0, blocks stay in memory: Flush writes
// nothing.
func OpenBlocks(fsys vfs.FS, dir string, h Hint) (*Blocks, error) {
	b := &Blocks{fsys: fsys, dir: dir, generation: h.Generation}
	if h.Size == 0 {
		b.tail.put(appendFileHeader(nil, h.Generation), nil)
		return b, nil
	}
	if err := b.remap(h.Size); err != nil {
		return nil, fmt.Errorf("open tree file %s: %w", b.name(), err)
	}
	b.last, b.live = h.Roots, h.Live
	b.chain.next = h.Roots
	return b, nil
}

// Close ends the mappings: no slice or tree from b may be used after.
func (b *Blocks) Close() error {
	var errs []error
	for _, m := range b.maps {
		errs = append(errs, m.Close())
	}
	b.maps, b.mapped, b.tail = nil, nil, tail{}
	return errors.Join(errs...)
}

// Release lets go of what of the file is in the process's memory.
func (b *Blocks) Release() {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, m := range b.maps {
		vfs.Release(m)
	}
}

// Generation is the number of b's file.
func (b *Blocks) Generation() uint64 { return b.generation }

// Pending reports whether blocks were put that are not in the file.
func (b *Blocks) Pending() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.flushed < b.tail.size
}

// Size is how many bytes the file has or will have once flushed.
func (b *Blocks) Size() uint64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.end()
}

func (b *Blocks) end() uint64 { return uint64(len(b.mapped) + b.tail.size) }

// put appends a block in memory. Payloads are at most maxBlock.
func (b *Blocks) put(kind byte, payload []byte) Ref {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.end()
	var head [blockHeadSize]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	sum := blockSum(b.generation, at, head[:5], payload)
	binary.LittleEndian.PutUint32(head[5:], uint32(sum))
	b.tail.put(head[:], payload)
	return Ref(at | sum>>refOffsetBits<<refOffsetBits)
}

// get returns the kind and payload of a block, checksum verified. The payload is a slice of the mapping, or of memory
// that is never written again, good until Close.
func (b *Blocks) get(ref Ref) (kind byte, payload []byte, err error) {
	b.mu.RLock()
	at, off := b.mapped, ref.offset()
	if off >= uint64(len(at)) {
		at, off = b.tail.from(off - uint64(len(at)))
	}
	b.mu.RUnlock()
	if ref.offset() < fileHeaderSize || off > uint64(len(at)) || uint64(len(at))-off < blockHeadSize {
		return 0, nil, damaged(ref, "lies outside the file")
	}
	head, rest := at[off:off+blockHeadSize], at[off+blockHeadSize:]
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxBlock || uint64(n) > uint64(len(rest)) {
		return 0, nil, damaged(ref, "has a length beyond the file")
	}
	payload = rest[:n:n]
	sum := blockSum(b.generation, ref.offset(), head[:5], payload)
	if binary.LittleEndian.Uint32(head[5:]) != uint32(sum) || sum>>refOffsetBits != uint64(ref)>>refOffsetBits {
		return 0, nil, damaged(ref, "has a wrong checksum")
	}
	return head[0], payload, nil
}

// getKind returns the payload of a block that must be of one kind.
func (b *Blocks) getKind(ref Ref, want byte) ([]byte, error) {
	kind, payload, err := b.get(ref)
	if err == nil && kind != want {
		err = damaged(ref, "is of another kind")
	}
	return payload, err
}

// Flush writes what was put since to the file, unsynced, and returns the hint under which it can be found. The caller
// publishes the hint; until then nobody sees the new blocks.
func (b *Blocks) Flush() (Hint, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fsys == nil {
		return Hint{Generation: b.generation, Size: b.end(), Roots: b.last, Live: b.live}, nil
	}
	if b.flushed < b.tail.size {
		if err := b.write(); err != nil {
			return Hint{}, fmt.Errorf("write tree file %s: %w", b.name(), err)
		}
		b.flushed = b.tail.size
	}
	if n := b.tail.size; n >= remapMin+len(b.mapped)/remapShare {
		if err := b.remap(b.end()); err != nil {
			return Hint{}, fmt.Errorf("map tree file %s: %w", b.name(), err)
		}
		b.tail, b.flushed = tail{}, 0
	}
	return Hint{Generation: b.generation, Size: b.end(), Roots: b.last, Live: b.live}, nil
}

func (b *Blocks) write() error {
	if err := b.fsys.MkdirAll(b.dir, 0o777); err != nil {
		return err
	}
	f, err := b.fsys.OpenFile(b.name(), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(b.writeTail(f), f.Close())
}

func (b *Blocks) writeTail(f vfs.File) error {
	// What is there beyond start was never published. It is written over, not cut off: that needs no care for those
	// who have the file mapped.
	start := int64(len(b.mapped) + b.flushed)
	var st vfs.Stat
	if err := f.Stat(&st); err != nil {
		return err
	}
	if st.Size < start {
		return fmt.Errorf("%w: the file shrank to %d bytes", ErrDamaged, st.Size)
	}
	return b.tail.writeFrom(b.flushed, f, start)
}

// remap maps the first size bytes of the file. The caller holds mu or is the only one.
func (b *Blocks) remap(size uint64) error {
	f, err := b.fsys.OpenFile(b.name(), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	} else if err != nil {
		return err
	}
	defer f.Close()
	var st vfs.Stat
	if err := f.Stat(&st); err != nil {
		return err
	}
	if size < fileHeaderSize || st.Size < 0 || size > uint64(st.Size) {
		return fmt.Errorf("%w: %d bytes, where %d are known", ErrDamaged, st.Size, size)
	}
	m, err := f.Map(int64(size))
	if err != nil {
		return err
	}
	data := m.Bytes()
	if uint64(len(data)) != size || string(data[:fileHeaderSize]) != string(appendFileHeader(nil, b.generation)) {
		version := len(fileMagic) - 1
		if uint64(len(data)) == size && string(data[:version]) == fileMagic[:version] && data[version] != fileMagic[version] {
			return errors.Join(fmt.Errorf("%w: %w", ErrDamaged, ErrVersion), m.Close())
		}
		_ = m.Close()
		return fmt.Errorf("%w: not the header of generation %d", ErrDamaged, b.generation)
	}
	for _, old := range b.maps {
		vfs.Release(old) // whoever reads it still does not need it in memory twice
	}
	b.maps, b.mapped = append(b.maps, m), data
	return nil
}

func (b *Blocks) name() string { return treeFile(b.dir, b.generation) }

func treeFile(dir string, generation uint64) string {
	return filepath.Join(dir, strconv.FormatUint(generation, 10)+treeSuffix)
}

// Generations lists the generations that have a file in dir, in no particular order. A missing dir has none.
func Generations(fsys vfs.FS, dir string) ([]uint64, error) {
	names, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list tree files: %w", err)
	}
	var all []uint64
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, treeSuffix)
		if g, err := strconv.ParseUint(digits, 10, 64); ok && err == nil {
			all = append(all, g)
		}
	}
	return all, nil
}

// RemoveGeneration deletes a generation's file, once a hint that names another is durable. Readers that have it mapped
// go on reading.
func RemoveGeneration(fsys vfs.FS, dir string, generation uint64) error {
	if err := fsys.Remove(treeFile(dir, generation)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove tree file: %w", err)
	}
	return nil
}

func appendFileHeader(buf []byte, generation uint64) []byte {
	start := len(buf)
	buf = append(buf, fileMagic...)
	buf = binary.LittleEndian.AppendUint64(buf, generation)
	return binary.LittleEndian.AppendUint64(buf, xxh3.Hash(buf[start:]))
}

// blockSum covers where the block stands besides what it says, so that a block in the wrong place is found out too.
// The block's head has the low 32 bits, refs to it the high 16.
func blockSum(generation, offset uint64, head, payload []byte) uint64 {
	var where [21]byte
	binary.LittleEndian.PutUint64(where[0:], generation)
	binary.LittleEndian.PutUint64(where[8:], offset)
	copy(where[16:], head)
	return xxh3.HashSeed(where[:], xxh3.Hash(payload))
}

func damaged(ref Ref, what string) error {
	return fmt.Errorf("%w: the block at %d %s", ErrDamaged, ref.offset(), what)
}
