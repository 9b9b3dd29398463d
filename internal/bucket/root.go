// Package bucket keeps a repository in object storage: packs of changes that are never altered, and one root that says which there are and what
// bookmarks and tags stand for, replaced only by who saw what it replaces. It answers the requests of package sync from there, so that a bucket is
// a peer like others; it judges no change and knows no working copy. The formats are docs/spec/bucket.md.
package bucket

import (
	"bytes"
	"cmp"
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// Root says what is in a bucket.
type Root struct {
	Generation uint64 // how often it was written
	First      string // the bookmark that a clone checks out
	Packs      []Pack // in the order of their generations, which do not overlap
	Names      []Name // bookmarks first, each kind in the order of its bytes
	Swept      uint64 // when garbage was last looked for, in seconds since 1970 by the store's clock
}

// Pack is a pack that counts.
type Pack struct {
	Key      Key
	From, To uint64 // generations of its first and last move
	Data     uint64 // bytes of its segments
	Table    uint64 // bytes of its table
	Check    uint64 // of the table
	Inline   []byte // the table, or nil if it follows the segments
}

// Name is a bookmark or tag, and which move made it what it is.
type Name struct {
	Kind       sync.RefKind
	Name       string
	State      [32]byte
	Len        uint64
	Generation uint64
}

// Key names a pack.
type Key [16]byte

var base = base32.StdEncoding.WithPadding(base32.NoPadding)

func (k Key) String() string { return base.EncodeToString(k[:]) }

const (
	rootMagic  = "oxyroot1"
	maxRoot    = 64 << 20
	maxPacks   = 1 << 16
	maxNames   = 1 << 20
	maxPack    = 1 << 44 // bytes
	maxSeconds = 1 << 40
	isInline   = 1
)

// Encode writes a root.
func (r *Root) Encode() []byte {
	b := binary.AppendUvarint([]byte(rootMagic), r.Generation)
	b = appendText(b, r.First)
	b = binary.AppendUvarint(b, uint64(len(r.Packs)))
	last := uint64(0)
	for i := range r.Packs {
		p := &r.Packs[i]
		b = append(b, p.Key[:]...)
		b = binary.AppendUvarint(b, p.From-last)
		b = binary.AppendUvarint(b, p.To-p.From)
		b = binary.AppendUvarint(b, p.Data)
		b = binary.AppendUvarint(b, p.Table)
		b = binary.LittleEndian.AppendUint64(b, p.Check)
		if p.Inline != nil {
			b = append(append(b, isInline), p.Inline...)
		} else {
			b = append(b, 0)
		}
		last = p.To
	}
	b = binary.AppendUvarint(b, uint64(len(r.Names)))
	for i := range r.Names {
		n := &r.Names[i]
		b = appendText(append(b, byte(n.Kind)), n.Name)
		b = append(b, n.State[:]...)
		b = binary.AppendUvarint(b, n.Len)
		b = binary.AppendUvarint(b, n.Generation)
	}
	b = binary.AppendUvarint(b, r.Swept)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// DecodeRoot reads a root that nobody vouches for.
func DecodeRoot(b []byte) (*Root, error) {
	if len(b) < len(rootMagic)+8 || string(b[:len(rootMagic)]) != rootMagic {
		return nil, malformed("its root does not begin with %q", rootMagic)
	}
	end := len(b) - 8
	if xxh3.Hash(b[:end]) != binary.LittleEndian.Uint64(b[end:]) {
		return nil, malformed("its root was altered")
	}
	f := fields{b: b[len(rootMagic):end]}
	r := &Root{Generation: f.uvarint(), First: f.text(safepath.MaxBookmark)}
	r.packs(&f)
	r.names(&f)
	r.Swept = f.uvarint()
	if f.bad || len(f.b) > 0 || r.Generation == 0 || r.Generation > 1<<62 || r.Swept > maxSeconds {
		return nil, malformed("its root")
	}
	if r.First != "" && safepath.CheckBookmark(r.First) != nil {
		return nil, malformed("a name in its root")
	}
	if !bytes.Equal(r.Encode(), b) {
		return nil, malformed("its root is not encoded in the one way")
	}
	return r, nil
}

func fixedKey(b []byte) (k [16]byte) {
	copy(k[:], b)
	return k
}

func (r *Root) packs(f *fields) {
	last := uint64(0)
	for range f.count(maxPacks, 29) {
		p := Pack{Key: fixedKey(f.bytes(16))}
		p.From = f.plus(last, f.uvarint())
		p.To = f.plus(p.From, f.uvarint())
		p.Data, p.Table, p.Check = f.uvarint(), f.uvarint(), f.fixed()
		switch f.byte() {
		case isInline:
			if p.Inline = f.bytes(p.Table); p.Inline == nil || xxh3.Hash(p.Inline) != p.Check {
				f.bad = true
			}
		case 0:
		default:
			f.bad = true
		}
		if p.From <= last || p.To > r.Generation || p.Data == 0 || p.Data > maxPack || p.Table == 0 || p.Table > maxTable {
			f.bad = true
		}
		if f.bad {
			return
		}
		last = p.To
		r.Packs = append(r.Packs, p)
	}
}

func (r *Root) names(f *fields) {
	n := f.count(maxNames, 36)
	r.Names = make([]Name, 0, n)
	for range n {
		n := Name{Kind: sync.RefKind(f.byte()), Name: f.text(safepath.MaxBookmark), State: f.id(), Len: f.uvarint(), Generation: f.uvarint()}
		if n.Kind != sync.Bookmark && n.Kind != sync.Tag || n.State == [32]byte{} || n.Generation > r.Generation || n.Len == 0 || n.Len > 1<<31 || safepath.CheckBookmark(n.Name) != nil {
			f.bad = true
		}
		if len(r.Names) > 0 && compareNames(&r.Names[len(r.Names)-1], &n) >= 0 {
			f.bad = true
		}
		if f.bad {
			return
		}
		r.Names = append(r.Names, n)
	}
	tags, _ := slices.BinarySearchFunc(r.Names, sync.Tag, func(n Name, k sync.RefKind) int { return cmp.Compare(n.Kind, k) })
	for i := tags; i < len(r.Names); i++ {
		if _, both := r.Name(sync.Bookmark, r.Names[i].Name); both {
			f.bad = true
		}
	}
}

func compareNames(a, b *Name) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
}

func (r *Root) search(kind sync.RefKind, name string) (int, bool) {
	want := Name{Kind: kind, Name: name}
	return slices.BinarySearchFunc(r.Names, want, func(n, want Name) int { return compareNames(&n, &want) })
}

// Name finds a name.
func (r *Root) Name(kind sync.RefKind, name string) (*Name, bool) {
	i, ok := r.search(kind, name)
	if !ok {
		return nil, false
	}
	return &r.Names[i], true
}

// set makes a name what it says.
func (r *Root) set(n Name) {
	i, ok := r.search(n.Kind, n.Name)
	if !ok {
		r.Names = slices.Insert(r.Names, i, n)
	}
	r.Names[i] = n
}

// pack finds the pack with the moves of a generation.
func (r *Root) pack(generation uint64) (*Pack, bool) {
	i, _ := slices.BinarySearchFunc(r.Packs, generation, func(p Pack, g uint64) int { return cmp.Compare(p.To, g) })
	if i == len(r.Packs) || r.Packs[i].From > generation {
		return nil, false
	}
	return &r.Packs[i], true
}

// Refs lists the names, the one that people are on first.
func (r *Root) Refs() []sync.Ref {
	out := make([]sync.Ref, len(r.Names))
	for i, n := range r.Names {
		out[i] = sync.Ref{Kind: n.Kind, Name: n.Name, State: n.State, Len: n.Len}
	}
	if i := slices.IndexFunc(out, func(ref sync.Ref) bool { return ref.Kind == sync.Bookmark && ref.Name == r.First }); i > 0 {
		first := out[i]
		out = slices.Insert(slices.Delete(out, i, i+1), 0, first)
	}
	return out
}
