package store

import (
	"context"
	"fmt"
)

// Use is what one kind of things takes in the log.
type Use struct {
	Items uint64 // contents, changes, states, operations
	Bytes int64  // on the disk, with headers and padding
	Raw   int64  // what is in the frames when decompressed
}

func (u *Use) add(f frame) {
	u.Bytes += f.size()
	u.Raw += int64(f.raw)
}

// Usage is where the bytes of the log are. States that an operation brought lie in its frame, and small contents that a change
// brought in the change's.
type Usage struct {
	Contents, Changes, States, Ops, Segments Use
}

// Usage goes over the log's frames up to the last operation.
func (s *Store) Usage(ctx context.Context) (u Usage, err error) {
	t := s.now.Load()
	l := t.log
	for n := l.first; n <= t.end.segment(); n++ {
		seg, err := l.segment(n)
		if err != nil {
			return u, l.unreadable(placeAt(n, 0), err)
		}
		size := l.committed(seg)
		if n == t.end.segment() {
			size = int64(t.end.off())
		}
		start := int64(segmentStart)
		if n == l.first {
			start = int64(l.start.off())
		}
		u.Segments.Items++
		u.Segments.Bytes += start
		for off := start; off < size; {
			if err := ctx.Err(); err != nil {
				return u, context.Cause(ctx)
			}
			p := placeAt(n, uint32(off))
			f, err := l.frame(p)
			if err != nil {
				return u, fmt.Errorf("look through the log: %w", err)
			}
			switch f.kind {
			case kindBlobs, kindList:
				u.Contents.add(f)
			case kindChange, kindChanges:
				u.Changes.add(f)
			case kindStates:
				u.States.add(f)
			default:
				u.Ops.add(f)
			}
			off += f.size()
		}
	}
	u.Contents.Items, u.Changes.Items = uint64(t.n[blobsCol]), uint64(t.n[changesCol])
	u.States.Items, u.Ops.Items = uint64(t.n[statesCol]), uint64(t.n[opsCol])
	return u, nil
}

// Packed returns how many bytes the log has, and how many of them are in a base.
func (s *Store) Packed() (all, packed int64, err error) {
	t := s.now.Load()
	return t.log.length(t.end)
}
