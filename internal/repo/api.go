package repo

import (
	"context"
	"io"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/timings"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// DirName is the directory in the working copy's root that holds the repository.
const DirName = ".oxy"

// Options say how a repository is opened.
type Options struct {
	FS       vfs.FS       // nil: the operating system's
	Timings  *timings.Log // nil: none
	Progress Progress     // nil: none
	Command  []string     // the words of the command, for the operation log
	Env      func(string) string
	// Passphrase asks a person for what a key is encrypted with; nil: there is nobody to ask.
	Passphrase sign.Passphrase
	// Err is where ssh-keygen asks a person to touch a hardware key; nil: nowhere.
	Err io.Writer
	// Batch is after how many bytes of a transfer what came of it stays, whatever becomes of the rest; 0: as it is good.
	Batch int64
	// Interrupt gives what ends a transfer that a call turns out to need, as one of a partial clone does; nil: nothing ends it.
	Interrupt func() context.Context
}

// Progress is shown while long work runs. Calls may come from many goroutines.
type Progress interface {
	// Begin starts a bar. total is 0 when it is not known. Bytes says that amounts are bytes and not pieces.
	Begin(what string, total int64, bytes bool)
	Add(n int64)
	End()
}

// Error is a problem in words for a person.
type Error struct {
	Text string // one line: what is wrong
	Next string // what to do about it, or ""
	No   bool   // not a fault: the honest answer is "no" (exit 1)
	Err  error  // what lies beneath, or nil
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// What tells how a file differs.
type What uint8

// The ways in which a file differs.
const (
	Same What = iota
	Added
	Removed
	Modified
	Moved       // it has another path, and perhaps other content
	ModeChanged // only the executable bit
	TypeChanged // text or binary to link, or back
	Untracked
	Ignored
	Nested  // an untracked directory that is a repository of its own
	Special // a socket, pipe or device: never recorded
)

// Letter is the one-letter form of status and diff.
func (w What) Letter() byte { return " ADMRMT?!N*"[w] }

func (w What) String() string {
	return [...]string{"same", "added", "removed", "modified", "moved", "mode", "type", "untracked", "ignored", "nested", "special"}[w]
}

// StateRef is a state of the repository: its local number, its id and how many changes it has.
type StateRef struct {
	Num uint32
	ID  [32]byte
	Len uint64
}

// Side is a file on one side of a difference.
type Side struct {
	Path string
	Kind change.Kind
	Exec bool
	Size int64
	Hash change.Hash // zero where it was not needed: a working file whose content was not read
}

// FileChange is one file that differs.
type FileChange struct {
	What     What
	Old, New *Side // nil where there is none
	Similar  int   // of a moved file: how much of it stayed, in percent
}

// Path is where the file stands now, or stood last.
func (f *FileChange) Path() string {
	if f.New != nil {
		return f.New.Path
	}
	return f.Old.Path
}

// Status is the working copy against its base.
type Status struct {
	Bookmark  string // the current one, or ""
	Base      StateRef
	Empty     bool // no change was ever recorded
	Files     []FileChange
	Untracked []string // collapsed: "dir/" stands for a wholly untracked directory
	Ignored   []string
	Nested    []string
	Special   []string
	Sparse    *Sparse  // nil where the working copy has all files
	Outside   []string // directories outside of a sparse working copy that hold something all the same
	Subrepos  []SubrepoStatus
	Problems  []error // what could not be read
	Conflicts []Conflict
}

// StatusOptions choose what Status looks at.
type StatusOptions struct {
	Paths   []string // repository paths; none: all
	Ignored bool     // list ignored files too
	All     bool     // list every untracked file, do not collapse
}

// DiffSet is a list of differing files whose contents can be read on demand.
type DiffSet struct {
	Files []FileChange
	load  func(dst []byte, side *Side, old bool) ([]byte, error)
}

// Old and New append the content of one side of file i, empty when there is none. They may be called from many
// goroutines.
func (d *DiffSet) Old(dst []byte, i int) ([]byte, error) {
	if d.Files[i].Old == nil {
		return dst, nil
	}
	return d.load(dst, d.Files[i].Old, true)
}

// New is the other side of Old.
func (d *DiffSet) New(dst []byte, i int) ([]byte, error) {
	if d.Files[i].New == nil {
		return dst, nil
	}
	return d.load(dst, d.Files[i].New, false)
}

// Hunk is one difference of the working copy that commit and discard can take by itself.
type Hunk struct {
	ID     string // short, the same while the hunk's text and file stay the same
	Path   string
	What   What
	A0, A1 int // lines of the base, 0-based, half open
	B0, B1 int // lines of the working file
	// For text: the unified hunk to show, without colour. For others a line that says what changed.
	Text string
}

// ChangeInfo is a change without its body.
type ChangeInfo struct {
	Num      uint32
	ID       change.ID
	Author   change.Person
	Time     change.Time
	Message  string
	Extra    []change.Field
	Deps     []change.ID
	Undoes   change.ID
	Position uint64 // in the log of the state asked about, from 1; 0 when unknown
	Names    *Names // what stands right after it, nil for nothing; only in a log

	part []byte // the signatures that were stored with it
}

// Names are what points to a state, or to states that have a change.
type Names struct {
	Here      bool     // the working copy stands there
	Current   bool     // the first of Bookmarks is the current one
	Bookmarks []string // the current one first, the others in order
	Tags      []string
}

// LogOptions choose which changes Log gives.
type LogOptions struct {
	State  *StateRef // nil: the working copy's base
	Paths  []string
	Limit  int    // 0: all
	Author string // part of the name or email, letters' case ignored
	Since  int64  // seconds since 1970, 0: no bound
	Until  int64
	Text   string // part of the message, letters' case ignored
}

// CommitOptions say what to record.
type CommitOptions struct {
	Message string
	Paths   []string // repository paths; none: everything
	Hunks   []string // ids of hunks, with the rest left unrecorded
	Amend   bool     // replace the last change
	Author  *change.Person
	Time    *change.Time
	Sign    Signing
	// Edit, when Message is empty, is asked for a message after the change is known; files is what it records.
	Edit func(initial string, files []FileChange) (string, error)
	// Large is told before a sudden size is recorded: a file above 100 MiB by its path and bytes, or more than 20 000 new
	// files at once by their number, the path "". An error from it ends the commit. Nil: a warning in the result.
	Large func(path string, files int, bytes int64) error

	pins []pinEdit // record these, and nothing of what the disk has
}

// CommitResult is what was recorded.
type CommitResult struct {
	ID       change.ID
	Replaced change.ID // of an amend
	State    StateRef
	Bookmark string
	Files    []FileChange
	Added    int // lines, counted only for files that were read as text and existed before
	Deleted  int
	Warnings []string
	Skipped  []string // special files and nested repositories that were not recorded
}

// BlameRun is a run of whole lines by one change.
type BlameRun struct {
	Change    *ChangeInfo // nil: not recorded yet, or a mark
	Mark      bool        // marks of a conflict, which nobody wrote
	Text      []byte
	Line      int           // of its first line in the file, from 1; 0 for deleted lines
	DeletedBy []*ChangeInfo // of lines that are gone
}

// BlameOptions choose what Blame looks at.
type BlameOptions struct {
	State   *StateRef // nil: the working copy
	From    int       // first line, from 1; 0: all
	To      int       // last line; 0: to the end
	Deleted bool      // lines that are gone too, where they stood
}

// Named is a bookmark or tag.
type Named struct {
	Name    string
	State   StateRef
	Current bool
	Remote  bool // a remote's bookmark, as it was when last seen
}

// OpInfo is an operation of the log.
type OpInfo struct {
	Num     uint32
	Time    int64
	User    string
	Command []string
	Undo    bool
	Redo    bool
}
