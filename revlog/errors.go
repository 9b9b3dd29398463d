package revlog

import (
	"errors"
	"fmt"
)

// What a caller may ask for in vain.
var (
	// ErrUnknown: no revision has this node id or prefix.
	ErrUnknown = errors.New("no such revision")
	// ErrAmbiguous: a prefix that several revisions' node ids begin with.
	ErrAmbiguous = errors.New("several revisions begin so")
	// ErrClosed: the Log was closed.
	ErrClosed = errors.New("revlog is closed")
)

// What is wrong with a file. Any of them may be wrapped in an *Error.
var (
	// ErrUnsupported: a version, a feature or a flag that this package does not know. Nothing of it was read.
	ErrUnsupported = errors.New("not supported")
	// ErrCorrupt: the file contradicts itself or ends too early.
	ErrCorrupt = errors.New("corrupt")
	// ErrHash: a text does not have the hash that its index entry states.
	ErrHash = errors.New("wrong hash")
	// ErrTooLarge: a text or delta above Options.MaxText. What a bomb ends with.
	ErrTooLarge = errors.New("too large")
)

// Texts that are not in the revlog, though it is sound.
var (
	// ErrCensored: the text was removed on purpose and a tombstone stands in its stead, which Reader.Raw returns.
	ErrCensored = errors.New("censored")
	// ErrExternal: the text is stored elsewhere (largefiles, LFS) and Reader.Raw returns what points to it.
	ErrExternal = errors.New("stored externally")
)

// Error is a fault in a revlog's files.
type Error struct {
	File string // path of the index or data file, as opened
	Rev  Rev    // Null when the fault is no single revision's
	Err  error  // the cause; wraps one of the sentinels or an error of the file system
}

func (e *Error) Error() string {
	if e.Rev == Null {
		return fmt.Sprintf("revlog %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("revlog %s: revision %d: %v", e.File, e.Rev, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// corrupt says what contradicts what.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}
