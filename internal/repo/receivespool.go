package repo

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/sync"
)

// gathered puts the rest of a stream into a file first, and has it read from there. The writers' lock is then held for as long as
// the disk needs, not the peer.
func (r *Repo) gathered(in *sync.Reader, use func(*sync.Reader) error) error {
	dir := filepath.Join(r.dir, "incoming")
	if err := r.fs.MkdirAll(dir, 0o777); err != nil {
		return fileError("take the push", err)
	}
	name := filepath.Join(dir, rand.Text())
	f, err := r.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fileError("take the push", err)
	}
	err = func() error {
		gathered := in.Gather(f)
		if gathered != nil && !errors.Is(gathered, sync.ErrCut) {
			return gathered
		}
		// What it was gathered with was within the limit, and each frame is a little longer at most.
		from, err := sync.NewReader(bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 1<<20), sync.MaxMessage)
		if err != nil {
			return errors.Join(gathered, err)
		}
		defer from.Close()
		if gathered != nil {
			// Who pushes begins again, and is told then what need not come again. Nobody waits for this any more.
			if err := r.receiveAlong(context.Background(), from, &received{}); !errors.Is(err, sync.ErrCut) {
				return errors.Join(gathered, err)
			}
			return gathered
		}
		return use(from)
	}()
	return errors.Join(err, f.Close(), r.fs.Remove(name))
}
