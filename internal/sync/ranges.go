package sync

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sort"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Two sets of ids are told apart by fingerprints of ranges. A range is all ids that begin with the same bits, six more at each
// level: ids are hashes, so that they lie evenly. A million ids lie three levels deep, and ten of them that only one side has
// cost some twenty KiB and two round trips.
const (
	levelBits = 6
	fanOut    = 1 << levelBits
	maxLevel  = 256/levelBits - 2 // beyond it, ids are always listed
	// listed is up to how many ids a range is spelled out: as many bytes as the fingerprints of its parts would take.
	listed = fanOut / 2
	// maxRanges bounds a message. Sets that differ in more places are not worth telling apart.
	maxRanges = 1 << 14
	maxListed = 1 << 20
	printSize = 16 // 128 bits: a chance of 2^-64 among as many sets as anyone can make; the state's id decides in the end
)

// ErrTooDifferent: two sets differ in more places than it pays to tell one by one.
var ErrTooDifferent = errors.New("the sets differ in too many places")

// Fingerprint stands for the ids in a range; zero for none.
type Fingerprint [printSize]byte

// Range is what one side says of a range: fingerprints of its parts, or all ids in it.
type Range struct {
	Level  int
	Prefix [32]byte // its first Level*6 bits, then zeros
	Parts  []Fingerprint
	IDs    []change.ID // where Parts is nil: ascending
}

// IDSet is a set of ids to be told apart from another.
type IDSet struct{ ids []change.ID }

// NewIDSet sorts ids, which become the set's.
func NewIDSet(ids []change.ID) *IDSet {
	change.SortIDs(ids)
	return &IDSet{slices.Compact(ids)}
}

// All gives them, ascending.
func (s *IDSet) All() []change.ID { return s.ids }

// Len is how many there are.
func (s *IDSet) Len() int { return len(s.ids) }

// in gives the ids of a range.
func (s *IDSet) in(level int, prefix [32]byte) []change.ID {
	low := sort.Search(len(s.ids), func(i int) bool { return bytes.Compare(s.ids[i][:], prefix[:]) >= 0 })
	high := lastOf(level, prefix)
	n := sort.Search(len(s.ids)-low, func(i int) bool { return bytes.Compare(s.ids[low+i][:], high[:]) > 0 })
	return s.ids[low : low+n]
}

// lastOf is the greatest id of a range.
func lastOf(level int, prefix [32]byte) [32]byte {
	bits := level * levelBits
	for i := bits / 8; i < len(prefix); i++ {
		if i == bits/8 {
			prefix[i] |= 0xff >> (bits % 8)
		} else {
			prefix[i] = 0xff
		}
	}
	return prefix
}

// part is the prefix of part k of a range.
func part(level int, prefix [32]byte, k int) [32]byte {
	at := level * levelBits
	v := uint16(k) << (16 - levelBits) >> (at % 8)
	prefix[at/8] |= byte(v >> 8)
	if at/8+1 < len(prefix) {
		prefix[at/8+1] |= byte(v)
	}
	return prefix
}

func fingerprint(ids []change.ID) (p Fingerprint) {
	if len(ids) == 0 {
		return p
	}
	h := blake3.New()
	for i := range ids {
		_, _ = h.Write(ids[i][:]) // a hash never fails
	}
	copy(p[:], h.Sum(nil))
	return p
}

// Say tells all of a range: the ids where they are few, else the fingerprints of its parts.
func (s *IDSet) Say(level int, prefix [32]byte) Range {
	ids := s.in(level, prefix)
	r := Range{Level: level, Prefix: prefix}
	if len(ids) <= listed || level >= maxLevel {
		r.IDs = ids
		return r
	}
	within := IDSet{ids}
	r.Parts = make([]Fingerprint, fanOut)
	for k := range r.Parts {
		r.Parts[k] = fingerprint(within.in(level+1, part(level, prefix, k)))
	}
	return r
}

// Answer tells of each range that the other side spoke of what it needs to know next: of ids all that there are here, of parts
// with other fingerprints what is in them.
func (s *IDSet) Answer(said []Range) ([]Range, error) {
	var out []Range
	for i := range said {
		r := &said[i]
		if r.Parts == nil {
			ids := s.in(r.Level, r.Prefix)
			if len(ids) > maxListed {
				return nil, ErrTooDifferent
			}
			out = append(out, Range{Level: r.Level, Prefix: r.Prefix, IDs: ids})
			continue
		}
		within := IDSet{s.in(r.Level, r.Prefix)}
		for k := range r.Parts {
			p := part(r.Level, r.Prefix, k)
			if fingerprint(within.in(r.Level+1, p)) == r.Parts[k] {
				continue
			}
			if out = append(out, within.Say(r.Level+1, p)); len(out) > maxRanges {
				return nil, ErrTooDifferent
			}
		}
	}
	return out, nil
}

// Apart finds what two sets have and the other has not, by asking the other side.
func (s *IDSet) Apart(ask func([]Range) ([]Range, error)) (ours, theirs []change.ID, err error) {
	say := []Range{s.Say(0, [32]byte{})}
	for len(say) > 0 {
		answers, err := ask(say)
		if err != nil {
			return nil, nil, err
		}
		next, err := s.heard(say, answers, &ours, &theirs)
		if err != nil {
			return nil, nil, err
		}
		say = next
	}
	return ours, theirs, nil
}

