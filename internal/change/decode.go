package change

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Bounds of what a decoder accepts. Each is far above what work makes and far below what hurts.
const (
	MaxMeta    = 16 << 20  // a message of megabytes is a mistake or an attack
	MaxBody    = 512 << 20 // about eight million files
	MaxName    = 4096      // author name, email, key of an extra field
	MaxPath    = 4096      // Linux's own PATH_MAX
	MaxContent = 1 << 40   // one file: 1 TiB
	MaxText    = 64 << 20  // a text above it is held as binary: offsets stay 32 bits and a diff stays bearable
)

// ErrMalformed is the root of all errors about the encoding of a change.
var ErrMalformed = errors.New("malformed change")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Decode reads a change that comes from outside. Only the one canonical encoding of a valid change is accepted.
func Decode(meta, body []byte) (*Change, error) {
	c, err := DecodeTrusted(meta, body)
	if err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m, b := Encode(c)
	if !bytes.Equal(m, meta) || !bytes.Equal(b, body) {
		return nil, malformed("another encoding than the canonical one")
	}
	return c, nil
}

// DecodeTrusted reads a change that this repository has checked before. Damage gives an error or a wrong change,
// never a panic.
func DecodeTrusted(meta, body []byte) (*Change, error) {
	c, err := DecodeMeta(meta)
	if err != nil {
		return nil, err
	}
	if len(body) > MaxBody {
		return nil, malformed("body of %d bytes", len(body))
	}
	d := decoder{b: body}
	d.body(c)
	if err := d.end("body"); err != nil {
		return nil, err
	}
	return c, nil
}

// DecodeMeta reads who, when, why and upon what: all but Others, DirMoves and Files.
func DecodeMeta(meta []byte) (*Change, error) {
	if len(meta) > MaxMeta {
		return nil, malformed("meta of %d bytes", len(meta))
	}
	if !bytes.HasPrefix(meta, []byte(magic)) {
		return nil, malformed("it does not begin with %q", magic)
	}
	c := &Change{}
	d := decoder{b: meta[len(magic):]}
	c.Author = Person{d.str(MaxName), d.str(MaxName)}
	c.Time.Sec = d.varint()
	zone := d.varint()
	if zone < math.MinInt16 || zone > math.MaxInt16 {
		d.fail("zone %d", zone)
	}
	c.Time.Zone = int16(zone)
	c.Message = d.str(MaxMeta)
	if n := d.count(2); n > 0 {
		c.Extra = make([]Field, n)
		for i := range c.Extra {
			c.Extra[i] = Field{d.str(MaxName), d.str(MaxMeta)}
		}
	}
	if d.byte() == 1 {
		copy(c.Undoes[:], d.bytes(len(c.Undoes)))
	}
	c.Deps = d.ids()
	return c, d.end("meta")
}

func (d *decoder) body(c *Change) {
	c.Others = d.ids()
	if n := d.count(2); n > 0 {
		c.DirMoves = make([]DirMove, n)
		for i := range c.DirMoves {
			c.DirMoves[i] = DirMove{d.str(MaxPath), d.str(MaxPath)}
		}
	}
	n := d.count(2) // a file has at least its writes and its size
	if d.err != nil || n == 0 {
		return
	}
	writes := d.bytes(n)
	if d.err != nil {
		return
	}
	c.Files = make([]File, n)
	for i := range c.Files {
		c.Files[i].Writes = Writes(writes[i] & (bitNew - 1))
		c.Files[i].ID = FileID{Self, uint32(i)}
		if writes[i]&bitNew == 0 {
			c.Files[i].ID = FileID{d.uint32(), d.uint32()}
		}
	}
	d.paths(c.Files)
	for i := range c.Files {
		if f := &c.Files[i]; f.Writes&WritesMode != 0 {
			f.Exec = d.byte() != 0
		}
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.Writes&WritesBody != 0 {
			f.Kind = Kind(d.byte())
		}
	}
	for i := range c.Files {
		if writes[i]&bitNew != 0 {
			continue
		}
		if n := d.count(3); n > 0 {
			c.Files[i].Over = make([]Over, n)
			for j := range c.Files[i].Over {
				c.Files[i].Over[j] = Over{Writes(d.byte()), d.uint32(), d.uint32()}
			}
		}
	}
	for i := range c.Files {
		c.Files[i].Size = d.uvarint()
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.Size > 0 {
			copy(f.Content[:], d.bytes(len(f.Content)))
		}
	}
	for i := range c.Files {
		if writes[i]&bitHunks != 0 {
			c.Files[i].Hunks = d.hunks()
		}
	}
}

