package worktree

import (
	"encoding/binary"
	"fmt"
	"sort"
	"sync/atomic"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// The layout of the manifest file, docs/spec/manifest.md. All numbers are little endian.
const (
	baseMagic   = "oxymanif"
	baseVersion = 1

	headSize  = 88
	dirSize   = 80
	entrySize = 72

	// maxDirs and maxEntries keep every offset within 40 bits, so that no sum of them overflows: about a thousand times
	// the largest trees known.
	maxDirs    = 1 << 26
	maxEntries = 1 << 27
	// maxPath bounds a path, its length being kept in 16 bits. Linux allows 4096 bytes.
	maxPath = 1<<16 - 1
)

const (
	entryExec  = 1
	entryValid = 2
	// The alias takes the six bits above.
	aliasShift = 2
	maxAlias   = 63
)

var le = binary.LittleEndian

// base is a manifest file, mapped or just built. It does not change. Everything that is read from it is within bounds
// even when its checksums lie: parse checks the directory table, block each entry table.
type base struct {
	data  []byte
	state uint32
	id    [32]byte
	gen   uint64
	dirs  int
	files int

	dirTab, dirPaths, entryTab, names []byte

	checked []atomic.Uint32 // one bit for each directory whose block was found sound
}

// parse opens a manifest file's bytes without looking at its entries.
func parse(data []byte) (*base, error) {
	if len(data) < headSize || string(data[:8]) != baseMagic {
		return nil, fmt.Errorf("%w: no header", ErrDamaged)
	}
	if v := le.Uint32(data[8:]); v != baseVersion {
		return nil, fmt.Errorf("%w: version %d is unknown", ErrDamaged, v)
	}
	if le.Uint64(data[80:]) != xxh3.Hash(data[:80]) {
		return nil, fmt.Errorf("%w: checksum of the header", ErrDamaged)
	}
	b := &base{data: data, state: le.Uint32(data[12:]), gen: le.Uint64(data[48:])}
	copy(b.id[:], data[16:48])
	dirs, files := le.Uint32(data[56:]), le.Uint32(data[60:])
	pathsLen, namesLen := le.Uint32(data[64:]), le.Uint32(data[68:])
	if dirs == 0 || dirs > maxDirs || files > maxEntries {
		return nil, fmt.Errorf("%w: %d directories, %d entries", ErrDamaged, dirs, files)
	}
	want := headSize + uint64(dirs)*dirSize + uint64(pathsLen) + uint64(files)*entrySize + uint64(namesLen)
	if uint64(len(data)) != want {
		return nil, fmt.Errorf("%w: %d bytes where the header says %d", ErrDamaged, len(data), want)
	}
	b.dirs, b.files = int(dirs), int(files)
	rest := data[headSize:]
	b.dirTab, rest = rest[:b.dirs*dirSize], rest[b.dirs*dirSize:]
	b.dirPaths, rest = rest[:pathsLen], rest[pathsLen:]
	b.entryTab, b.names = rest[:b.files*entrySize], rest[b.files*entrySize:]
	if le.Uint64(data[72:]) != xxh3.HashSeed(b.dirPaths, xxh3.Hash(b.dirTab)) {
		return nil, fmt.Errorf("%w: checksum of the directories", ErrDamaged)
	}
	if err := b.checkDirs(); err != nil {
		return nil, err
	}
	b.checked = make([]atomic.Uint32, (b.dirs+31)/32)
	return b, nil
}

// checkDirs makes sure that walking the directory table ends and stays within the file.
func (b *base) checkDirs() error {
	var first, paths, names uint64
	var ends []uint32 // of the directories around the current one
	for i := range b.dirs {
		r := b.dirTab[i*dirSize:]
		pathOff, pathLen := uint64(le.Uint32(r)), uint64(le.Uint32(r[4:]))
		count, end, total := le.Uint32(r[12:]), le.Uint32(r[16:]), le.Uint32(r[20:])
		for len(ends) > 0 && ends[len(ends)-1] <= uint32(i) {
			ends = ends[:len(ends)-1]
		}
		limit := uint32(b.dirs)
		if len(ends) > 0 {
			limit = ends[len(ends)-1]
		}
		nested := i == 0 || len(ends) > 0
		if !nested || end <= uint32(i) || end > limit || i == 0 && (pathLen != 0 || int(end) != b.dirs) {
			return fmt.Errorf("%w: directory %d is out of place", ErrDamaged, i)
		}
		ends = append(ends, end)
		if pathOff != paths || pathLen > maxPath || paths+pathLen > uint64(len(b.dirPaths)) {
			return fmt.Errorf("%w: path of directory %d", ErrDamaged, i)
		}
		paths += pathLen
		if i > 0 && comparePaths(b.dirPath(i-1), b.dirPath(i)) >= 0 {
			return fmt.Errorf("%w: directory %d is out of order", ErrDamaged, i)
		}
		if uint64(le.Uint32(r[8:])) != first || first+uint64(count) > uint64(b.files) || total < count {
			return fmt.Errorf("%w: entries of directory %d", ErrDamaged, i)
		}
		first += uint64(count)
		nameOff, nameLen := uint64(le.Uint32(r[24:])), uint64(le.Uint32(r[28:]))
		if nameOff != names || names+nameLen > uint64(len(b.names)) {
			return fmt.Errorf("%w: names of directory %d", ErrDamaged, i)
		}
		names += nameLen
	}
	if first != uint64(b.files) || paths != uint64(len(b.dirPaths)) || names != uint64(len(b.names)) {
		return fmt.Errorf("%w: unused parts", ErrDamaged)
	}
	return nil
}

// dirPath is the path of a directory. It lives as long as the mapping.
func (b *base) dirPath(i int) string {
	r := b.dirTab[i*dirSize:]
	off, n := le.Uint32(r), le.Uint32(r[4:])
	return view(b.dirPaths[off : off+n])
}

// view is the bytes as a string without a copy: a scan names 78 000 files and must not allocate one.
func view(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }

// end is the number of the first directory that is not beneath directory i.
func (b *base) end(i int) int { return int(le.Uint32(b.dirTab[i*dirSize+16:])) }

// total counts the entries in and beneath directory i.
func (b *base) total(i int) int { return int(le.Uint32(b.dirTab[i*dirSize+20:])) }

func (b *base) info(i int) DirInfo {
	r := b.dirTab[i*dirSize:]
	return DirInfo{
		Mtime: int64(le.Uint64(r[32:])), Ctime: int64(le.Uint64(r[40:])), Ino: le.Uint64(r[48:]),
		Rules: le.Uint64(r[56:]), Flags: DirFlags(le.Uint32(r[64:])),
	}
}

// findDir is the number of a directory, or -1.
func (b *base) findDir(path string) int {
	i := sort.Search(b.dirs, func(i int) bool { return comparePaths(b.dirPath(i), path) >= 0 })
	if i < b.dirs && b.dirPath(i) == path {
		return i
	}
	return -1
}

// block is the entries of one directory, found sound.
type block struct {
	recs  []byte
	names []byte // the whole names area
}

// block checks the entries of directory i the first time that they are used.
func (b *base) block(i int) (block, error) {
	r := b.dirTab[i*dirSize : (i+1)*dirSize]
	first, count := int(le.Uint32(r[8:])), int(le.Uint32(r[12:]))
	blk := block{b.entryTab[first*entrySize : (first+count)*entrySize], b.names}
	bit := uint32(1) << (i % 32)
	if b.checked[i/32].Load()&bit != 0 {
		return blk, nil
	}
	off, n := le.Uint32(r[24:]), le.Uint32(r[28:])
	if le.Uint64(r[72:]) != xxh3.HashSeed(b.names[off:off+n], xxh3.Hash(blk.recs)) {
		return block{}, fmt.Errorf("%w: checksum of directory %q", ErrDamaged, b.dirPath(i))
	}
	next := off
	for j := range blk.len() {
		rec := blk.recs[j*entrySize:]
		nameOff, nameLen := le.Uint32(rec), uint32(le.Uint16(rec[4:]))
		if nameOff != next || nameLen == 0 || nameLen > off+n-next || Kind(rec[6]) >= numKinds ||
			j > 0 && blk.name(j-1) >= view(b.names[nameOff:nameOff+nameLen]) {
			return block{}, fmt.Errorf("%w: entry %d of directory %q", ErrDamaged, j, b.dirPath(i))
		}
		next += nameLen
	}
	if next != off+n {
		return block{}, fmt.Errorf("%w: names of directory %q", ErrDamaged, b.dirPath(i))
	}
	b.checked[i/32].Or(bit)
	return blk, nil
}

func (k block) len() int { return len(k.recs) / entrySize }

// name is the name of entry j. It lives as long as the mapping.
func (k block) name(j int) string {
	rec := k.recs[j*entrySize:]
	off, n := le.Uint32(rec), uint32(le.Uint16(rec[4:]))
	return view(k.names[off : off+n])
}

// entry decodes entry j into e.
func (k block) entry(j int, e *Entry) { decodeEntry(k.recs[j*entrySize+6:(j+1)*entrySize], e) }

// find is the index of a name and whether it is there.
func (k block) find(name string) (int, bool) {
	return sort.Find(k.len(), func(j int) int {
		if mid := k.name(j); name != mid {
			if name < mid {
				return -1
			}
			return 1
		}
		return 0
	})
}

// fieldsSize is the length of an entry without its name: all that base and log have in common.
const fieldsSize = entrySize - 6

func decodeEntry(r []byte, e *Entry) {
	_ = r[fieldsSize-1]
	e.Kind = Kind(r[0])
	e.Exec, e.Valid, e.Alias = r[1]&entryExec != 0, r[1]&entryValid != 0, r[1]>>aliasShift
	e.Mtime, e.Ctime = int64(le.Uint64(r[2:])), int64(le.Uint64(r[10:]))
	e.Size, e.Ino = int64(le.Uint64(r[18:])), le.Uint64(r[26:])
	copy(e.Hash[:], r[34:])
}

func appendEntry(buf []byte, e *Entry) []byte {
	flags := e.Alias << aliasShift
	if e.Exec {
		flags |= entryExec
	}
	if e.Valid {
		flags |= entryValid
	}
	buf = append(buf, byte(e.Kind), flags)
	buf = le.AppendUint64(buf, uint64(e.Mtime))
	buf = le.AppendUint64(buf, uint64(e.Ctime))
	buf = le.AppendUint64(buf, uint64(e.Size))
	buf = le.AppendUint64(buf, e.Ino)
	return append(buf, e.Hash[:]...)
}

func appendDirInfo(buf []byte, d *DirInfo) []byte {
	buf = le.AppendUint64(buf, uint64(d.Mtime))
	buf = le.AppendUint64(buf, uint64(d.Ctime))
	buf = le.AppendUint64(buf, d.Ino)
	buf = le.AppendUint64(buf, d.Rules)
	return le.AppendUint32(buf, uint32(d.Flags))
}
