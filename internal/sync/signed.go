package sync

import (
	"encoding/binary"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
)

// Signed is a signature that came after what it is of: a change that the other side may have without it, or a checkpoint.
type Signed struct {
	Change     change.ID
	Checkpoint *sign.Checkpoint // in place of a change
	Entry      sign.Entry
}

const (
	signedChange     = 1
	signedCheckpoint = 2
)

// Bounds of what travels at a time: what a person with a script signs in a day, not what anybody could make up.
const (
	MaxSigned      = 1 << 16
	MaxSignedBytes = 32 << 20
)

// Append appends what a frame holds of it.
func (s *Signed) Append(b []byte) []byte {
	if c := s.Checkpoint; c != nil {
		b = append(append(b, signedCheckpoint), c.State[:]...)
		b = binary.AppendUvarint(b, c.Changes)
		b = binary.AppendVarint(append(b, c.Tree[:]...), c.Time)
	} else {
		b = append(append(b, signedChange), s.Change[:]...)
	}
	b = append(b, byte(s.Entry.Kind))
	return append(binary.AppendUvarint(b, uint64(len(s.Entry.Bytes))), s.Entry.Bytes...)
}

// ID names it where two sides are told apart.
func (s *Signed) ID() change.ID { return blake3.Sum256(s.Append([]byte("oxy signed 1\n"))) }

// DecodeSigned reads what Append made, and nothing else. Whether it is a signature at all is not looked at.
func DecodeSigned(b []byte) (Signed, error) {
	f := fields{b: b}
	var s Signed
	switch f.byte() {
	case signedChange:
		s.Change = f.id()
	case signedCheckpoint:
		c := &sign.Checkpoint{State: f.id(), Changes: f.uvarint(), Tree: f.id()}
		sec := f.uvarint()
		c.Time = int64(sec>>1) ^ -int64(sec&1)
		s.Checkpoint = c
	default:
		f.fail()
	}
	s.Entry.Kind = sign.Kind(f.byte())
	n := f.uvarint()
	if s.Entry.Kind == 0 || n == 0 || n > sign.MaxSignature {
		f.fail()
	}
	s.Entry.Bytes = append([]byte(nil), f.bytes(n)...)
	if err := f.end("a signature"); err != nil {
		return Signed{}, err
	}
	return s, nil
}

// Signed sends a signature.
func (w *Writer) Signed(s *Signed) error { return w.frame(kindSigned, s.Append(nil)) }

// Gathered are signatures as they come, within bounds.
type Gathered struct {
	List  []Signed
	bytes int
}

// Add adds one.
func (l *Gathered) Add(s *Signed) error {
	l.List = append(l.List, *s)
	if l.bytes += len(s.Entry.Bytes); len(l.List) > MaxSigned || l.bytes > MaxSignedBytes {
		return malformed("too many signatures")
	}
	return nil
}

func (l *Gathered) take(payload []byte) error {
	s, err := DecodeSigned(payload)
	if err != nil {
		return err
	}
	return l.Add(&s)
}

// SignedList reads signatures to the end of the stream.
func (r *Reader) SignedList() ([]Signed, error) {
	var l Gathered
	err := r.toEnd(func(kind frameKind, payload []byte) error {
		if kind != kindSigned {
			return malformed("a frame of kind %q among signatures", byte(kind))
		}
		return l.take(payload)
	})
	if err != nil {
		return nil, err
	}
	return l.List, nil
}

// Mark tells whether something came to the signatures of a repository: it is another one then. Zero says that there are none. To no
// other repository does it say anything.
type Mark [16]byte

// Marked sends the marks of before and after what was given.
func (w *Writer) Marked(marks ...Mark) error {
	var b []byte
	for _, m := range marks {
		b = append(b, m[:]...)
	}
	return w.frame(kindMark, b)
}

// Listing is what a list says.
type Listing struct {
	Refs []Ref
	Mark *Mark // of the signatures there; nil: the other side knows nothing of such
}

// Listing reads names, and what the other side says of its signatures, to the end of the stream.
func (r *Reader) Listing() (Listing, error) {
	var l Listing
	err := r.toEnd(func(kind frameKind, payload []byte) error {
		if kind == kindMark && l.Mark == nil && len(payload) == len(Mark{}) {
			m := Mark(payload)
			l.Mark = &m
			return nil
		}
		if kind != kindRef || len(l.Refs) >= maxWants {
			return malformed("a frame of kind %q in a list of names", byte(kind))
		}
		ref, err := readRef(payload)
		l.Refs = append(l.Refs, ref)
		return err
	})
	if err != nil {
		return Listing{}, err
	}
	return l, nil
}

// Given is what became of signatures that were given.
type Given struct {
	Before, After Mark
	Has           []bool // of each whether it is there now, or need not come again
}

// Given sends that.
func (w *Writer) Given(g *Given) error {
	if err := w.Marked(g.Before, g.After); err != nil {
		return err
	}
	return w.Marks(g.Has)
}

// Given reads what became of n signatures, to the end of the stream.
func (r *Reader) Given(n int) (*Given, error) {
	kind, payload, err := r.next()
	if err != nil {
		return nil, err
	}
	if kind != kindMark || len(payload) != 2*len(Mark{}) {
		return nil, r.fail(malformed("no word of what became of signatures"))
	}
	g := &Given{Before: Mark(payload[:16]), After: Mark(payload[16:])}
	g.Has, err = r.Marks(n)
	return g, err
}
