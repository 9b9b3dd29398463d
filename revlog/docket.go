package revlog

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// docket is what the ".i" file of Mercurial's experimental version 2 and "changelog v2" holds: the names of the true index
// and data file, and how much of them counts. (mercurial/revlogutils/docket.py describes it in its comments.)
type docket struct {
	indexSize, dataSize int64
	compression         byte // what a chunk in mode "default" is compressed with, as its first byte would say
}

// docketHeader is the length of the fixed part: version, three pairs of an id's length and a number of old ids, six sizes,
// the compression.
const docketHeader = 4 + 6 + 6*4 + 1

// maxDocket bounds a docket: 3 ids of up to 255 bytes and 765 old ones.
const maxDocket = 1 << 19

// openDocket takes what was loaded as the index for the docket that it is, and loads the index it names.
func (l *Log) openDocket() error {
	if l.index.size > maxDocket {
		return fmt.Errorf("%w: a docket of %d bytes", ErrTooLarge, l.index.size)
	}
	if err := l.index.bring(); err != nil {
		return err
	}
	b := l.index.b
	if len(b) < docketHeader {
		return corrupt("its docket has %d bytes", len(b))
	}
	sizes := b[10:]
	d := &docket{
		indexSize:   int64(binary.BigEndian.Uint32(sizes)),
		dataSize:    int64(binary.BigEndian.Uint32(sizes[8:])),
		compression: sizes[24],
	}
	rest := b[docketHeader:]
	var ids [3]string
	for i := range ids {
		size, old := int(b[4+2*i]), int(b[5+2*i])
		if len(rest) < size {
			return corrupt("its docket ends inside a name")
		}
		ids[i] = string(rest[:size])
		rest = rest[size:]
		// Old files' names: the lengths of all first, five bytes each.
		if len(rest) < 5*old {
			return corrupt("its docket ends inside its old names")
		}
		skip := 5 * old
		for k := range old {
			skip += int(rest[5*k])
		}
		if len(rest) < skip {
			return corrupt("its docket ends inside its old names")
		}
		rest = rest[skip:]
	}
	for _, id := range ids[:2] {
		if strings.Trim(id, "0123456789abcdef") != "" {
			return corrupt("its docket names files by %q, want hexadecimal digits", id)
		}
	}
	radix := strings.TrimSuffix(l.path, ".i")
	if err := l.index.close(); err != nil {
		return err
	}
	l.index.size, l.index.closed = 0, false
	l.docket = d
	l.data.path = radix + "-" + ids[1] + ".dat"
	if d.indexSize == 0 {
		return nil
	}
	if err := l.index.open(l.fs, radix+"-"+ids[0]+".idx"); err != nil {
		return err
	}
	return l.index.limit(d.indexSize)
}

// decodeV2 reads the 96 bytes of a version 2 entry: the 64 of version 1, then what lies beside the text.
func (e *Entry) decodeV2(b []byte) {
	_ = b[entrySizeV2-1]
	e.decodeV1((*[entrySizeV1]byte)(b), Null)
}

// decodeChangelog2 reads the 96 bytes of a changelog v2 entry: a changelog has no deltas and links to itself, so neither is
// written.
func (e *Entry) decodeChangelog2(b []byte, rev Rev) {
	_ = b[entrySizeV2-1]
	offset := binary.BigEndian.Uint64(b)
	e.Offset, e.Flags = int64(offset>>16), Flags(offset)
	e.Stored = int32(binary.BigEndian.Uint32(b[8:]))
	e.Size = int32(binary.BigEndian.Uint32(b[12:]))
	e.P1 = Rev(binary.BigEndian.Uint32(b[16:]))
	e.P2 = Rev(binary.BigEndian.Uint32(b[20:]))
	e.Base, e.Link = rev, rev
	e.Node = Node(b[24:44])
}

// How a chunk of version 2 says what it is compressed with.
const (
	modePlain   = 0 // it is not
	modeDefault = 1 // as the docket says
	modeInline  = 2 // by its first byte, as in version 1
)

// chunkMode of a revision of version 2.
func (l *Log) chunkMode(rev Rev) byte {
	b := l.raw(rev)
	if l.version == versionChangelog2 {
		return b[68] & 3
	}
	return b[76] & 3
}
