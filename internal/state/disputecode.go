package state

import (
	"encoding/binary"

	"github.com/oxy-vcs/oxy/internal/change"
)

// The flags of a dispute in a block.
const (
	disputeMoved  byte = 1 << iota // Shown is not Place
	disputeHidden                  // an entry follows
	disputeDir
	disputeMeets // files follow
	disputeUnknown
)

const (
	// minDisputeSize is the least that a dispute takes in a block: kinds, flags, two numbers of the file, and a place of
	// one byte with its length.
	minDisputeSize = 6
	minFileIDSize  = 2
)

// appendDisputes writes the first disputes of a list as a block, until it has fill bytes, and says how many those are.
func appendDisputes(buf []byte, list []Dispute, fill int) ([]byte, int) {
	var items []byte
	n := 0
	for ; n < len(list) && len(items) < fill; n++ {
		items = appendDispute(items, &list[n])
	}
	return append(binary.AppendUvarint(buf, uint64(n)), items...), n
}

func appendDispute(buf []byte, d *Dispute) []byte {
	var flags byte
	if d.Shown != d.Place {
		flags |= disputeMoved
	}
	if d.Hidden != nil {
		flags |= disputeHidden
	}
	if d.Dir {
		flags |= disputeDir
	}
	if len(d.Meets) > 0 {
		flags |= disputeMeets
	}
	buf = appendFileID(append(buf, byte(d.Kinds), flags), d.File)
	buf = append(binary.AppendUvarint(buf, uint64(len(d.Place))), d.Place...)
	if d.Shown != d.Place {
		buf = append(binary.AppendUvarint(buf, uint64(len(d.Shown))), d.Shown...)
	}
	if len(d.Meets) > 0 {
		buf = binary.AppendUvarint(buf, uint64(len(d.Meets)))
		for _, id := range d.Meets {
			buf = appendFileID(buf, id)
		}
	}
	if e := d.Hidden; e != nil {
		buf = appendValues(append(buf, entryFlags(e)), e)
	}
	return buf
}

// countDisputes says how many disputes a block has, never more than its bytes have room for: the bound of what is
// allocated.
func countDisputes(payload []byte) (uint64, bool) {
	r := reader{buf: payload}
	n := r.uvarint()
	return n, !r.bad && n > 0 && n <= uint64(len(r.buf)/minDisputeSize)
}

// decodeDisputes appends the disputes of one block, ascending by file. Their paths are slices of one string.
func decodeDisputes(self Ref, payload []byte, list []Dispute) ([]Dispute, bool) {
	if _, ok := countDisputes(payload); !ok {
		return list, false
	}
	d := disputeReader{reader: reader{buf: payload}, self: self, text: string(payload)}
	start := len(list)
	for range d.uvarint() {
		list = append(list, Dispute{})
		n := len(list) - 1
		d.dispute(&list[n])
		if n > start && compareFiles(list[n-1].File, list[n].File) >= 0 {
			d.fail()
		}
		if d.bad {
			return list[:start], false
		}
	}
	if len(d.buf) > 0 {
		return list[:start], false
	}
	return list, true
}

type disputeReader struct {
	reader
	self  Ref
	text  string          // the payload
	meets []change.FileID // of all disputes, side by side
}

func (r *disputeReader) dispute(d *Dispute) {
	d.Kinds = Disputed(r.byte())
	flags := r.byte()
	if d.Kinds >= disputedUnknown || flags >= disputeUnknown {
		r.fail()
	}
	if flags&(disputeDir|disputeMeets) != 0 && d.Kinds&DisputedName == 0 {
		r.fail()
	}
	d.File = r.fileID()
	if d.Place = r.path(); d.Place == "" {
		r.fail()
	}
	d.Shown = d.Place
	if flags&disputeMoved != 0 {
		if d.Shown = r.path(); d.Shown == d.Place || d.Shown == "" && flags&disputeHidden != 0 {
			r.fail()
		}
	}
	d.Dir = flags&disputeDir != 0
	if flags&disputeMeets != 0 {
		d.Meets = r.files(d.File)
	}
	if flags&disputeHidden != 0 {
		d.Hidden = &Entry{Path: d.Place, File: d.File}
		values := r.byte()
		if values&entryNext != 0 {
			r.fail()
		}
		r.values(r.self, values, d.Hidden)
	}
}

// path reads a path of any length up to MaxPath.
func (r *disputeReader) path() string {
	n := r.uvarint()
	if n > MaxPath || n > uint64(len(r.buf)) {
		r.fail()
		return ""
	}
	at := len(r.text) - len(r.buf)
	r.buf = r.buf[n:]
	return r.text[at : at+int(n)]
}

// files reads one or more ascending files, none of which is self.
func (r *disputeReader) files(self change.FileID) []change.FileID {
	n := r.uvarint()
	if n == 0 || n > uint64(len(r.buf)/minFileIDSize) {
		r.fail()
		return nil
	}
	start := len(r.meets)
	for i := range int(n) {
		id := r.fileID()
		if id == self || i > 0 && compareFiles(r.meets[len(r.meets)-1], id) >= 0 {
			r.fail()
		}
		if r.bad {
			return nil
		}
		r.meets = append(r.meets, id)
	}
	return r.meets[start:len(r.meets):len(r.meets)]
}
