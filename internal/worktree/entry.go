package worktree

import (
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Kind is what the base state has at a path. Whether a file is text does not matter here.
type Kind uint8

// The kinds of entries.
const (
	File Kind = iota
	Link
	Subrepo
	numKinds
)

// Entry is one path of the base state and the last look at it on disk.
//
// Valid promises: whenever the disk shows exactly this Mtime, Ctime, Size and Ino, the content is the one that Hash
// names. Without it the stat fields are only a memory, and the next scan reads the file.
type Entry struct {
	Mtime int64 // nanoseconds since 1970, as Ctime
	Ctime int64
	Size  int64 // bytes, of the content that Hash names
	Ino   uint64
	Hash  change.Hash // BLAKE3 of the base state's content; of a link, of its target
	Kind  Kind
	Exec  bool
	Valid bool
	// Alias is not 0 where the file system folds case and another entry has the name already: the file's name on disk
	// then has the suffix "~" and this number.
	Alias uint8
}

// racyWindow is how much older than the look a file's times must be to be proof. A later write then shows another ctime.
// Kernels stamp files with the time of the last tick, 10 ms apart at most; twice that also covers a server whose clock
// moves between two of its own processors. The granularity of the file system needs no allowance, because the time of
// the look is taken from the file system itself (see Manifest.Clock) and is cut off the same way.
const racyWindow = int64(20 * time.Millisecond)

// settled tells whether a file or directory seen with st, after the file system's clock had shown now, cannot change
// without showing other times.
func settled(st *vfs.Stat, now int64) bool {
	return st.Mtime < now-racyWindow && st.Ctime < now-racyWindow
}

// NewEntry is the entry of a file whose content was seen to be hash while its stat was st. The clock is what
// Manifest.Clock said before st was taken; a file too young to tell later writes apart gets an entry that is not valid.
func NewEntry(st *vfs.Stat, hash change.Hash, clock int64) Entry {
	e := Entry{
		Mtime: st.Mtime, Ctime: st.Ctime, Size: st.Size, Ino: st.Ino,
		Hash: hash, Exec: st.Exec, Valid: settled(st, clock),
	}
	switch st.Kind {
	case vfs.KindLink:
		e.Kind, e.Exec = Link, false
	case vfs.KindDir:
		e.Kind, e.Exec = Subrepo, false
	}
	return e
}

// unchanged tells whether st is the very stat that the entry remembers. Equality, not order: a clock that was set back
// deceives nobody.
func (e *Entry) unchanged(st *vfs.Stat) bool {
	return e.Mtime == st.Mtime && e.Ctime == st.Ctime && e.Size == st.Size && e.Ino == st.Ino && e.sameKind(st)
}

func (e *Entry) sameKind(st *vfs.Stat) bool {
	switch e.Kind {
	case Link:
		return st.Kind == vfs.KindLink
	case Subrepo:
		return st.Kind == vfs.KindDir
	}
	return st.Kind == vfs.KindFile
}

// DirInfo is the last look at a directory itself.
type DirInfo struct {
	Mtime int64 // nanoseconds since 1970, as Ctime
	Ctime int64
	Ino   uint64
	Rules uint64 // fingerprint of the ignore rules that held here, its own files' included
	Flags DirFlags
}

// DirFlags says what is known of a directory's names while its times are those of its DirInfo.
type DirFlags uint32

// The flags of directories.
const (
	// Listed: every name here that is not tracked is ignored under Rules.
	Listed DirFlags = 1 << iota
	// HasGitignore and HasOxyignore: there is an ignore file of this name here, tracked or not.
	HasGitignore
	HasOxyignore
	allDirFlags = 1<<iota - 1
)

func (d *DirInfo) unchanged(st *vfs.Stat) bool {
	return d.Flags&Listed != 0 && d.Mtime == st.Mtime && d.Ctime == st.Ctime && d.Ino == st.Ino
}
