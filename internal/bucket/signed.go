package bucket

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/s3"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// signatures are those that came after their changes, and signed checkpoints: one object, replaced only by who has seen what it replaces.
type signatures struct {
	list []sync.Signed
	at   map[change.ID]int
	size int
	etag string // "": there is none
}

const (
	signaturesName = "signatures"
	maxSignatures  = sync.MaxSignedBytes + sync.MaxSigned*128 // bytes of the object
)

// markOf stands for the signatures of a bucket: who writes some writes the root anew.
func markOf(r *Root) (m sync.Mark) {
	if r.Generation > 0 {
		copy(m[:], "bucket")
		binary.LittleEndian.PutUint64(m[8:], r.Generation)
	}
	return m
}

// readSigned reads the signatures, once after each list.
func (b *Remote) readSigned(ctx context.Context) (*signatures, error) {
	if b.signed != nil {
		return b.signed, nil
	}
	out := &signatures{at: map[change.ID]int{}}
	data, info, err := b.store.Whole(ctx, b.prefix+signaturesName, maxSignatures)
	if errors.Is(err, s3.ErrNotFound) {
		b.signed = out
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	if out.etag = info.ETag; out.etag == "" {
		return nil, errNoETag
	}
	list, err := decodeSignatures(data)
	if err != nil {
		return nil, err
	}
	for i := range list {
		out.add(&list[i])
	}
	b.signed = out
	return out, nil
}

func decodeSignatures(data []byte) (list []sync.Signed, err error) {
	err = oneStream(bytes.NewReader(data), func(in *sync.Reader) error {
		list, err = in.SignedList()
		return err
	})
	return list, err
}

func encodeSignatures(list []sync.Signed) ([]byte, error) {
	var b bytes.Buffer
	w, err := sync.NewWriter(&b, sync.Zstd)
	if err != nil {
		return nil, err
	}
	err = w.Bundle(true)
	for i := range list {
		err = errors.Join(err, w.Signed(&list[i]))
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// add adds one if there is room.
func (s *signatures) add(one *sync.Signed) (has, added bool) {
	id := one.ID()
	if _, ok := s.at[id]; ok {
		return true, false
	}
	if len(s.list) == sync.MaxSigned || s.size+len(one.Entry.Bytes) > sync.MaxSignedBytes {
		return false, false
	}
	s.at[id] = len(s.list)
	s.size += len(one.Entry.Bytes)
	s.list = append(s.list, *one)
	return true, true
}

func (s *signatures) ids() *sync.IDSet {
	return sync.NewIDSet(slices.Collect(maps.Keys(s.at)))
}

func (b *Remote) signedSets(ctx context.Context, q *sync.Request, out *sync.Writer) error {
	s, err := b.readSigned(ctx)
	if err != nil {
		return err
	}
	answers, err := s.ids().Answer(q.Ranges)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Ranges(answers)
}

func (b *Remote) takeSigned(ctx context.Context, q *sync.Request, out *sync.Writer) error {
	s, err := b.readSigned(ctx)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	for _, id := range q.IDs {
		if i, ok := s.at[id]; ok {
			if err := out.Signed(&s.list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveSigned adds signatures, and has the root written anew, by which others learn of them.
func (b *Remote) giveSigned(ctx context.Context, q *sync.Request, out *sync.Writer) error {
	given := &sync.Given{Before: markOf(b.root.Root), After: markOf(b.root.Root), Has: make([]bool, len(q.Signed))}
	if b.root.Generation > 0 { // else nothing is there that they could be of
		added, err := b.addSigned(ctx, q.Signed, given.Has)
		if err == nil && added {
			err = b.tellSigned(ctx, given)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Given(given)
}

// addSigned writes the signatures with some more, again where somebody was faster.
func (b *Remote) addSigned(ctx context.Context, more []sync.Signed, has []bool) (added bool, err error) {
	for try := range swaps {
		s, err := b.readSigned(ctx)
		if err != nil {
			return false, err
		}
		added := false
		for i := range more {
			var did bool
			has[i], did = s.add(&more[i])
			added = added || did
		}
		if !added {
			return try > 0, nil // an answer may have been lost
		}
		b.signed = nil
		data, err := encodeSignatures(s.list)
		if err != nil {
			return false, err
		}
		_, err = b.store.PutIf(ctx, b.prefix+signaturesName, data, s.etag)
		if err == nil {
			return true, nil
		}
		if ctx.Err() != nil || isRefused(err) {
			return false, err
		}
		if err := b.yield(ctx, try); err != nil {
			return false, err
		}
	}
	return false, ErrBusy
}

// tellSigned writes the root anew. A push that follows is told by the root that was listed, so another one that was read meanwhile stays aside.
func (b *Remote) tellSigned(ctx context.Context, given *sync.Given) error {
	at := b.root
	for try := range swaps {
		now, err := b.swap(ctx, at, at.next())
		if err == nil {
			given.Before, given.After = markOf(at.Root), markOf(now.Root)
			if at == b.root {
				b.root = now
			}
			return nil
		}
		if ctx.Err() != nil || isRefused(err) {
			return err
		}
		if err := b.yield(ctx, try); err != nil {
			return err
		}
		if at, err = b.readRoot(ctx); err != nil {
			return err
		}
	}
	return ErrBusy
}
