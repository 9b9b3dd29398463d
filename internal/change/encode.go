package change

import (
	"encoding/binary"

	"github.com/zeebo/blake3"
)

// magic opens the hashed part and names its format.
const magic = "oxy1"

// Bits of a file's byte in the column of writes, above those of Writes.
const (
	bitNew   = 1 << 5
	bitHunks = 1 << 6
)

// Bits of a hunk's first byte.
const (
	hunkInserts = 1 << iota
	hunkLeft
	hunkDeletes
	hunkRestores
	hunkSolves
	hunkGains
)

// Encode gives the two pieces of the hashed part: meta says who, when, why and upon what; body says what changed.
// The change must be valid (Validate).
func Encode(c *Change) (meta, body []byte) { return encodeMeta(nil, c), encodeBody(nil, c) }

// Sum is the id of the change with these two pieces: the hash of meta followed by the hash of body, so that a
// large body can be held apart, and who made a change be proved without it.
func Sum(meta, body []byte) ID {
	h := blake3.New()
	h.Write(meta)
	b := blake3.Sum256(body)
	h.Write(b[:])
	var id ID
	h.Sum(id[:0])
	return id
}

func encodeMeta(b []byte, c *Change) []byte {
	b = append(b, magic...)
	b = appendString(b, c.Author.Name)
	b = appendString(b, c.Author.Email)
	b = binary.AppendVarint(b, c.Time.Sec)
	b = binary.AppendVarint(b, int64(c.Time.Zone))
	b = appendString(b, c.Message)
	b = binary.AppendUvarint(b, uint64(len(c.Extra)))
	for _, f := range c.Extra {
		b = appendString(b, f.Key)
		b = appendString(b, f.Value)
	}
	if c.Undoes.IsZero() {
		b = append(b, 0)
	} else {
		b = append(append(b, 1), c.Undoes[:]...)
	}
	return appendIDs(b, c.Deps)
}

func encodeBody(b []byte, c *Change) []byte {
	b = appendIDs(b, c.Others)
	b = binary.AppendUvarint(b, uint64(len(c.DirMoves)))
	for _, m := range c.DirMoves {
		b = appendString(b, m.From)
		b = appendString(b, m.To)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Files)))
	for i := range c.Files {
		f := &c.Files[i]
		w := byte(f.Writes)
		if f.IsNew() {
			w |= bitNew
		}
		if len(f.Hunks) > 0 {
			w |= bitHunks
		}
		b = append(b, w)
	}
	for i := range c.Files {
		if f := &c.Files[i]; !f.IsNew() {
			b = binary.AppendUvarint(b, uint64(f.ID.Change))
			b = binary.AppendUvarint(b, uint64(f.ID.Ord))
		}
	}
	last := ""
	for i := range c.Files {
		if f := &c.Files[i]; f.Writes&WritesPlace != 0 {
			n := sharedPrefix(last, f.Path)
			b = binary.AppendUvarint(b, uint64(n))
			b = appendString(b, f.Path[n:])
			last = f.Path
		}
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.Writes&WritesMode != 0 {
			b = append(b, boolByte(f.Exec))
		}
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.Writes&WritesBody != 0 {
			b = append(b, byte(f.Kind))
		}
	}
	for i := range c.Files {
		f := &c.Files[i]
		if f.IsNew() {
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(f.Over)))
		for _, o := range f.Over {
			b = append(b, byte(o.Reg))
			b = binary.AppendUvarint(b, uint64(o.Change))
			b = binary.AppendUvarint(b, uint64(o.Ord))
		}
	}
	for i := range c.Files {
		b = binary.AppendUvarint(b, c.Files[i].Size)
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.Size > 0 {
			b = append(b, f.Content[:]...)
		}
	}
	for i := range c.Files {
		if f := &c.Files[i]; len(f.Hunks) > 0 {
			b = AppendHunks(b, f.Hunks)
		}
	}
	return b
}

// AppendHunks appends the encoding of the hunks of one file. Their refs may be bound or not.
func AppendHunks(b []byte, hunks []Hunk) []byte {
	b = binary.AppendUvarint(b, uint64(len(hunks)))
	for i := range hunks {
		b = appendHunk(b, &hunks[i])
	}
	return b
}

// hunkFlags is the byte that says what a hunk has.
func hunkFlags(h *Hunk) (flags byte) {
	set := func(on bool, bit byte) {
		if on {
			flags |= bit
		}
	}
	set(h.InsLen > 0, hunkInserts)
	set(h.Left, hunkLeft)
	set(len(h.Del) > 0, hunkDeletes)
	set(len(h.Res) > 0, hunkRestores)
	set(len(h.Solves) > 0, hunkSolves)
	set(h.Gains, hunkGains)
	return flags
}

func appendHunk(b []byte, h *Hunk) []byte {
	b = append(b, hunkFlags(h))
	b = appendPos(b, h.L)
	b = appendPos(b, h.R)
	if h.InsLen > 0 {
		b = binary.AppendUvarint(b, uint64(h.InsLen))
	}
	if h.Left {
		b = appendPos(b, h.Parent)
	}
	if len(h.Del) > 0 {
		b = binary.AppendUvarint(b, uint64(len(h.Del)))
		for _, s := range h.Del {
			b = appendStretch(b, s)
		}
	}
	if len(h.Res) > 0 {
		b = binary.AppendUvarint(b, uint64(len(h.Res)))
		for _, r := range h.Res {
			b = appendStretch(b, r.Stretch)
			b = binary.AppendUvarint(b, uint64(len(r.By)))
			for _, d := range r.By {
				b = binary.AppendUvarint(b, uint64(d))
			}
		}
	}
	if len(h.Solves) > 0 {
		b = binary.AppendUvarint(b, uint64(len(h.Solves)))
		for _, s := range h.Solves {
			b = appendPos(b, s.L)
			b = appendPos(b, s.R)
		}
	}
	return b
}

// appendPos writes 0 for Start, 1 for End, else the ref plus 2 and the offset.
func appendPos(b []byte, p Pos) []byte {
	if p.Change == Edge {
		return append(b, byte(p.Off))
	}
	b = binary.AppendUvarint(b, uint64(p.Change)+2)
	return binary.AppendUvarint(b, uint64(p.Off))
}

func appendStretch(b []byte, s Stretch) []byte {
	b = binary.AppendUvarint(b, uint64(s.Change))
	b = binary.AppendUvarint(b, uint64(s.Off))
	return binary.AppendUvarint(b, uint64(s.Len))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendIDs(b []byte, ids []ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for i := range ids {
		b = append(b, ids[i][:]...)
	}
	return b
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
