package revlog

import (
	"encoding/binary"
	"math"
)

// Flags of a revision, as "hg help internals.revlogs" defines them for version 1.
type Flags uint16

const (
	// FlagCensored: the text was replaced by a tombstone, its hash no longer matches.
	FlagCensored Flags = 1 << 15
	// FlagEllipsis: a narrow clone cut history here; the hash is that of the text with its true parents.
	FlagEllipsis Flags = 1 << 14
	// FlagExternal: what is stored points to the text (LFS); the hash is the text's.
	FlagExternal Flags = 1 << 13
	// FlagCopies: the changeset has copy information beside its text. It changes nothing about the text.
	FlagCopies Flags = 1 << 12

	knownFlags = FlagCensored | FlagEllipsis | FlagExternal | FlagCopies
	// unhashed are flags under which the stored text is not what the node id hashes.
	unhashed = FlagCensored | FlagEllipsis | FlagExternal
)

// Entry is what the index says of one revision.
type Entry struct {
	Offset int64 // where its chunk begins, bytes, counted without the entries of an inline index
	Stored int32 // length of the chunk, bytes; 0 is an empty text or a delta that changes nothing
	Size   int32 // length of the raw text, bytes; -1 where the format does not say
	Base   Rev   // what the chunk is a delta against as written in the index; see Log.Base for what it means
	Link   Rev   // the changeset that brought it; for a changelog itself
	P1, P2 Rev
	Flags  Flags
	Node   Node
}

// Sizes of an index entry.
const (
	entrySizeV0 = 76
	entrySizeV1 = 64
	entrySizeV2 = 96
)

// decodeV1 reads the 64 bytes of a version 1 entry. The first one's offset holds the file's header in its upper four
// bytes: its chunk begins at 0.
func (e *Entry) decodeV1(b *[entrySizeV1]byte, rev Rev) {
	offset := binary.BigEndian.Uint64(b[:])
	if rev == 0 {
		offset &= 1<<32 - 1
	}
	lengths, revs, parents := binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint64(b[24:])
	e.Offset = int64(offset >> 16)
	e.Stored, e.Size = int32(lengths>>32), int32(lengths)
	e.Base, e.Link = Rev(revs>>32), Rev(revs)
	e.P1, e.P2 = Rev(parents>>32), Rev(parents)
	e.Flags = Flags(offset)
	e.Node = Node(b[32:52])
}

// append writes the 64 bytes of a version 1 entry; header is that of the file if this is the first.
func (e *Entry) append(b []byte, header uint32) []byte {
	first := uint64(e.Offset)<<16 | uint64(e.Flags)
	if len(b) == 0 {
		first |= uint64(header) << 32
	}
	b = binary.BigEndian.AppendUint64(b, first)
	for _, v := range [...]int32{e.Stored, e.Size, int32(e.Base), int32(e.Link), int32(e.P1), int32(e.P2)} {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	b = append(b, e.Node[:]...)
	return append(b, make([]byte, 12)...)
}

// decodeV0 reads the 76 bytes of a version 0 entry, all but the parents, which are node ids there.
func (e *Entry) decodeV0(b []byte) {
	_ = b[entrySizeV0-1]
	e.Offset = int64(binary.BigEndian.Uint32(b))
	e.Flags = 0
	e.Stored = int32(binary.BigEndian.Uint32(b[4:]))
	e.Size = -1
	e.Base = Rev(binary.BigEndian.Uint32(b[8:]))
	e.Link = Rev(binary.BigEndian.Uint32(b[12:]))
	e.P1, e.P2 = Null, Null
	e.Node = Node(b[56:76])
}

// sound reports whether the entry contradicts itself. It is one line of compares, since it runs for every entry read;
// fault finds the words.
func (e *Entry) sound(rev Rev) bool {
	return e.Stored|(e.Size+1)|int32(e.Base+1)|int32(e.P1+1)|int32(e.P2+1)|int32(e.Link+1) >= 0 &&
		e.Base <= rev && e.P1 < rev && e.P2 < rev
}

// fault says what is wrong with an entry that is not sound.
func (e *Entry) fault(rev Rev) error {
	switch {
	case e.Stored < 0:
		return corrupt("its chunk's length is %d", e.Stored)
	case e.Size < -1 || e.Size == math.MaxInt32:
		return corrupt("its text's length is %d", e.Size)
	case e.Base < Null:
		return corrupt("its delta base is %d", e.Base)
	case e.Base > rev:
		return corrupt("its delta base %d lies ahead", e.Base)
	case e.P1 < Null || e.P2 < Null:
		return corrupt("its parents are %d and %d", e.P1, e.P2)
	case e.P1 >= rev || e.P2 >= rev:
		return corrupt("a parent of its, %d or %d, lies ahead", e.P1, e.P2)
	default:
		return corrupt("its link revision is %d", e.Link)
	}
}
