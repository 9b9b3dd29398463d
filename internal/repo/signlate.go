package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/store"
)

// A signature that comes after its change cannot go into what the store keeps of the change: the log is only appended to. It
// lies in a content of its own, and the view names those contents (docs/spec/repo.md).

// lateSignatures are the signatures that came after their changes, as a view names them.
type lateSignatures struct {
	named []byte // the view's value that they were read from
	parts map[change.ID][]byte
}

// Bounds of the contents that hold them.
const (
	signedBatch = 1 << 20  // bytes after which a content is not added to any more
	maxBatches  = 1 << 11  // what a view's value has room for
	maxParts    = 64 << 20 // bytes of one content that are read: one that outgrew the first bound by its last addition
)

var errSigned = errors.New("malformed list of signatures")

// partOf is the unhashed part of a change: what it was stored with, and what came later.
func (r *Repo) partOf(id change.ID, stored []byte) ([]byte, error) {
	late, err := r.late()
	if err != nil {
		return nil, err
	}
	more := late.parts[id]
	if len(more) == 0 {
		return stored, nil
	}
	return mergeParts(stored, more)
}

// mergeParts unites two unhashed parts of one change. One that cannot be read has nothing to add.
func mergeParts(ours, theirs []byte) ([]byte, error) {
	a, err := sign.DecodePart(ours)
	if err != nil {
		return ours, nil // whoever looks at it will say so
	}
	b, err := sign.DecodePart(theirs)
	if err != nil {
		return ours, nil
	}
	return sign.EncodePart(sign.MergeParts(a, b))
}

// soundPart is what of an unhashed part from elsewhere is worth keeping: anybody can make up the rest.
func soundPart(id change.ID, part []byte) []byte {
	entries, err := sign.DecodePart(part)
	if err != nil {
		return nil
	}
	sound := slices.DeleteFunc(entries, func(e sign.Entry) bool { return sign.CheckEntry(id, e) != nil })
	part, err = sign.EncodePart(sound)
	if err != nil {
		return nil
	}
	return part
}

// late reads the signatures that came later, once.
func (r *Repo) late() (*lateSignatures, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	return r.lateOf(v)
}

func (r *Repo) lateOf(v *store.View) (*lateSignatures, error) {
	named := v.Kept[keptSigned]
	r.mu.Lock()
	l := r.signed
	r.mu.Unlock()
	if l != nil && bytes.Equal(l.named, named) {
		return l, nil
	}
	l = &lateSignatures{named: slices.Clone(named), parts: map[change.ID][]byte{}}
	hashes, err := signedHashes(named)
	if err != nil {
		return nil, storeError(errors.Join(store.ErrDamaged, err))
	}
	for _, h := range hashes {
		b, err := r.signedBlob(h)
		if err != nil {
			return nil, storeError(err)
		}
		if err := l.add(b); err != nil {
			return nil, storeError(errors.Join(store.ErrDamaged, err))
		}
	}
	r.mu.Lock()
	r.signed = l
	r.mu.Unlock()
	return l, nil
}

func signedHashes(named []byte) ([]change.Hash, error) {
	var h change.Hash
	if len(named)%len(h) != 0 || len(named)/len(h) > maxBatches {
		return nil, errSigned
	}
	out := make([]change.Hash, 0, len(named)/len(h))
	for ; len(named) > 0; named = named[len(h):] {
		out = append(out, change.Hash(named[:len(h)]))
	}
	return out, nil
}

func (r *Repo) signedBlob(h change.Hash) ([]byte, error) {
	size, ok := r.store.BlobSize(h)
	if !ok {
		return nil, fmt.Errorf("signatures %s: %w", h, store.ErrNotFound)
	}
	if size > maxParts {
		return nil, fmt.Errorf("signatures %s: %w", h, errSigned)
	}
	return r.store.Blob(nil, h)
}

// add takes in one content: changes ascending by id, each with its part.
func (l *lateSignatures) add(b []byte) error {
	return eachSigned(b, func(id change.ID, part []byte) error {
		merged, err := mergeParts(l.parts[id], part)
		if err != nil {
			return err
		}
		l.parts[id] = merged
		return nil
	})
}

// eachSigned reads a content of signatures: to its end, a change's id, the length of its part as a varint, and the part.
func eachSigned(b []byte, fn func(id change.ID, part []byte) error) error {
	var last change.ID
	for len(b) > 0 {
		var id change.ID
		if len(b) <= len(id) {
			return errSigned
		}
		copy(id[:], b)
		if !last.IsZero() && bytes.Compare(last[:], id[:]) >= 0 {
			return fmt.Errorf("%w: it is out of order", errSigned)
		}
		last = id
		size, n := binary.Uvarint(b[len(id):])
		if n <= 0 || n > 1 && b[len(id)+n-1] == 0 || size == 0 || size > uint64(len(b)-len(id)-n) {
			return errSigned
		}
		part := b[len(id)+n:][:size]
		if _, err := sign.DecodePart(part); err != nil {
			return err
		}
		if err := fn(id, part); err != nil {
			return err
		}
		b = b[len(id)+n+int(size):]
	}
	return nil
}

func encodeSigned(parts map[change.ID][]byte) []byte {
	ids := make([]change.ID, 0, len(parts))
	for id := range parts {
		ids = append(ids, id)
	}
	change.SortIDs(ids)
	var b []byte
	for _, id := range ids {
		b = append(b, id[:]...)
		b = binary.AppendUvarint(b, uint64(len(parts[id])))
		b = append(b, parts[id]...)
	}
	return b
}

// addSignatures keeps signatures of changes that are in the store. What is not one of its change must not come here. It joins
// the last contents while they are no larger than what is added, so that signing one by one costs little each time.
func (t *tx) addSignatures(add map[change.ID][]sign.Entry) error {
	r := t.r
	l := lateSignatures{parts: map[change.ID][]byte{}}
	for id, entries := range add {
		part, err := sign.EncodePart(entries)
		if err != nil {
			return err
		}
		l.parts[id] = part
	}
	hashes, err := signedHashes(t.view.Kept[keptSigned])
	if err != nil {
		return storeError(errors.Join(store.ErrDamaged, err))
	}
	b := encodeSigned(l.parts)
	for len(hashes) > 0 {
		last := hashes[len(hashes)-1]
		if size, ok := r.store.BlobSize(last); !ok || size > 2*int64(len(b)) || size > signedBatch {
			break
		}
		old, err := r.signedBlob(last)
		if err == nil {
			err = l.add(old)
		}
		if err != nil {
			return storeError(err)
		}
		b, hashes = encodeSigned(l.parts), hashes[:len(hashes)-1]
	}
	if len(hashes) == maxBatches {
		return &Error{Text: "there are as many signatures as a repository can hold"}
	}
	h := hashOf(b)
	p := t.Packer()
	if err := errors.Join(p.Put(h, b), p.Flush()); err != nil {
		return err
	}
	var named []byte
	for _, o := range append(hashes, h) {
		named = append(named, o[:]...)
	}
	t.view.Kept[keptSigned] = named
	return nil
}