// paths fills in the places: each path is the start of the last one and a rest. All share one backing string, for a
// first commit has as many as the tree.
func (d *decoder) paths(files []File) {
	var all []byte
	type cut struct{ from, to int }
	var cuts []cut
	last := cut{}
	for i := range files {
		if files[i].Writes&WritesPlace == 0 {
			continue
		}
		n := d.uvarint()
		rest := d.field(MaxPath)
		if d.err != nil {
			return
		}
		if n > uint64(last.to-last.from) || n+uint64(len(rest)) > MaxPath {
			d.fail("a path shares %d bytes with one of %d", n, last.to-last.from)
			return
		}
		at := len(all)
		all = append(all, all[last.from:last.from+int(n)]...)
		all = append(all, rest...)
		last = cut{at, len(all)}
		cuts = append(cuts, last)
	}
	s, k := string(all), 0
	for i := range files {
		if files[i].Writes&WritesPlace != 0 {
			files[i].Path = s[cuts[k].from:cuts[k].to]
			k++
		}
	}
}

func (d *decoder) hunks() []Hunk {
	n := d.count(3)
	if n == 0 {
		d.fail("an empty list of hunks")
		return nil
	}
	hunks := make([]Hunk, n)
	for i := range hunks {
		d.hunk(&hunks[i])
	}
	return hunks
}

func (d *decoder) hunk(h *Hunk) {
	flags := d.byte()
	h.Gains = flags&hunkGains != 0
	h.L, h.R = d.pos(), d.pos()
	if flags&hunkInserts != 0 {
		h.InsLen = d.uint32()
	}
	if flags&hunkLeft != 0 {
		h.Left = true
		h.Parent = d.pos()
	}
	if flags&hunkDeletes != 0 {
		h.Del = make([]Stretch, d.count(3))
		for i := range h.Del {
			h.Del[i] = d.stretch()
		}
	}
	if flags&hunkRestores != 0 {
		h.Res = make([]Restore, d.count(4))
		for i := range h.Res {
			h.Res[i].Stretch = d.stretch()
			h.Res[i].By = make([]Ref, d.count(1))
			for j := range h.Res[i].By {
				h.Res[i].By[j] = d.uint32()
			}
		}
	}
	if flags&hunkSolves != 0 {
		h.Solves = make([]Span, d.count(2))
		for i := range h.Solves {
			h.Solves[i] = Span{d.pos(), d.pos()}
		}
	}
}

// decoder reads from b until the first fault, which it keeps; after it every read gives zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = malformed(format, args...)
	}
	d.b = nil
}

func (d *decoder) end(what string) error {
	if d.err == nil && len(d.b) > 0 {
		d.fail("%d bytes too many in its %s", len(d.b), what)
	}
	return d.err
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("cut short")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail("cut short")
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("a number is cut short or too large")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail("a number is cut short or too large")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.fail("number %d is above 32 bits", v)
		return 0
	}
	return uint32(v)
}

// count reads how many items of at least size bytes follow: more than fit in the rest is refused before any is made.
func (d *decoder) count(size int) int {
	v := d.uvarint()
	if v > uint64(len(d.b)/size) {
		d.fail("%d items in %d bytes", v, len(d.b))
		return 0
	}
	return int(v)
}

func (d *decoder) field(limit int) []byte {
	n := d.uvarint()
	if n > uint64(limit) {
		d.fail("a text of %d bytes where %d are allowed", n, limit)
		return nil
	}
	return d.bytes(int(n))
}

func (d *decoder) str(limit int) string { return string(d.field(limit)) }

func (d *decoder) ids() []ID {
	n := d.count(len(ID{}))
	if n == 0 {
		return nil
	}
	ids := make([]ID, n)
	for i := range ids {
		copy(ids[i][:], d.bytes(len(ID{})))
	}
	return ids
}

func (d *decoder) pos() Pos {
	switch v := d.uvarint(); {
	case v < 2:
		return Pos{Edge, uint32(v)}
	case v-2 >= uint64(Edge):
		d.fail("ref %d", v)
		return Pos{}
	default:
		return Pos{uint32(v - 2), d.uint32()}
	}
}

func (d *decoder) stretch() Stretch { return Stretch{d.uint32(), d.uint32(), d.uint32()} }