// heard takes in what the other side answered, and gives what to say next.
func (s *IDSet) heard(said, answers []Range, ours, theirs *[]change.ID) (next []Range, err error) {
	asked := map[rangeKey]bool{}
	for i := range said {
		asked[said[i].key()] = true
	}
	done := map[rangeKey]bool{}
	for i := range answers {
		r := &answers[i]
		// Only what was asked is answered, once, and each answer leads deeper: it comes to an end.
		up := Range{Level: r.Level - 1, Prefix: cut(r.Prefix, r.Level-1)}
		if !asked[r.key()] && (r.Level == 0 || !asked[up.key()]) || done[r.key()] || asked[r.key()] && r.Parts != nil {
			return nil, malformed("an answer to no question")
		}
		done[r.key()] = true
		if r.Parts == nil {
			mine := s.in(r.Level, r.Prefix)
			*ours = append(*ours, missing(mine, r.IDs)...)
			*theirs = append(*theirs, missing(r.IDs, mine)...)
			continue
		}
		deeper, err := s.Answer([]Range{*r})
		if err != nil {
			return nil, err
		}
		next = append(next, deeper...)
	}
	if len(next) > maxRanges {
		return nil, ErrTooDifferent
	}
	return next, nil
}

// rangeKey names a range.
type rangeKey struct {
	level  int
	prefix [32]byte
}

func (r *Range) key() rangeKey { return rangeKey{r.Level, r.Prefix} }

// cut keeps the bits of a prefix that a level has.
func cut(prefix [32]byte, level int) [32]byte {
	if level < 0 {
		return prefix
	}
	bits := level * levelBits
	for i := bits / 8; i < len(prefix); i++ {
		if i == bits/8 {
			prefix[i] &^= 0xff >> (bits % 8)
		} else {
			prefix[i] = 0
		}
	}
	return prefix
}

// missing gives what of a is not in b; both ascend.
func missing(a, b []change.ID) (out []change.ID) {
	for _, id := range a {
		if _, ok := slices.BinarySearchFunc(b, id, func(x, y change.ID) int { return bytes.Compare(x[:], y[:]) }); !ok {
			out = append(out, id)
		}
	}
	return out
}

const (
	saysParts = 0
	saysIDs   = 1
)

// Ranges sends ranges.
func (w *Writer) Ranges(ranges []Range) error {
	data := binary.AppendUvarint(nil, uint64(len(ranges)))
	for i := range ranges {
		r := &ranges[i]
		data = append(data, byte(r.Level))
		data = append(data, r.Prefix[:(r.Level*levelBits+7)/8]...)
		if r.Parts == nil {
			data = append(data, saysIDs)
			data = binary.AppendUvarint(data, uint64(len(r.IDs)))
			for _, id := range r.IDs {
				data = append(data, id[:]...)
			}
			continue
		}
		data = append(data, saysParts)
		var filled uint64
		for k := range r.Parts {
			if r.Parts[k] != (Fingerprint{}) {
				filled |= 1 << k
			}
		}
		data = binary.LittleEndian.AppendUint64(data, filled)
		for k := range r.Parts {
			if filled>>k&1 != 0 {
				data = append(data, r.Parts[k][:]...)
			}
		}
	}
	if err := w.item(kindRanges, nil, int64(len(data))); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// RangesReply reads the ranges that a reply holds, to the end of the stream.
func (r *Reader) RangesReply() ([]Range, error) {
	kind, payload, err := r.next()
	if err != nil {
		return nil, err
	}
	if kind != kindRanges {
		return nil, r.fail(malformed("a frame of kind %q", byte(kind)))
	}
	out, err := r.ranges(payload)
	if err != nil {
		return nil, r.fail(err)
	}
	return out, r.End()
}

func (r *Reader) ranges(payload []byte) ([]Range, error) {
	f := fields{b: payload}
	r.open(&f, 64<<20)
	if err := f.end("the head of ranges"); err != nil {
		return nil, err
	}
	data, err := r.readAll()
	if err != nil {
		return nil, err
	}
	return decodeRanges(data)
}

func decodeRanges(data []byte) ([]Range, error) {
	f := fields{b: data}
	n := f.uvarint()
	if n > maxRanges {
		return nil, malformed("too many ranges")
	}
	var out []Range
	for range n {
		g := Range{Level: int(f.byte())}
		if g.Level > maxLevel {
			f.fail()
		}
		if f.bad {
			break
		}
		copy(g.Prefix[:], f.bytes(uint64(g.Level*levelBits+7)/8))
		if cut(g.Prefix, g.Level) != g.Prefix {
			f.fail()
			break
		}
		switch f.byte() {
		case saysParts:
			filled := binary.LittleEndian.Uint64(append(append([]byte(nil), f.bytes(8)...), make([]byte, 8)...))
			g.Parts = make([]Fingerprint, fanOut)
			for k := range g.Parts {
				if filled>>k&1 != 0 {
					copy(g.Parts[k][:], f.bytes(printSize))
					if g.Parts[k] == (Fingerprint{}) {
						f.fail()
					}
				}
			}
		case saysIDs:
			count := f.uvarint()
			if count > maxListed || count > uint64(len(f.b))/32 {
				f.fail()
				break
			}
			last := lastOf(g.Level, g.Prefix)
			for i := range count {
				id := change.ID(f.id())
				if bytes.Compare(id[:], g.Prefix[:]) < 0 || bytes.Compare(id[:], last[:]) > 0 || i > 0 && bytes.Compare(g.IDs[i-1][:], id[:]) >= 0 {
					f.fail()
					break
				}
				g.IDs = append(g.IDs, id)
			}
		default:
			f.fail()
		}
		out = append(out, g)
	}
	if err := f.end("ranges"); err != nil {
		return nil, err
	}
	return out, nil
}
