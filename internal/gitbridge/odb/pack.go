package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// pack is a pack and its index, both mapped.
type pack struct {
	name   string // without directory and extension
	number uint64 // among the repository's packs
	idx    *index
	data   []byte // all of the pack but the checksum at its end

	maps []vfs.Mapping
	read atomic.Uint32 // entries
}

// heldEntries is how many entries are read before what was read leaves memory: the system maps up to 64 KiB for each, and a pack of
// gigabytes would all be held at last.
const heldEntries = 1024

// Types in a pack beside those of objects.
const (
	offsetDelta = 6
	refDelta    = 7
)

const packHeader = 12

// openPack opens stem.idx and stem.pack. The checksum of the whole pack is not computed, which would read all of it, but
// compared with the one that the index was made for.
func openPack(fsys vfs.FS, stem string, f object.Format) (*pack, error) {
	p := &pack{name: filepath.Base(stem)}
	if err := p.open(fsys, stem, f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.name, err), p.close())
	}
	return p, nil
}

func (p *pack) open(fsys vfs.FS, stem string, f object.Format) error {
	idx, err := p.mapFile(fsys, stem+".idx")
	if err != nil {
		return err
	}
	if p.idx, err = parseIndex(idx, f); err != nil {
		return err
	}
	data, err := p.mapFile(fsys, stem+".pack")
	if err != nil {
		return err
	}
	if len(data) < packHeader+f.Size() || string(data[:4]) != "PACK" {
		return fmt.Errorf("%w: not a pack", ErrCorrupt)
	}
	if v := binary.BigEndian.Uint32(data[4:]); v != 2 && v != 3 {
		return fmt.Errorf("%w: version %d of a pack", ErrUnsupported, v)
	}
	if n := binary.BigEndian.Uint32(data[8:]); n != p.idx.count {
		return fmt.Errorf("%w: pack has %d objects and its index %d", ErrCorrupt, n, p.idx.count)
	}
	end := len(data) - f.Size()
	if !bytes.Equal(data[end:], p.idx.pack) {
		return fmt.Errorf("%w: pack is not the one that its index was made for", ErrCorrupt)
	}
	p.data = data[:end]
	return nil
}

// mapFile maps a whole file. The file is closed again: a repository of a thousand packs would need two thousand open.
func (p *pack) mapFile(fsys vfs.FS, name string) (b []byte, err error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var st vfs.Stat
	if err := f.Stat(&st); err != nil {
		return nil, err
	}
	m, err := f.Map(st.Size)
	if err != nil {
		return nil, err
	}
	p.maps = append(p.maps, m)
	return m.Bytes(), nil
}

func (p *pack) close() error {
	var errs []error
	for _, m := range p.maps {
		errs = append(errs, m.Close())
	}
	p.maps, p.data, p.idx = nil, nil, nil
	return errors.Join(errs...)
}

// entry is what stands before an object's compressed bytes.
type entry struct {
	typ  byte
	size uint64 // of the object, or of the delta
	base uint64 // offset of an offsetDelta's base
	ref  []byte // id of a refDelta's base
	body []byte // from the compressed bytes to the end of the pack
}

// entryAt reads the entry at an offset. It is not trusted to lie where an entry begins.
func (p *pack) entryAt(off uint64, idSize int) (e entry, err error) {
	if p.read.Add(1)%heldEntries == 0 {
		for _, m := range p.maps {
			vfs.Release(m)
		}
	}
	if off < packHeader || off >= uint64(len(p.data)) {
		return e, fmt.Errorf("%w: offset %d of a pack of %d bytes", ErrCorrupt, off, len(p.data))
	}
	return parseEntry(p.data[off:], off, idSize)
}

func parseEntry(b []byte, off uint64, idSize int) (e entry, err error) {
	cut := func() error { return fmt.Errorf("%w: entry at %d is cut short or too large", ErrCorrupt, off) }
	if len(b) == 0 {
		return e, cut()
	}
	c := b[0]
	e.typ, e.size = c>>4&7, uint64(c&15)
	i, shift := 1, 4
	for ; c&0x80 != 0; i++ {
		if i == len(b) || shift > 60-7 {
			return e, cut()
		}
		c = b[i]
		e.size |= uint64(c&0x7f) << shift
		shift += 7
	}
	switch e.typ {
	case 1, 2, 3, 4:
	case offsetDelta:
		var back uint64
		for first := true; ; first = false {
			if i == len(b) || back > 1<<50 {
				return e, cut()
			}
			c = b[i]
			i++
			if !first {
				back++
			}
			back = back<<7 | uint64(c&0x7f)
			if c&0x80 == 0 {
				break
			}
		}
		if back == 0 || back > off {
			return e, fmt.Errorf("%w: entry at %d is a delta to %d bytes before it", ErrCorrupt, off, back)
		}
		e.base = off - back
	case refDelta:
		if len(b)-i < idSize {
			return e, cut()
		}
		e.ref = b[i : i+idSize]
		i += idSize
	default:
		return e, fmt.Errorf("%w: entry at %d has type %d", ErrCorrupt, off, e.typ)
	}
	e.body = b[i:]
	return e, nil
}
