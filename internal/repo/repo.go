// Package repo is the one door to a repository: it opens it, locks it, and turns what a person asks for into
// transactions of the layers beneath. It prints nothing.
package repo

import (
	"context"
	"io"

	"github.com/oxy-vcs/oxy/internal/change"
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
	Problems  []error // what could not be read
}

// StatusOptions choose what Status looks at.
type StatusOptions struct {
	Paths   []string // repository paths; none: all
	Ignored bool     // list ignored files too
	All     bool     // list every untracked file, do not collapse
	Moves   bool     // pair removed and untracked files that are alike
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
	// Edit, when Message is empty, is asked for a message after the change is known; files is what it records.
	Edit func(initial string, files []FileChange) (string, error)
	// Large confirms files above the bound for a sudden size (LargeFile bytes) or number (ManyFiles): nil records them
	// with a warning in the result.
	Large func(files int, bytes int64) error
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
	Change    *ChangeInfo // nil: not recorded yet
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
}

// OpInfo is an operation of the log.
type OpInfo struct {
	Num     uint32
	Time    int64
	User    string
	Command []string
	Undo    bool
}

var errUnfinished = &Error{Text: "this part of oxy is not built yet"}

// Repo is an open repository.
type Repo struct {
	root string
	opt  Options
}

// Init makes a repository in dir, which becomes the root of its working copy.
func Init(dir string, opt Options) (*Repo, error) { return nil, errUnfinished }

// Open finds the repository whose working copy holds dir.
func Open(dir string, opt Options) (*Repo, error) { return nil, errUnfinished }

// Close releases what the repository holds open.
func (r *Repo) Close() error { return nil }

// Root is the working copy's root.
func (r *Repo) Root() string { return r.root }

// Rel turns a path from the command line, relative to cwd, into a repository path; "" is the root.
func (r *Repo) Rel(cwd, arg string) (string, error) { return "", errUnfinished }

// ResolveState finds the state that rev names: a bookmark, a tag, a change (the current bookmark's log up to it), `@` (the working
// copy's base), `REV~N` (N changes earlier) or `NAME:N` (after the first N changes).
func (r *Repo) ResolveState(rev string) (StateRef, error) { return StateRef{}, errUnfinished }

// ResolveChange finds the change that rev names: a prefix of its id, or the last change of a state.
func (r *Repo) ResolveChange(rev string) (uint32, error) { return 0, errUnfinished }

// ShortID is the shortest unambiguous prefix of a change's id, at least 8 digits.
func (r *Repo) ShortID(n uint32) string { return "" }

// Info reads a change without its body.
func (r *Repo) Info(n uint32) (*ChangeInfo, error) { return nil, errUnfinished }

// Change reads a change whole, its refs bound to local numbers.
func (r *Repo) Change(n uint32) (*change.Change, error) { return nil, errUnfinished }

// Status compares the working copy with its base.
func (r *Repo) Status(ctx context.Context, opt StatusOptions) (*Status, error) {
	return nil, errUnfinished
}

// DiffWorking lists how the working copy differs from its base.
func (r *Repo) DiffWorking(ctx context.Context, paths []string) (*DiffSet, error) {
	return nil, errUnfinished
}

// DiffFrom lists how the working copy differs from any state.
func (r *Repo) DiffFrom(ctx context.Context, a StateRef, paths []string) (*DiffSet, error) {
	return nil, errUnfinished
}

// DiffStates lists how state b differs from state a.
func (r *Repo) DiffStates(a, b StateRef, paths []string) (*DiffSet, error) {
	return nil, errUnfinished
}

// DiffChange lists what a change did.
func (r *Repo) DiffChange(n uint32, paths []string) (*DiffSet, error) { return nil, errUnfinished }

// Hunks lists the working copy's hunks.
func (r *Repo) Hunks(ctx context.Context, paths []string) ([]Hunk, error) { return nil, errUnfinished }

