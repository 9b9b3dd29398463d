package sync

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Peer is the other side: each call asks once. send writes the request, receive reads the reply; both streams are begun and
// ended by the peer.
type Peer interface {
	Do(ctx context.Context, send func(*Writer) error, receive func(*Reader) error) error
	Close() error
}

// Handler answers one request. An error that it returns was not told to the other side yet, and words that are for it are a
// RefusedError.
type Handler interface {
	Handle(ctx context.Context, in *Reader, out *Writer) error
}

// RefusedError is an answer of no, in words that may travel.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// MaxMessage is what a client takes in one message: nothing that a person clones is larger, and an endless stream ends.
const MaxMessage = 1 << 42

// Respond runs a handler on one message, of which limit bytes are taken once decompressed, and tells the other side how it ended.
// It gives what was asked for too, 0 if that was not to be read.
func Respond(ctx context.Context, h Handler, in io.Reader, out io.Writer, codec Codec, limit int64) (Verb, error) {
	w, err := NewWriter(out, codec)
	if err != nil {
		return 0, err
	}
	verb, err := answerTo(ctx, h, in, w, limit)
	if err != nil {
		text := "it could not be done"
		var refused *RefusedError
		switch {
		case errors.As(err, &refused):
			text = refused.Text
		case errors.Is(err, ErrMalformed), errors.Is(err, ErrTooMuch):
			text = err.Error()
		}
		if told := w.Refuse(text); told != nil {
			return verb, errors.Join(err, told)
		}
	}
	return verb, errors.Join(err, w.Close())
}

func answerTo(ctx context.Context, h Handler, in io.Reader, w *Writer, limit int64) (Verb, error) {
	r, err := NewReader(in, limit)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	err = h.Handle(ctx, r, w)
	return r.verb, err
}

// A pipe carries one message after another each way. A message is cut into chunks, each after its length, and ends with a chunk
// of none: who reads a message then never reads into the next. The length comes twice, the second time inverted: with another
// one both sides would wait for each other for ever.
const maxChunk = 1<<16 - 1

type chunkWriter struct {
	w   io.Writer
	buf []byte
}

func (c *chunkWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if c.buf == nil {
			c.buf = make([]byte, 4, 4+maxChunk)
		}
		k := min(len(p), cap(c.buf)-len(c.buf))
		c.buf = append(c.buf, p[:k]...)
		p = p[k:]
		if len(c.buf) == cap(c.buf) {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (c *chunkWriter) flush() error {
	if len(c.buf) <= 4 {
		return nil
	}
	n := uint16(len(c.buf) - 4)
	binary.LittleEndian.PutUint16(c.buf, n)
	binary.LittleEndian.PutUint16(c.buf[2:], ^n)
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:4]
	return err
}

func (c *chunkWriter) end() error {
	if err := c.flush(); err != nil {
		return err
	}
	_, err := c.w.Write([]byte{0, 0, 0xff, 0xff})
	return err
}

type chunkReader struct {
	r    io.Reader
	left int
	over bool
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if c.over {
		return 0, io.EOF
	}
	if c.left == 0 {
		var b [4]byte
		if _, err := io.ReadFull(c.r, b[:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		n := binary.LittleEndian.Uint16(b[:])
		if n != ^binary.LittleEndian.Uint16(b[2:]) {
			return 0, malformed("a chunk's length")
		}
		if n == 0 {
			c.over = true
			return 0, io.EOF
		}
		c.left = int(n)
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// ServePipe answers requests until the other side closes its end.
func ServePipe(ctx context.Context, in io.Reader, out io.Writer, h Handler, codec Codec, limit int64) error {
	for {
		var first [1]byte
		if _, err := io.ReadFull(in, first[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		request := &chunkReader{r: io.MultiReader(&once{b: first[0]}, in)}
		reply := &chunkWriter{w: out}
		_, err := Respond(ctx, h, request, reply, codec, limit)
		// What is left of a request that was refused stands in the way of the reply: the other side may still be writing.
		if _, drained := io.Copy(io.Discard, io.LimitReader(request, limit)); drained != nil {
			return errors.Join(err, drained)
		}
		if ended := reply.end(); ended != nil {
			return errors.Join(err, ended)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// once gives one byte.
type once struct {
	b    byte
	done bool
}

func (o *once) Read(p []byte) (int, error) {
	if o.done {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	p[0], o.done = o.b, true
	return 1, nil
}

// pipe is a peer at the other end of two pipes.
type pipe struct {
	in    io.Reader
	out   io.Writer
	codec Codec
	close func() error
	err   error // after it nobody knows where a message begins
}

// NewPipe speaks with what serves at the other end of in and out.
func NewPipe(in io.Reader, out io.Writer, codec Codec, release func() error) Peer {
	return &pipe{in: in, out: out, codec: codec, close: release}
}

func (p *pipe) Close() error { return p.close() }

func (p *pipe) Do(ctx context.Context, send func(*Writer) error, receive func(*Reader) error) error {
	if p.err != nil {
		return p.err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.close() })
	defer stop()
	err := p.do(send, receive)
	if err != nil {
		p.err = err
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

func (p *pipe) do(send func(*Writer) error, receive func(*Reader) error) error {
	request := &chunkWriter{w: p.out}
	w, err := NewWriter(request, p.codec)
	if err != nil {
		return fmt.Errorf("ask the other side: %w", err)
	}
	if err := send(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("ask the other side: %w", err)
	}
	if err := request.end(); err != nil {
		return fmt.Errorf("ask the other side: %w", err)
	}
	reply := &chunkReader{r: p.in}
	r, err := NewReader(reply, MaxMessage)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := receive(r); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, reply); err != nil {
		return malformed("it was cut off")
	}
	return nil
}

// Local speaks with a handler in this process.
func Local(ctx context.Context, h Handler, release func() error) Peer {
	ctx, cancel := context.WithCancel(ctx)
	toIn, toOut := io.Pipe()
	fromIn, fromOut := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer cancel()
		defer close(done)
		err := ServePipe(ctx, toIn, fromOut, h, Raw, MaxMessage)
		_ = toIn.CloseWithError(err)
		_ = fromOut.CloseWithError(err)
	}()
	return NewPipe(fromIn, toOut, Raw, func() error {
		cancel()
		_ = toOut.Close()
		_ = fromIn.Close()
		<-done
		return release()
	})
}
