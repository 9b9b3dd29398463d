package bucket

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	gosync "sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/sync"
)

const (
	// pieceSize is how much of a pack one object has: what is sent again when the way fails, and, with putsAtOnce, what a push has in memory.
	pieceSize  = 16 << 20
	putsAtOnce = 3
	// maxInlineTable is up to which size a table goes into the root, where readers have it without a request.
	maxInlineTable = 1 << 10
)

// packWriter writes a pack, piece after piece. Nothing refers to it until a root does.
type packWriter struct {
	ctx    context.Context
	cancel context.CancelFunc
	b      *Remote
	key    Key
	buf    []byte
	pieces int
	bytes  uint64
	table  Table

	slots chan struct{}
	wg    gosync.WaitGroup
	mu    gosync.Mutex
	err   error
	last  time.Time // when the last piece was written, by the store's clock
}

func (b *Remote) newPack(ctx context.Context) *packWriter {
	w := &packWriter{b: b, slots: make(chan struct{}, putsAtOnce)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	_, _ = rand.Read(w.key[:]) // it never fails
	return w
}

// Write takes bytes of segments, and of the table behind them.
func (w *packWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(pieceSize-len(w.buf), len(p))
		w.buf = append(w.buf, p[:k]...)
		p = p[k:]
		if len(w.buf) == pieceSize {
			if err := w.put(); err != nil {
				return 0, err
			}
		}
	}
	w.bytes += uint64(n)
	return n, nil
}

func (w *packWriter) put() error {
	w.slots <- struct{}{}
	if err := w.failed(); err != nil {
		<-w.slots
		return err
	}
	name, body := w.b.pieceName(w.key, w.pieces), w.buf
	w.pieces++
	w.buf = nil
	w.wg.Go(func() {
		defer func() { <-w.slots }()
		info, err := w.b.store.Put(w.ctx, name, body)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil && w.err == nil {
			w.err = err
			w.cancel()
		}
		if info.Date.After(w.last) {
			w.last = info.Date
		}
	})
	return nil
}

func (w *packWriter) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (b *Remote) pieceName(k Key, n int) string { return fmt.Sprintf("%spacks/%s/%d", b.prefix, k, n) }

// segment writes one segment, a bundle that fill makes.
func (w *packWriter) segment(moves []Move, fill func(*sync.Writer) error) error {
	from := w.bytes
	out, err := sync.NewWriter(w, sync.Zstd)
	if err != nil {
		return err
	}
	if err := out.Bundle(false); err != nil {
		return err
	}
	if err := fill(out); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	w.table = append(w.table, Segment{w.bytes - from, moves})
	return nil
}

// copySegment copies one as it is.
func (w *packWriter) copySegment(a *ahead, s Segment) error {
	n, err := io.Copy(w, limited(a, s.Bytes))
	if err == nil && uint64(n) != s.Bytes {
		err = io.ErrUnexpectedEOF
	}
	w.table = append(w.table, s)
	return err
}

// finish waits until all of the pack is there, with its table if that is known by now.
func (w *packWriter) finish(withTable bool) (Pack, error) {
	p := Pack{Key: w.key, Data: w.bytes}
	if withTable {
		p.setTable(w.table)
		if len(w.table.Encode()) > maxInlineTable {
			table := p.Inline
			p.Inline = nil
			if _, err := w.Write(table); err != nil {
				w.close()
				return p, err
			}
		}
	}
	var err error
	if len(w.buf) > 0 {
		err = w.put()
	}
	w.close()
	if err == nil {
		err = w.failed()
	}
	return p, err
}

// close waits for what is under way.
func (w *packWriter) close() {
	w.wg.Wait()
	w.cancel()
}

// setTable puts a table into what the root says of a pack.
func (p *Pack) setTable(t Table) {
	p.Inline = t.Encode()
	p.Table, p.Check = uint64(len(p.Inline)), xxh3.Hash(p.Inline)
	p.From, p.To = t.from(), t.to()
}
