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
	fields, sum, err := parseItems(f, contents, each)
	if err == nil && sum != uint64(len(fields)) {
		return nil, errChange
	}
	return fields, err
}

// parseItems is parseChanges of contents that may end before the fields do, which are sum bytes.
func parseItems(f frame, contents []byte, each func(n uint32, it *packedItem)) (fields []byte, sum uint64, err error) {
	first := binary.LittleEndian.Uint32(f.table)
	if uint64(first)+uint64(f.items) > maxRecords || f.items == 0 {
		return nil, 0, errChange
	}
	r := reader{b: contents}
	var it packedItem
	for n := first; n < first+f.items; n++ {
		it.time += r.varint()
		flags := r.bytes(1)
		if r.bad || flags[0] > changeFlags {
			return nil, 0, errChange
		}
		it.flags = uint16(flags[0])
		for i := range it.lengths {
			l := r.uvarint()
			if l > maxInline || it.flags>>i&1 != 0 && l != uint64(len(change.Hash{})) {
				return nil, 0, errChange
			}
			it.lengths[i] = uint32(l)
			sum += l
		}
		count := r.uvarint()
		if count > maxDeps || count > uint64(len(r.b)) {
			return nil, 0, errChange
		}
		it.deps = it.deps[:0]
		for range count {
			back := r.uvarint()
			if back == 0 || back > uint64(n) {
				return nil, 0, errChange
			}
			it.deps = append(it.deps, n-uint32(back))
		}
		if r.bad {
			return nil, 0, errChange
		}
		each(n, &it)
	}
	return r.b, sum, nil
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

// packedFields tells where in the contents of a CHANGES frame the fields of its changes lie.
type packedFields struct {
	flags []byte
	// at has where each field begins, of all changes the first, then of all the second, and so on, and at last where they end. So
	// each ends where the next one begins.
	at []uint32
}

// parseFields finds the fields of a CHANGES frame of which so much is decompressed.
func parseFields(f frame, contents []byte) (p packedFields, err error) {
	items := int(f.items)
	p.at = make([]uint32, 0, numFields*min(items, len(contents))+1)
	lengths := make([][numFields]uint32, 0, min(items, len(contents)))
	fields, sum, err := parseItems(f, contents, func(_ uint32, it *packedItem) {
		p.flags = append(p.flags, byte(it.flags))
		lengths = append(lengths, it.lengths)
	})
	if err != nil {
		return p, err
	}
	end := uint64(len(contents) - len(fields))
	if end+sum != uint64(f.raw) {
		return p, errChange
	}
	p.at = append(p.at, uint32(end))
	for k := range numFields {
		for i := range lengths {
			end += uint64(lengths[i][k])
			p.at = append(p.at, uint32(end))
		}
	}
	return p, nil
}

// span tells where field k of the i-th change lies.
func (p *packedFields) span(i, k int) (from, to uint32) {
	at := p.at[k*len(p.flags)+i:]
	return at[0], at[1]
}

// end is where the last of those fields of the i-th change ends of which which has the bit.
func (p *packedFields) end(i int, which uint) (end uint32) {
	for k := range numFields {
		if from, to := p.span(i, k); which>>k&1 != 0 && from < to {
			end = to
		}
	}
	return end
}

// read gives those fields of change n of a frame of which which has the bit. They are a copy.
func (p *packedFields) read(f frame, contents []byte, n uint32, which uint) (rec Record, flags uint16, err error) {
	i := n - binary.LittleEndian.Uint32(f.table)
	if i >= f.items || p.end(int(i), which) > uint32(len(contents)) {
		return rec, 0, errChange
	}
	rec.ID = change.ID(f.table[packedTable+i*idSize:][:idSize])
	for k, dst := range rec.fields() {
		if from, to := p.span(int(i), k); which>>k&1 != 0 {
			*dst = append(make([]byte, 0, to-from), contents[from:to]...)
		}
	}
	return rec, uint16(p.flags[i]), nil
}

// front are the fields that lie before bodies and texts, and those that are mostly empty.
const front = 1<<0 | 1<<3

// ofChange reads those fields of change n of which which has the bit. Where a list asks for what it shows, the bodies and
// texts behind that are not decompressed.
func (c *cachedFrame) ofChange(s *Store, n uint32, which uint) (rec Record, flags uint16, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(s); err != nil {
		return rec, 0, err
	}
	f := &c.frame
	if f.kind == kindChange {
		return s.singleChange(c.at, which)
	}
	if f.kind != kindChanges {
		return rec, 0, s.damaged(c.at, errChange)
	}
	need := int(f.raw)
	if which&^front == 0 {
		need = min(need, blockSize)
	}
	if err := c.load(s, need); err != nil {
		return rec, 0, err
	}
	if c.fields.at == nil {
		c.fields, err = parseFields(*f, c.loaded)
		if err != nil && c.have < int(f.raw) { // what it tells before the fields is longer
			if err := c.load(s, int(f.raw)); err != nil {
				return rec, 0, err
			}
			c.fields, err = parseFields(*f, c.loaded)
		}
		if err != nil {
			c.err = s.damaged(c.at, err)
			return rec, 0, c.err
		}
	}
	if i := n - binary.LittleEndian.Uint32(f.table); i < f.items {
		if err := c.load(s, int(c.fields.end(int(i), which))); err != nil {
			return rec, 0, err
		}
	}
	if rec, flags, err = c.fields.read(*f, c.loaded, n, which); err != nil {
		return rec, 0, s.damaged(c.at, err)
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
