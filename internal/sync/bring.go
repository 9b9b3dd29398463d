package sync

import (
	"errors"
	"io"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Content sends a content that was asked for by its hash.
func (w *Writer) Content(h change.Hash, size int64, write func(io.Writer) error) error {
	if err := w.item(kindContent, append([]byte(nil), h[:]...), size); err != nil {
		return err
	}
	if err := write(w); err != nil {
		return w.fail(err)
	}
	if w.left > 0 {
		return w.fail(errors.New("a content is shorter than it was said to be"))
	}
	return nil
}

// Contents reads contents to the end of the stream and gives each to take, which reads all of it. Whether it has its hash, and was asked
// for, is for the caller to see.
func (r *Reader) Contents(take func(h change.Hash, size int64, from io.Reader) error) error {
	return r.toEnd(func(kind frameKind, payload []byte) error {
		f := fields{b: payload}
		h := change.Hash(f.id())
		size := r.open(&f, change.MaxContent)
		if err := f.end("the head of a content"); err != nil {
			return err
		}
		if kind != kindContent {
			return malformed("a frame of kind %q among contents", byte(kind))
		}
		if err := take(h, size, io.LimitReader(readerOnly{r}, size)); err != nil {
			return err
		}
		if r.left > 0 || len(r.data) > 0 {
			return malformed("content %s was not read", h)
		}
		return nil
	})
}
