package bucket

import (
	"errors"
	"io"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// previews tells of the changes of a segment in place of sending them.
func previews(in *sync.Reader, out *sync.Writer, skip func(change.ID) bool, update func(*sync.Update) error) error {
	return in.Pack(sync.Receiver{
		Known: skip,
		Change: func(c *sync.Change, texts *sync.Texts) error {
			for {
				_, r, err := texts.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err == nil {
					_, err = io.Copy(io.Discard, r)
				}
				if err != nil {
					return err
				}
			}
			subject, _, _ := strings.Cut(c.Change.Message, "\n")
			return out.Preview(sync.Preview{ID: c.ID, Subject: subject, Bytes: sync.ChangeSize(len(c.Meta), len(c.Body), len(c.Unhashed), c.Change.Files)})
		},
		Update: update,
	})
}
