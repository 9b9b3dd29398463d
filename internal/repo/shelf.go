package repo

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	gosync "sync"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// maxShelved bounds how many servers are remembered: beyond, they are made anew, which is cheap.
const maxShelved = 1 << 10

// Shelf serves all repositories beneath a directory, by their paths.
type Shelf struct {
	dir string
	opt ServeOptions

	mu   gosync.Mutex
	open map[string]*Server
}

// NewShelf serves what lies beneath dir.
func NewShelf(dir string, opt ServeOptions) (*Shelf, error) {
	opt.Options = opt.withDefaults()
	var st vfs.Stat
	if err := opt.FS.Lstat(dir, &st); err != nil || st.Kind != vfs.KindDir {
		return nil, &Error{Text: "there is no directory " + safepath.Quote(dir), Next: "Check the path.", Err: cause(err, fs.ErrNotExist)}
	}
	return &Shelf{dir: dir, opt: opt, open: map[string]*Server{}}, nil
}

// Find gives what serves the repository at a path, which a peer chose: no part of it is followed where it is a link, and none
// leads out of the directory or into a repository's own files.
func (s *Shelf) Find(path string) (sync.Handler, error) {
	if err := errors.Join(safepath.Check(path), safepath.CheckPortable(path)); err != nil {
		return nil, err
	}
	if err := s.walk(path); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.open[path]; ok {
		return found, nil
	}
	made, err := NewServer(filepath.Join(s.dir, filepath.FromSlash(path)), s.opt)
	if err != nil {
		return nil, err
	}
	if len(s.open) >= maxShelved {
		clear(s.open)
	}
	s.open[path] = made
	return made, nil
}

func (s *Shelf) walk(path string) error {
	d, err := s.opt.FS.OpenDir(s.dir)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(path, "/") {
		next, err := d.OpenDir(part)
		if err = errors.Join(err, d.Close()); err != nil {
			if next != nil {
				err = errors.Join(err, next.Close())
			}
			return err
		}
		d = next
	}
	var st vfs.Stat
	err = d.Lstat(DirName, &st)
	if err == nil && st.Kind != vfs.KindDir {
		err = fs.ErrNotExist
	}
	return errors.Join(err, d.Close())
}
