package store

import (
	"encoding/binary"
	"math"

	"github.com/oxy-vcs/oxy/internal/change"
)

// A base has changes and ops many to a frame. Compressed together they take half of what they take alone: neighbours
// share names, words and bytes of their encoding.

// packedItem is what the contents of a CHANGES frame tell of one change before all fields.
type packedItem struct {
	time    int64
	flags   uint16
	lengths [numFields]uint32
	deps    []uint32 // numbers
}

// appendChangesTable appends the table for changes from number first on.
func appendChangesTable(b []byte, first uint32, ids []change.ID) []byte {
	b = binary.LittleEndian.AppendUint32(b, first)
	for i := range ids {
		b = append(b, ids[i][:]...)
	}
	return b
}

// appendPackedItem appends what is told of change n, the one before having that time.
func appendPackedItem(b []byte, n uint32, before int64, it *packedItem) []byte {
	b = binary.AppendVarint(b, it.time-before) // may wrap, and back when it is read
	b = append(b, byte(it.flags))
	for _, l := range it.lengths {
		b = binary.AppendUvarint(b, uint64(l))
	}
	b = binary.AppendUvarint(b, uint64(len(it.deps)))
	for _, d := range it.deps {
		b = binary.AppendUvarint(b, uint64(n-d))
	}
	return b
}

// parseChanges calls each for every change of a CHANGES frame and returns the bytes of their fields: of all changes the
// first field, then of all the second, and so on. What each is given is reused.
func parseChanges(f frame, contents []byte, each func(n uint32, it *packedItem)) ([]byte, error) {
	first := binary.LittleEndian.Uint32(f.table)
	if uint64(first)+uint64(f.items) > maxRecords || f.items == 0 {
		return nil, errChange
	}
	r := reader{b: contents}
	var it packedItem
	var sum uint64
	for n := first; n < first+f.items; n++ {
		it.time += r.varint()
		flags := r.bytes(1)
		if r.bad || flags[0] > changeFlags {
			return nil, errChange
		}
		it.flags = uint16(flags[0])
		for i := range it.lengths {
			l := r.uvarint()
			if l > maxInline || it.flags>>i&1 != 0 && l != uint64(len(change.Hash{})) {
				return nil, errChange
			}
			it.lengths[i] = uint32(l)
			sum += l
		}
		count := r.uvarint()
		if count > maxDeps || count > uint64(len(r.b)) {
			return nil, errChange
		}
		it.deps = it.deps[:0]
		for range count {
			back := r.uvarint()
			if back == 0 || back > uint64(n) {
				return nil, errChange
			}
			it.deps = append(it.deps, n-uint32(back))
		}
		if r.bad {
			return nil, errChange
		}
		each(n, &it)
	}
	if sum != uint64(len(r.b)) {
		return nil, errChange
	}
	return r.b, nil
}

// addChanges takes the records of a CHANGES frame.
func (b *batch) addChanges(f frame, p place) error {
	if binary.LittleEndian.Uint32(f.table) != b.n[changesCol] {
		return errOrder
	}
	contents, err := f.view()
	if err != nil {
		return err
	}
	ids := f.table[packedTable:]
	var deps []byte
	_, err = parseChanges(f, contents, func(_ uint32, it *packedItem) {
		deps = deps[:0]
		for _, d := range it.deps {
			deps = binary.LittleEndian.AppendUint32(deps, d)
		}
		b.addChange(change.ID(ids[:idSize]), it.time, deps, p)
		ids = ids[idSize:]
	})
	return err
}

// packedChange reads change n of a CHANGES frame. The fields are a copy.
func packedChange(f frame, n uint32) (rec Record, flags uint16, err error) {
	i := n - binary.LittleEndian.Uint32(f.table)
	if i >= f.items {
		return rec, 0, errChange
	}
	contents, err := f.view()
	if err != nil {
		return rec, 0, err
	}
	var total, at, lengths [numFields]uint64
	fields, err := parseChanges(f, contents, func(m uint32, it *packedItem) {
		if m == n {
			flags, at = it.flags, total
		}
		for k, l := range it.lengths {
			total[k] += uint64(l)
			if m == n {
				lengths[k] = uint64(l)
			}
		}
	})
	if err != nil {
		return rec, 0, err
	}
	rec.ID = change.ID(f.table[packedTable+i*idSize:][:idSize])
	for k, dst := range rec.fields() {
		*dst = append(make([]byte, 0, lengths[k]), fields[at[k]:at[k]+lengths[k]]...)
		fields = fields[total[k]:]
	}
	return rec, flags, nil
}

