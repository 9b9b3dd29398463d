package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	gosync "sync"

	"github.com/oxy-vcs/oxy/internal/s3"
	"github.com/oxy-vcs/oxy/internal/sync"
)

const (
	// readSize is how much one request reads: large enough that the way to the store does not count.
	readSize = 8 << 20
	// readsAtOnce is how many are under way; what they bring, and what waits to be used, is at most readMemory, in steps of readStep.
	readsAtOnce = 16
	readMemory  = 48 << 20
	readStep    = 64 << 10
)

// extent is a stretch of a pack.
type extent struct {
	key       Key
	from, len uint64
}

// piece is what one request reads.
type piece struct {
	key  string
	from int64
	n    int64
}

// pieces divides stretches into requests: those that lie together are read together.
func (b *Remote) pieces(extents []extent) (out []piece) {
	for i := 0; i < len(extents); {
		e := extents[i]
		for i++; i < len(extents) && extents[i].key == e.key && extents[i].from == e.from+e.len; i++ {
			e.len += extents[i].len
		}
		for e.len > 0 {
			within := e.from % pieceSize
			n := min(e.len, readSize, pieceSize-within)
			out = append(out, piece{b.pieceName(e.key, int(e.from/pieceSize)), int64(within), int64(n)})
			e.from, e.len = e.from+n, e.len-n
		}
	}
	return out
}

type answer struct {
	data []byte
	err  error
}

// ahead reads pieces in their order, some at once.
type ahead struct {
	ctx    context.Context
	cancel context.CancelFunc
	queue  chan chan answer
	steps  chan struct{} // of memory
	done   chan struct{}
	data   []byte
	held   int // steps that data takes
}

func (b *Remote) ahead(ctx context.Context, pieces []piece) *ahead {
	a := &ahead{queue: make(chan chan answer, readsAtOnce-2), steps: make(chan struct{}, readMemory/readStep), done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		var wg gosync.WaitGroup
		defer wg.Wait()
		defer close(a.queue)
		for _, p := range pieces {
			for range stepsOf(int(p.n)) {
				select {
				case a.steps <- struct{}{}:
				case <-a.ctx.Done():
					return
				}
			}
			c := make(chan answer, 1)
			select {
			case a.queue <- c:
			case <-a.ctx.Done():
				return
			}
			wg.Go(func() {
				data, _, err := b.store.Range(a.ctx, p.key, p.from, p.n)
				if errors.Is(err, s3.ErrNotFound) {
					err = ErrDropped
				}
				c <- answer{data, err}
			})
		}
	}()
	return a
}

func stepsOf(n int) int { return (n + readStep - 1) / readStep }

func (a *ahead) close() {
	a.cancel()
	<-a.done
}

// Read gives the bytes of all pieces one after the other.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.data) == 0 {
		for ; a.held > 0; a.held-- {
			<-a.steps
		}
		c, ok := <-a.queue
		if !ok {
			if err := a.ctx.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		got := <-c
		if got.err != nil {
			return 0, got.err
		}
		a.data, a.held = got.data, stepsOf(len(got.data))
	}
	n := copy(p, a.data)
	a.data = a.data[n:]
	return n, nil
}

// streams reads segments one after the other.
func (b *Remote) streams(ctx context.Context, extents []extent, use func(i int, in *sync.Reader) error) error {
	a := b.ahead(ctx, b.pieces(extents))
	defer a.close()
	for i, e := range extents {
		if err := oneStream(limited(a, e.len), func(in *sync.Reader) error { return use(i, in) }); err != nil {
			return fmt.Errorf("pack %s: %w", e.key, err)
		}
	}
	return nil
}

func limited(a *ahead, n uint64) io.Reader { return io.LimitReader(a, int64(n)) }

func oneStream(r io.Reader, use func(*sync.Reader) error) error {
	failed := &firstError{r: r}
	err := func() error {
		in, err := sync.NewReader(failed, sync.MaxMessage)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := in.Bundle(); err != nil {
			return err
		}
		return use(in)
	}()
	if err != nil && failed.err != nil { // a decompressor makes others of what the store said
		return failed.err
	}
	if err == nil {
		// What a decompressor left over belongs to no stream.
		if n, _ := io.Copy(io.Discard, r); n > 0 {
			return malformed("a segment is longer than its stream")
		}
	}
	return err
}

type firstError struct {
	r   io.Reader
	err error
}

func (f *firstError) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && f.err == nil {
		f.err = err
	}
	return n, err
}
