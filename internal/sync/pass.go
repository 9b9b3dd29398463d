package sync

import (
	"encoding/binary"
	"io"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Pass copies the changes of a bundle to out as they are, but for those that skip tells of, to its end, and gives what the bundle says of names. With
// out nil no change is copied. Frames are checked, and nothing else: what they hold is for who reads the copy to judge.
func (r *Reader) Pass(out *Writer, skip func(change.ID) bool, update func(*Update) error) error {
	buf := make([]byte, piece)
	for {
		kind, payload, err := r.next()
		if err != nil {
			return err
		}
		switch kind {
		case kindEnd:
			return nil
		case kindChange:
			err = r.passChange(payload, out, skip, buf)
		case kindUpdate:
			var u *Update
			if u, err = r.update(payload); err == nil {
				err = update(u)
			}
		default:
			err = malformed("a frame of kind %q", byte(kind))
		}
		if err != nil {
			return r.fail(err)
		}
	}
}

func (r *Reader) passChange(payload []byte, out *Writer, skip func(change.ID) bool, buf []byte) error {
	f := fields{b: payload}
	id := change.ID(f.id())
	head := append([]byte(nil), id[:]...)
	for range 3 {
		head = binary.AppendUvarint(head, f.uvarint())
	}
	size := r.open(&f, 1<<62)
	if err := f.end("the head of a change"); err != nil {
		return err
	}
	if len(r.pack.ids) >= maxChanges {
		return malformed("too many changes")
	}
	r.pack.note(id)
	if out == nil || skip != nil && skip(id) {
		return r.skip()
	}
	if err := out.item(kindChange, head, size); err != nil {
		return err
	}
	out.pack.note(id)
	_, err := io.CopyBuffer(writerOnly{out}, readerOnly{r}, buf)
	return err
}

// writerOnly hides all other methods.
type writerOnly struct{ io.Writer }
