package sync

import (
	"bufio"
	"errors"
	"io"
)

// Gather copies the rest of a stream to w, as one that begins here and is not compressed. Each frame is checked on its way. Of a
// stream that is cut w has what came.
func (r *Reader) Gather(w io.Writer) error {
	b := bufio.NewWriterSize(w, 2*piece)
	out, err := NewWriter(b, Raw)
	if err != nil {
		return err
	}
	for {
		kind, payload, err := r.frame()
		if err != nil {
			return errors.Join(err, b.Flush())
		}
		out.left = 0 // frames pass as they are: the reader of the copy judges what they mean
		if err := out.frame(kind, payload); err != nil {
			return err
		}
		if kind == kindEnd {
			return b.Flush()
		}
	}
}
