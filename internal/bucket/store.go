package bucket

import (
	"context"
	"errors"
	"time"

	"github.com/oxy-vcs/oxy/internal/s3"
)

// Store is object storage, as s3.Client has it: errors are those of package s3. It may be used from many goroutines.
type Store interface {
	// Whole reads an object of at most limit bytes.
	Whole(ctx context.Context, key string, limit int64) ([]byte, s3.Info, error)
	// Range reads exactly n bytes of an object.
	Range(ctx context.Context, key string, offset, n int64) ([]byte, s3.Info, error)
	Put(ctx context.Context, key string, body []byte) (s3.Info, error)
	// PutIf writes an object if it is still the one of an ETag, or if it is not there where that is "".
	PutIf(ctx context.Context, key string, body []byte, etag string) (s3.Info, error)
	Delete(ctx context.Context, keys ...string) error
	List(ctx context.Context, prefix string) ([]s3.Listed, error)
}

// rooted is a root as it was read or written.
type rooted struct {
	*Root
	etag string
	date time.Time // by the store's clock
}

// readRoot reads the root. A bucket without one is empty.
func (b *Remote) readRoot(ctx context.Context) (*rooted, error) {
	data, info, err := b.store.Whole(ctx, b.prefix+"root", maxRoot)
	if errors.Is(err, s3.ErrNotFound) {
		return &rooted{Root: &Root{}, date: info.Date}, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := DecodeRoot(data)
	if err != nil {
		return nil, err
	}
	if info.ETag == "" {
		return nil, errNoETag
	}
	return &rooted{r, info.ETag, info.Date}, nil
}

// swap writes a root in the place of the one that was read. ErrCondition says that it is no longer that one, or that an earlier try did it.
func (b *Remote) swap(ctx context.Context, old *rooted, next *Root) (*rooted, error) {
	data := next.Encode()
	if len(data) > maxRoot {
		return nil, errTooManyNames
	}
	info, err := b.store.PutIf(ctx, b.prefix+"root", data, old.etag)
	if err != nil {
		return nil, err
	}
	if info.ETag == "" {
		return nil, s3.ErrCondition // what it is now has to be read
	}
	return &rooted{next, info.ETag, info.Date}, nil
}

// probe tries, before a bucket's first root, whether the store keeps to conditions: one that passes over them would lose pushes in silence.
func (b *Remote) probe(ctx context.Context) error {
	for i, etag := range []string{"", "", `"00000000000000000000000000000000"`} {
		_, err := b.store.PutIf(ctx, b.prefix+"probe", []byte("Does this store keep to conditions?\n"), etag)
		switch {
		case errors.Is(err, s3.ErrCondition):
		case err != nil:
			return err
		case i > 0: // the first may find nothing there
			return ErrNoConditions
		}
	}
	return nil
}
