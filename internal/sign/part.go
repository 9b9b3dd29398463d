package sign

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// Kind says what an entry of a change's unhashed part is.
type Kind uint8

// SSH is an SSHSIG signature of ChangeMessage, in binary form. Other kinds are kept and passed on, for an oxy that knows them.
const SSH Kind = 1

// Entry is one signature of a change as it is stored.
type Entry struct {
	Kind  Kind
	Bytes []byte
}

func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), bytes.Compare(a.Bytes, b.Bytes))
}

// EncodePart gives the unhashed part of a change with these signatures, in any order and perhaps repeated: sorted, each once.
// Without signatures it is empty.
func EncodePart(entries []Entry) ([]byte, error) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, compareEntries)
	entries = slices.CompactFunc(entries, func(a, b Entry) bool { return compareEntries(a, b) == 0 })
	if len(entries) == 0 {
		return nil, nil
	}
	if len(entries) > MaxSignatures {
		return nil, fmt.Errorf("%d signatures of one change, at most %d are allowed", len(entries), MaxSignatures)
	}
	b := binary.AppendUvarint(nil, uint64(len(entries)))
	for _, e := range entries {
		if e.Kind == 0 || len(e.Bytes) == 0 || len(e.Bytes) > MaxSignature {
			return nil, fmt.Errorf("signature of kind %d with %d bytes: 1 to %d are allowed", e.Kind, len(e.Bytes), MaxSignature)
		}
		b = append(b, byte(e.Kind))
		b = binary.AppendUvarint(b, uint64(len(e.Bytes)))
		b = append(b, e.Bytes...)
	}
	return b, nil
}

// DecodePart reads an unhashed part and refuses every encoding but the one that EncodePart gives. The entries share the
// part's bytes. Whether they are signatures at all is not looked at.
func DecodePart(part []byte) ([]Entry, error) {
	if len(part) == 0 {
		return nil, nil
	}
	count, b, ok := cutUvarint(part)
	if !ok || count == 0 || count > MaxSignatures {
		return nil, fmt.Errorf("%w: a list of 1 to %d is expected", ErrMalformed, MaxSignatures)
	}
	entries := make([]Entry, 0, count)
	for range count {
		if len(b) == 0 || b[0] == 0 {
			return nil, fmt.Errorf("%w: no kind", ErrMalformed)
		}
		kind := Kind(b[0])
		n, rest, ok := cutUvarint(b[1:])
		if !ok || n == 0 || n > MaxSignature || n > uint64(len(rest)) {
			return nil, fmt.Errorf("%w: cut off", ErrMalformed)
		}
		e := Entry{kind, rest[:n:n]}
		if len(entries) > 0 && compareEntries(entries[len(entries)-1], e) >= 0 {
			return nil, fmt.Errorf("%w: not in order", ErrMalformed)
		}
		entries = append(entries, e)
		b = rest[n:]
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrMalformed, len(b))
	}
	return entries, nil
}

// MergeParts joins what two copies of a change have. Ours stays whole; of theirs as much is added as the bound allows, so
// that nobody can push a signature out by sending others. Callers drop what CheckEntry refuses before they call it.
func MergeParts(ours, theirs []Entry) []Entry {
	merged := slices.Clone(ours)
	for _, e := range theirs {
		if len(merged) < MaxSignatures && !slices.ContainsFunc(merged, func(m Entry) bool { return compareEntries(m, e) == 0 }) {
			merged = append(merged, e)
		}
	}
	slices.SortFunc(merged, compareEntries)
	return merged
}

// cutUvarint takes an unsigned LEB128 varint in the fewest bytes off the front of b.
func cutUvarint(b []byte) (uint64, []byte, bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}
