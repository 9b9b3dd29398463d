package state

import (
	"encoding/binary"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Entry is a living file of a state. FileIDs are bound: they hold local change numbers.
type Entry struct {
	Path string
	File change.FileID
	Kind change.Kind
	Exec bool
	Size uint64      // of the content as it is shown, in bytes
	Hash change.Hash // of that content; zero with a Size above 0 means that nobody has computed it yet
	// Weave is the block of its text's weave, or 0: a text nobody edited is what its change inserted.
	Weave Ref
	// Acts is the last block of what was done to the file beside adding it and editing its text, or 0: nothing.
	Acts Ref
	// Which change and file ordinal wrote each standing value. They must be set; where they equal File, as in a file
	// that was only added, they take no room.
	Place, Mode, Body change.FileID
}

// HashKnown reports whether Hash (or an empty content) says what the content is.
func (e *Entry) HashKnown() bool { return e.Size == 0 || e.Hash != change.Hash{} }

// The flags of an entry in a page.
const (
	entryKindMask byte = 3
	entryExec     byte = 1 << 2
	entryNext     byte = 1 << 3 // the file is the one after the previous entry's, of the same change
	entryHash     byte = 1 << 4
	entryWeave    byte = 1 << 5
	entryWriters  byte = 1 << 6
	entryActs     byte = 1 << 7
)

// The writers that differ from the file itself.
const (
	writerPlace byte = 1 << iota
	writerMode
	writerBody
	writerUnknown
)

// appendEntry writes e as it follows prev in a page, or as a page's first with prev nil.
func appendEntry(buf []byte, prev, e *Entry) []byte {
	n := 0
	flags := entryFlags(e)
	if prev != nil {
		n = shared(prev.Path, e.Path)
		if follows(prev.File, e.File) {
			flags |= entryNext
		}
	}
	buf = appendKey(buf, n, e.Path)
	buf = append(buf, flags)
	if flags&entryNext == 0 {
		buf = appendFileID(buf, e.File)
	}
	return appendValues(buf, e)
}

// entryFlags are the flags of an entry by itself.
func entryFlags(e *Entry) byte {
	flags := byte(e.Kind) & entryKindMask
	if e.Exec {
		flags |= entryExec
	}
	if e.Hash != (change.Hash{}) {
		flags |= entryHash
	}
	if e.Weave != 0 {
		flags |= entryWeave
	}
	if e.Acts != 0 {
		flags |= entryActs
	}
	if e.writers() != 0 {
		flags |= entryWriters
	}
	return flags
}

func (e *Entry) writers() (set byte) {
	if e.Place != e.File {
		set |= writerPlace
	}
	if e.Mode != e.File {
		set |= writerMode
	}
	if e.Body != e.File {
		set |= writerBody
	}
	return set
}

// appendValues writes what follows the flags and the file.
func appendValues(buf []byte, e *Entry) []byte {
	buf = binary.AppendUvarint(buf, e.Size)
	if e.Hash != (change.Hash{}) {
		buf = append(buf, e.Hash[:]...)
	}
	if e.Weave != 0 {
		buf = appendRef(buf, e.Weave)
	}
	if e.Acts != 0 {
		buf = appendRef(buf, e.Acts)
	}
	if writers := e.writers(); writers != 0 {
		buf = append(buf, writers)
		for i, id := range [...]change.FileID{e.Place, e.Mode, e.Body} {
			if writers&(1<<i) != 0 {
				buf = appendFileID(buf, id)
			}
		}
	}
	return buf
}

// entry reads all of an entry but its path. last is the file of the entry before it, first whether there is none.
func (r *reader) entry(self Ref, last change.FileID, first bool, e *Entry) {
	flags := r.byte()
	if flags&entryNext != 0 {
		e.File = change.FileID{Change: last.Change, Ord: last.Ord + 1}
		if first || e.File.Ord == 0 {
			r.fail()
		}
	} else if e.File = r.fileID(); !first && follows(last, e.File) {
		r.fail()
	}
	r.values(self, flags, e)
}

// values reads what follows the flags and the file of an entry.
func (r *reader) values(self Ref, flags byte, e *Entry) {
	e.Kind = change.Kind(flags & entryKindMask)
	e.Exec = flags&entryExec != 0
	e.Size = r.uvarint()
	e.Hash = change.Hash{}
	if flags&entryHash != 0 {
		copy(e.Hash[:], r.bytes(uint64(len(e.Hash))))
		if e.Hash == (change.Hash{}) {
			r.fail()
		}
	}
	e.Weave = r.flaggedRef(self, flags&entryWeave != 0)
	e.Acts = r.flaggedRef(self, flags&entryActs != 0)
	e.Place, e.Mode, e.Body = e.File, e.File, e.File
	if flags&entryWriters != 0 {
		r.writers(e)
	}
}

func (r *reader) writers(e *Entry) {
	writers := r.byte()
	if writers == 0 || writers >= writerUnknown {
		r.fail()
	}
	for i, id := range [...]*change.FileID{&e.Place, &e.Mode, &e.Body} {
		if writers&(1<<i) != 0 {
			if *id = r.fileID(); *id == e.File {
				r.fail()
			}
		}
	}
}

// follows reports whether b is the file after a in the same change.
func follows(a, b change.FileID) bool {
	return a.Change == b.Change && b.Ord == a.Ord+1 && b.Ord != 0
}

// decodeEntries appends the entries of a leaf to items. The paths are slices of one string.
func decodeEntries(self Ref, payload []byte, items []Entry, s *scratch) ([]Entry, bool) {
	r := reader{buf: payload}
	s.reset()
	start := len(items)
	var last change.FileID
	for first := true; len(r.buf) > 0; first = false {
		s.key(&r, byPath, first)
		items = append(items, Entry{})
		e := &items[len(items)-1]
		r.entry(self, last, first, e)
		last = e.File
	}
	if r.bad || s.starts[min(1, len(s.starts)-1)] == 0 { // only an inner page's first key may be empty
		return items[:start], false
	}
	text := string(s.text)
	for i := range items[start:] {
		items[start+i].Path = text[s.starts[i]:s.starts[i+1]]
	}
	return items, true
}

// findEntry looks for a path in a leaf.
func findEntry(self Ref, payload []byte, path string) (e Entry, found, ok bool) {
	r := reader{buf: payload}
	f := finder{order: byPath, want: path}
	var last change.FileID
	for first := true; len(r.buf) > 0; first = false {
		shares, suffix := r.key()
		r.entry(self, last, first, &e)
		if r.bad {
			return Entry{}, false, false
		}
		switch f.next(shares, suffix) {
		case 0:
			e.Path = path
			return e, true, true
		case 1:
			return Entry{}, false, true
		}
		last = e.File
	}
	return Entry{}, false, !r.bad
}
