// Package change holds one change: what it says, its canonical encoding and its id. It does no I/O and knows nothing of
// the states that changes make. The format is docs/spec/change.md.
package change

import (
	"encoding/hex"
	"fmt"
)

// ID names a change for ever: the BLAKE3-256 hash of its canonical encoding.
type ID [32]byte

// Hash is the BLAKE3-256 hash of a content.
type Hash [32]byte

func (id ID) String() string  { return hex.EncodeToString(id[:]) }
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short is how a person sees an id: its first 12 hex digits.
func (id ID) Short() string { return hex.EncodeToString(id[:6]) }

// IsZero reports whether id names no change.
func (id ID) IsZero() bool { return id == ID{} }

// Person is who made a change, as bytes in UTF-8 where the source was.
type Person struct {
	Name  string
	Email string
}

func (p Person) String() string { return p.Name + " <" + p.Email + ">" }

// Time is a moment and the zone it was told in.
type Time struct {
	Sec  int64 // seconds since 1970, before it negative
	Zone int16 // minutes east of UTC
}

// Ref names a change from inside another: 0 is the change itself, i is number i-1 of Deps followed by Others. Once a
// change is bound to a repository (Bind), refs are local change numbers instead.
type Ref = uint32

// Self is the change itself in an unbound change.
const Self Ref = 0

// FileID names a file for ever: the change that added it, and its ordinal among that change's files.
type FileID struct {
	Change Ref
	Ord    uint32
}

// Pos is a place in what a change inserted into one file: a byte offset that lies on a line's edge. As the left end
// of a gap it names the line that ends there, as the right end, a parent on the left side or a stretch, the line
// that begins there.
type Pos struct {
	Change Ref
	Off    uint32
}

// The ends of every file. They are the same in bound and unbound changes.
var (
	Start = Pos{Edge, 0}
	End   = Pos{Edge, 1}
)

// Edge is the ref of Start and End: no change has it.
const Edge Ref = 1<<32 - 1

// Stretch is a maximal run of bytes, whole lines, of what one change inserted into a file.
type Stretch struct {
	Change   Ref
	Off, Len uint32
}

// Restore takes back deletions of a stretch: those by the changes in By no longer count.
type Restore struct {
	Stretch
	By []Ref
}

// Span is a stretch of the weave between two shown lines (or block edges) that a hunk solves.
type Span struct{ L, R Pos }

// Hunk deletes, restores and inserts inside the gap between L and R, the nearest shown lines that it does not touch. In a
// change that undoes another it is the gap only: where the undoing acts.
type Hunk struct {
	L, R Pos
	// The inserted bytes are the next InsLen of the file's text. If any, the head's parent is L on its right side,
	// or, with Left, the line that begins at Parent on its left side.
	InsLen uint32
	Left   bool
	Parent Pos // only with Left
	Del    []Stretch
	Res    []Restore
	Solves []Span
	Gains  bool // only in a change that undoes another: the undoing brings lines back here
}

// Adds reports whether the hunk does more than delete.
func (h *Hunk) Adds() bool {
	return h.Gains || h.InsLen > 0 || len(h.Res) > 0 || len(h.Solves) > 0
}

// IsGap reports whether the hunk is a gap only, as those of a change that undoes another are.
func (h *Hunk) IsGap() bool {
	return h.InsLen == 0 && !h.Left && len(h.Del)+len(h.Res)+len(h.Solves) == 0
}

// Writes says which registers of a file a change writes.
type Writes uint8

// The registers, and the two ops about existence only.
const (
	WritesPlace Writes = 1 << iota
	WritesMode
	WritesBody
	Gone // the file is removed
	Keep // the file's existence is confirmed
)

// Kind is what a file's body is.
type Kind uint8

// The kinds of bodies.
const (
	Text    Kind = iota // a weave of lines
	Binary              // a value: bytes compared whole
	Link                // a value: a symbolic link's target
	Subrepo             // a value: a pinned state of another repository
	numKinds
)

var kindNames = [...]string{"text", "binary", "link", "subrepo"}

func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// Over names a value that an op replaces: the register and the file ordinal in the change that wrote it.
type Over struct {
	Reg    Writes // WritesPlace, WritesMode or WritesBody
	Change Ref
	Ord    uint32
}

// File is what a change does to one file. Its index in Change.Files is its ordinal in the change.
type File struct {
	ID     FileID // {Self, index} for a file that the change adds
	Writes Writes
	Path   string // WritesPlace: where it stands, elements divided by '/'
	Exec   bool   // WritesMode
	Kind   Kind   // WritesBody
	Over   []Over
	// Edits of its text; none in a new file, whose content is one stretch from Start to End. A change that undoes another names
	// each file in which that one, or the first one that it undoes in turn, has hunks: there may be none where it acts.
	Hunks []Hunk
	// The content that comes with the change: all that the hunks insert, in order, or the value of a body that is
	// not text, or the whole text of a new file. An empty content has size 0 and the zero hash.
	Size    uint64
	Content Hash
}

// IsNew reports whether a file of an unbound change is added by it.
func (f *File) IsNew() bool { return f.ID.Change == Self }

// DirMove says that the files moved from beneath From to beneath To moved as one directory.
type DirMove struct{ From, To string }

// Field is one of the extra facts of a change, such as what a bridge must keep.
type Field struct{ Key, Value string }

// Change is one decoded change.
type Change struct {
	Author   Person
	Time     Time
	Message  string
	Extra    []Field // keys ascending
	Undoes   ID      // the change that this one takes back, or zero; then Files hold no ops, and hunks that are gaps only
	Deps     []ID    // ascending, none implied by another
	Others   []ID    // ascending: ids that refs name beside Deps
	DirMoves []DirMove
	Files    []File
}