// Commit records.
func (r *Repo) Commit(ctx context.Context, opt CommitOptions) (*CommitResult, error) {
	return nil, errUnfinished
}

// Log gives changes, latest first, until fn returns an error, which it returns.
func (r *Repo) Log(opt LogOptions, fn func(*ChangeInfo) error) error { return errUnfinished }

// Blame tells who wrote each line of a file.
func (r *Repo) Blame(ctx context.Context, path string, opt BlameOptions) ([]BlameRun, error) {
	return nil, errUnfinished
}

// Cat writes a file as a state has it.
func (r *Repo) Cat(w io.Writer, s StateRef, path string) error { return errUnfinished }

// Files lists the files of a state beneath path, in order.
func (r *Repo) Files(s StateRef, path string, fn func(*Side) error) error { return errUnfinished }

// CheckoutResult says what a checkout did.
type CheckoutResult struct {
	State    StateRef
	Bookmark string // now current, or ""
	Written  int
	Removed  int
}

// Checkout makes the working copy that of rev. A bookmark's name makes it current.
func (r *Repo) Checkout(ctx context.Context, rev string) (*CheckoutResult, error) {
	return nil, errUnfinished
}

// CheckoutFiles writes files as a state has them, without changing where the working copy stands.
func (r *Repo) CheckoutFiles(ctx context.Context, s StateRef, paths []string) (*CheckoutResult, error) {
	return nil, errUnfinished
}

// Discard takes back unrecorded changes: all, of some paths, or some hunks. What it takes is kept in the store, and Undo brings
// it back. It gives how the files differed.
func (r *Repo) Discard(ctx context.Context, paths, hunks []string) ([]FileChange, error) {
	return nil, errUnfinished
}

// Move renames a file or directory in the working copy and notes it as a move for the next record.
func (r *Repo) Move(ctx context.Context, from, to string) error { return errUnfinished }

// Remove deletes files from the working copy; those with unrecorded changes only by force. It gives the paths.
func (r *Repo) Remove(ctx context.Context, paths []string, force bool) ([]string, error) {
	return nil, errUnfinished
}

// Untrack makes the next record remove ignored files from the history that follows and leave them on disk.
func (r *Repo) Untrack(ctx context.Context, paths []string) ([]string, error) {
	return nil, errUnfinished
}

// Bookmarks lists bookmarks by name; Tags tags.
func (r *Repo) Bookmarks() ([]Named, error) { return nil, errUnfinished }

// Tags lists tags by name.
func (r *Repo) Tags() ([]Named, error) { return nil, errUnfinished }

// SetBookmark makes a bookmark at a state, or with move moves one that exists.
func (r *Repo) SetBookmark(name string, s StateRef, move bool) error { return errUnfinished }

// RenameBookmark gives a bookmark another name.
func (r *Repo) RenameBookmark(from, to string) error { return errUnfinished }

// DeleteBookmark deletes a bookmark that is not current.
func (r *Repo) DeleteBookmark(name string) error { return errUnfinished }

// SetTag makes a tag at a state, or with move moves one that exists.
func (r *Repo) SetTag(name string, s StateRef, move bool) error { return errUnfinished }

// DeleteTag deletes a tag.
func (r *Repo) DeleteTag(name string) error { return errUnfinished }

// Checkpoint keeps the tree of the current state, so that it and what follows it is read at once.
func (r *Repo) Checkpoint() (StateRef, error) { return StateRef{}, errUnfinished }

// Checkpoints lists the states that are kept.
func (r *Repo) Checkpoints() ([]StateRef, error) { return nil, errUnfinished }

// Undo takes back the last operation that was not undone yet, and says which. Files that it had changed in the working copy
// come back; unrecorded edits stay.
func (r *Repo) Undo(ctx context.Context) (*OpInfo, error) { return nil, errUnfinished }

// Ops gives operations, latest first, until fn returns an error, which it returns.
func (r *Repo) Ops(fn func(*OpInfo) error) error { return errUnfinished }
