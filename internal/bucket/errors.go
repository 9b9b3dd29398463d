package bucket

import (
	"errors"
	"fmt"
)

// What callers tell apart, for errors.Is, beside the errors of package s3.
var (
	// ErrMalformed: what lies in the bucket is not what oxy writes there.
	ErrMalformed = errors.New("what is in the bucket cannot be read")
	// ErrUncertain: the way to the store failed while the root was written, and nobody knows whether it was.
	ErrUncertain = errors.New("the way to the bucket failed, and it is not known whether the push was taken")
	// ErrBusy: each time somebody else was faster.
	ErrBusy = errors.New("too many push to it at the same time")
	// ErrSlow: what was pushed may be swept away before the root names it.
	ErrSlow = errors.New("the push took longer than half a day between its parts")
	// ErrDropped: the reader was slower than a day, or the bucket lost something.
	ErrDropped = errors.New("a pack that it names is not there")
	// ErrNoConditions: of two pushes at once one would be lost in silence.
	ErrNoConditions = errors.New("the store overwrites objects even if it is told not to, by which pushes would be lost")

	errTooManyNames = errors.New("there are too many bookmarks and tags for one bucket")
	errTooManyPacks = errors.New("there are too many packs for one bucket")
	errNoETag       = errors.New("the store gives no ETag, without which bookmarks cannot be moved safely")
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