// appendPackedOp appends an op to the contents of an OPS frame; before is the one before in the frame, or zero.
func appendPackedOp(b []byte, before, t *opTableFields, body *opBody) []byte {
	b = append(b, byte(t.view))
	b = binary.AppendVarint(b, t.time-before.time)
	for c := changesCol; c < numColumns; c++ {
		b = binary.AppendUvarint(b, uint64(t.n[c]-before.n[c]))
	}
	b = binary.AppendUvarint(b, uint64(t.chain.depth))
	b = binary.AppendUvarint(b, uint64(t.chain.weight))
	b = binary.AppendUvarint(b, uint64(t.chain.full))
	b = appendSized(b, body.user)
	b = binary.AppendUvarint(b, uint64(len(body.command)))
	for _, w := range body.command {
		b = appendSized(b, w)
	}
	b = binary.AppendUvarint(b, uint64(len(body.view)))
	return append(b, body.view...)
}

// packedOpReader reads the ops of an OPS frame in turn.
type packedOpReader struct {
	reader
	t     opTableFields // of the op read last
	user  []byte
	words []byte // their count, then each
	view  []byte
}

func (r *packedOpReader) next() error {
	kind := r.bytes(1)
	r.t.time += r.varint()
	for c := changesCol; c < numColumns; c++ {
		n := uint64(r.t.n[c]) + r.uvarint()
		if n > maxRecords {
			return errOp
		}
		r.t.n[c] = uint32(n)
	}
	depth, weight, full := r.uvarint(), r.uvarint(), r.uvarint()
	if r.bad || max(depth, weight, full) > math.MaxUint32 || viewKind(kind[0]) > viewFull|viewBlob {
		return errOp
	}
	r.t.view, r.t.chain = viewKind(kind[0]), chain{depth: uint32(depth), weight: uint32(weight), full: uint32(full)}
	r.user = r.sized()
	r.words = r.b
	count := r.uvarint()
	if count > maxWords {
		return errOp
	}
	for range count {
		r.sized()
	}
	if r.bad {
		return errOp
	}
	r.words = r.words[:len(r.words)-len(r.b)]
	r.view = r.sized()
	if r.bad {
		return errOp
	}
	r.t.number = r.t.n[opsCol]
	r.t.n[opsCol]++
	return nil
}

// body returns what the op read last says of itself.
func (r *packedOpReader) body() opBody {
	o := opBody{user: string(r.user), view: r.view}
	words := reader{b: r.words}
	for range words.uvarint() {
		o.command = append(o.command, string(words.sized()))
	}
	return o
}

// openOps begins to read an OPS frame.
func openOps(f frame) (r packedOpReader, err error) {
	first := binary.LittleEndian.Uint32(f.table)
	if uint64(first)+uint64(f.items) > maxRecords || f.items == 0 {
		return r, errOp
	}
	r.t.n[opsCol] = first
	r.b, err = f.view()
	return r, err
}

// addOps takes the records of an OPS frame.
func (b *batch) addOps(f frame, p place) error {
	r, err := openOps(f)
	if err != nil {
		return err
	}
	if r.t.n[opsCol] != b.n[opsCol] {
		return errOrder
	}
	for range f.items {
		if err := r.next(); err != nil {
			return err
		}
		b.addOpRecord(p)
		if !r.t.n.within(b.n) {
			return errOrder
		}
	}
	if len(r.b) != 0 {
		return errOp
	}
	return nil
}

// packedOp reads op n of an OPS frame.
func packedOp(f frame, n uint32) (opTableFields, opBody, error) {
	r, err := openOps(f)
	if err != nil {
		return opTableFields{}, opBody{}, err
	}
	if n-r.t.n[opsCol] >= f.items {
		return opTableFields{}, opBody{}, errOp
	}
	for r.t.n[opsCol] <= n {
		if err := r.next(); err != nil {
			return opTableFields{}, opBody{}, err
		}
	}
	return r.t, r.body(), nil
}
