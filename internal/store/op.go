package store

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Op is an operation: what one command did.
type Op struct {
	N       uint32 // given by Commit
	Time    int64  // seconds since 1970
	User    string // who, and on which host
	Command []string
	View    *View // what it made true; Op leaves it nil, see OpView
}

// Bounds of what an op may say about itself; Commit cuts what is longer, since a command line of two megabytes is no
// reason to lose the work.
const (
	maxUser    = 1 << 10
	maxCommand = 16 << 10 // all words
	maxWords   = 1 << 10
)

// cut shortens what is over the bounds.
func (o *Op) cut() {
	o.User = o.User[:min(len(o.User), maxUser)]
	left := maxCommand
	for i, w := range o.Command {
		if left -= len(w); left < 0 || i == maxWords-1 {
			o.Command = append(o.Command[:i:i], "...")
			return
		}
	}
}

// viewKind says how an op's frame tells its view.
type viewKind uint8

const (
	viewFull viewKind = 1 << iota // not a difference to another op's
	viewBlob                      // the frame has the hash of a blob
)

// opTableFields is an OP frame's table.
type opTableFields struct {
	number uint32
	view   viewKind
	prev   place  // the op before, or 0
	time   int64  // seconds since 1970
	n      counts // with this op
	chain  chain
}

// chain is where an op stands in a chain of views, which begins with a full one.
type chain struct {
	base   place  // the op that the view is a difference to; 0 for a full view
	depth  uint32 // ops since the full view
	weight uint32 // bytes of single differences since
	full   uint32 // bytes of the full view
}

func (t *opTableFields) append(b []byte) []byte {
	le, start := binary.LittleEndian, len(b)
	b = le.AppendUint32(b, t.number)
	b = append(b, byte(t.view), 0, 0, 0)
	b = le.AppendUint64(b, uint64(t.prev))
	b = le.AppendUint64(b, uint64(t.time))
	b = t.n.append(b)
	b = le.AppendUint64(b, uint64(t.chain.base))
	b = le.AppendUint32(b, t.chain.depth)
	b = le.AppendUint32(b, t.chain.weight)
	b = le.AppendUint32(b, t.chain.full)
	for len(b)-start < opTable {
		b = append(b, 0)
	}
	return b
}

func parseOpTable(b []byte) (t opTableFields) {
	le := binary.LittleEndian
	t.number, t.view = le.Uint32(b), viewKind(b[4])
	t.prev, t.time = place(le.Uint64(b[8:])), int64(le.Uint64(b[16:]))
	t.n = parseCounts(b[24:])
	t.chain.base = place(le.Uint64(b[44:]))
	t.chain.depth, t.chain.weight, t.chain.full = le.Uint32(b[52:]), le.Uint32(b[56:]), le.Uint32(b[60:])
	return t
}

// opBody is the contents of an OP frame.
type opBody struct {
	user    string
	command []string
	view    []byte
	states  []byte
}

func (o *opBody) append(b []byte) []byte {
	b = appendSized(b, o.user)
	b = binary.AppendUvarint(b, uint64(len(o.command)))
	for _, w := range o.command {
		b = appendSized(b, w)
	}
	b = binary.AppendUvarint(b, uint64(len(o.view)))
	b = append(b, o.view...)
	return append(b, o.states...)
}

var errOp = errors.New("malformed operation")

func parseOpBody(b []byte) (o opBody, err error) {
	r := reader{b: b}
	o.user = string(r.sized())
	words := r.uvarint()
	if words > maxWords {
		return o, errOp
	}
	for range words {
		o.command = append(o.command, string(r.sized()))
	}
	o.view = r.sized()
	o.states = r.b
	if r.bad {
		return o, errOp
	}
	return o, nil
}

// NumOps returns how many operations there are.
func (s *Store) NumOps() uint32 { return s.now.Load().n[opsCol] }

// Op returns an operation by its number, without its view.
func (s *Store) Op(n uint32) (*Op, error) {
	op, err := s.readOp(n)
	if err != nil {
		return nil, fmt.Errorf("read operation %d: %w", n, err)
	}
	return op, nil
}

func (s *Store) readOp(n uint32) (*Op, error) {
	rec, _, ok := s.record(opsCol, n)
	if !ok {
		return nil, s.missing()
	}
	t, body, err := s.op(opRecordPlace(rec), n)
	if err != nil {
		return nil, err
	}
	return &Op{N: t.number, Time: t.time, User: body.user, Command: body.command}, nil
}

// op reads the op numbered n, which lies in the frame at p.
func (s *Store) op(p place, n uint32) (t opTableFields, body opBody, err error) {
	f, err := s.holder(p)
	if err != nil {
		return t, body, err
	}
	switch f.kind {
	case kindOp:
		t, body, err = singleOp(f)
	case kindOps:
		t, body, err = packedOp(f, n)
	default:
		err = errOp
	}
	if err == nil && t.number != n {
		err = errOp
	}
	if err != nil {
		return t, body, s.damaged(p, err)
	}
	return t, body, nil
}

// singleOp reads an OP frame.
func singleOp(f frame) (opTableFields, opBody, error) {
	contents, err := f.view()
	if err != nil {
		return opTableFields{}, opBody{}, err
	}
	body, err := parseOpBody(contents)
	return parseOpTable(f.table), body, err
}

// opTable reads the table of the op at p and the place after it.
func (l *log) opTable(p place) (opTableFields, place, error) {
	f, err := l.frame(p)
	if err != nil {
		return opTableFields{}, 0, err
	}
	if f.kind != kindOp {
		return opTableFields{}, 0, l.damaged(p, errOp)
	}
	return parseOpTable(f.table), p + place(f.size()), nil
}
