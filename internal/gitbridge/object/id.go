// Package object holds Git's objects as bytes: ids, commits, tags and trees, parsed so that nothing is lost and built
// again byte for byte. It does no input or output and knows neither where objects lie nor what oxy makes of them. What
// is accepted and what is refused stands in docs/spec/git.md.
package object

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"
)

// Format is the hash by which a repository names its objects.
type Format uint8

// The formats that Git has.
const (
	SHA1 Format = iota
	SHA256
)

// ErrID is what is no object id in its repository's format: of another length, or not in small hex digits.
var ErrID = errors.New("not an object id")

// Size is how many bytes an id has.
func (f Format) Size() int {
	if f == SHA256 {
		return sha256.Size
	}
	return sha1.Size
}

func (f Format) String() string {
	if f == SHA256 {
		return "sha256"
	}
	return "sha1"
}

// ID names an object. An id of SHA-1 is followed by zeros, so that one type serves both formats as a key.
type ID [sha256.Size]byte

// IsZero reports whether id names no object; Git writes it as zeros too.
func (id ID) IsZero() bool { return id == ID{} }

// String is the id in hex. An id of SHA-256 that ends in 12 zero bytes, of which nobody will see one, is cut short.
func (id ID) String() string {
	if [12]byte(id[sha1.Size:]) == [12]byte{} {
		return hex.EncodeToString(id[:sha1.Size])
	}
	return hex.EncodeToString(id[:])
}

// ID takes an id from the first Size bytes of b.
func (f Format) ID(b []byte) (id ID) {
	copy(id[:], b[:f.Size()])
	return id
}

// ParseID reads an id as Git writes it. Upper case is refused, for it would not come out as it went in.
func ParseID[T string | []byte](f Format, s T) (id ID, err error) {
	n := f.Size()
	if len(s) != 2*n {
		return ID{}, fmt.Errorf("%w: %d characters in place of %d", ErrID, len(s), 2*n)
	}
	for i := range n {
		hi, lo := nibble(s[2*i]), nibble(s[2*i+1])
		if hi|lo > 15 {
			return ID{}, fmt.Errorf("%w: %.80q", ErrID, s)
		}
		id[i] = hi<<4 | lo
	}
	return id, nil
}

func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// AppendHex appends the id as Git writes it in format f.
func (f Format) AppendHex(b []byte, id ID) []byte { return hex.AppendEncode(b, id[:f.Size()]) }

// Kind is what an object is. The numbers are those of Git's packs.
type Kind uint8

// The kinds of objects.
const (
	CommitKind Kind = 1
	TreeKind   Kind = 2
	BlobKind   Kind = 3
	TagKind    Kind = 4
)

func (k Kind) String() string {
	switch k {
	case CommitKind:
		return "commit"
	case TreeKind:
		return "tree"
	case BlobKind:
		return "blob"
	case TagKind:
		return "tag"
	}
	return "unknown"
}

// ErrKind is a name that is none of a kind of object: fsck's badType and unknownType.
var ErrKind = errors.New("unknown type of object")

// ParseKind reads a kind's name.
func ParseKind[T string | []byte](s T) (Kind, error) {
	switch string(s) {
	case "commit":
		return CommitKind, nil
	case "tree":
		return TreeKind, nil
	case "blob":
		return BlobKind, nil
	case "tag":
		return TagKind, nil
	}
	return 0, fmt.Errorf("%w: %.40q", ErrKind, s)
}

// ErrCollision is an object made to have the SHA-1 of another.
var ErrCollision = errors.New("made to collide with another object under SHA-1")

// Detector is a hash that notices when its input was made to collide, as the SHA-1 of github.com/pjbgf/sha1cd does.
type Detector interface {
	hash.Hash
	// CollisionResistantSum appends the sum to in; it is another than SHA-1's, and the result true, for such input.
	CollisionResistantSum(in []byte) ([]byte, bool)
}

// Hasher computes ids of objects without allocating. It serves one goroutine.
type Hasher struct {
	h      hash.Hash
	detect Detector
	head   [40]byte
	sum    [sha256.Size]byte
}

// NewHasher makes a hasher. For SHA-1, detect makes the hash; with nil collisions are not noticed.
func NewHasher(f Format, detect func() Detector) *Hasher {
	switch {
	case f == SHA256:
		return &Hasher{h: sha256.New()}
	case detect != nil:
		d := detect()
		return &Hasher{h: d, detect: d}
	}
	return &Hasher{h: sha1.New()}
}

// Sum is the id of an object of this kind. The error is ErrCollision or none.
func (h *Hasher) Sum(k Kind, content []byte) (id ID, err error) {
	head := append(h.head[:0], k.String()...)
	head = append(head, ' ')
	head = strconv.AppendInt(head, int64(len(content)), 10)
	head = append(head, 0)
	h.h.Reset()
	h.h.Write(head)
	h.h.Write(content)
	if h.detect != nil {
		sum, made := h.detect.CollisionResistantSum(h.sum[:0])
		if made {
			return ID{}, ErrCollision
		}
		copy(id[:], sum)
		return id, nil
	}
	copy(id[:], h.h.Sum(h.sum[:0]))
	return id, nil
}
