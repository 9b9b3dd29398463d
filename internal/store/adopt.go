package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// ErrNotPlain: where a segment of another's log belongs stands a link or something else that is no plain file.
var ErrNotPlain = errors.New("not a plain file")

// Adopted tells how another's log came.
type Adopted struct {
	Bytes int64
	Way   vfs.Way // of the largest part
}

// Adopt makes in dir, where there is no store, one that has the log of the store at src up to its last operation, and opens it. Nothing of it
// was proved, and the directory is no repository until Accept. A segment that nobody writes to any more may become a second name of the
// other's file, where that belongs to the owner of dir alone; progress is told of bytes and may stop it.
func Adopt(fsys vfs.FS, src, dir string, progress func(bytes int64) error) (*Store, Adopted, error) {
	from, err := Open(fsys, src)
	if err != nil {
		return nil, Adopted{}, err
	}
	a := adoption{from: from, dir: dir, progress: progress}
	end, err := a.take()
	if err = errors.Join(err, from.Close()); err != nil {
		return nil, Adopted{}, fmt.Errorf("take the log of %s: %w", src, err)
	}
	s := newStore(fsys, dir)
	s.format.Store(int32(from.Format()))
	if err = s.load(false); err == nil {
		// A linked segment must never be the one that is written to, and a writer cuts what it finds behind the end.
		if now := s.now.Load().end; now != end {
			err = s.now.Load().log.lost(now, 0)
		}
	}
	if err != nil {
		return nil, Adopted{}, errors.Join(fmt.Errorf("open the log taken from %s: %w", src, err), s.Close())
	}
	return s, a.done, nil
}

type adoption struct {
	from     *Store
	dir      string
	progress func(int64) error
	owner    uint32 // of dir
	ways     [3]int64
	done     Adopted
}

// take brings the segments over, and tells where the last operation ends.
func (a *adoption) take() (place, error) {
	fsys := a.from.fsys
	for _, sub := range []string{"log", "index"} {
		if err := fsys.MkdirAll(filepath.Join(a.dir, sub), 0o777); err != nil {
			return 0, err
		}
	}
	var st vfs.Stat
	if err := fsys.Lstat(a.dir, &st); err != nil {
		return 0, err
	}
	a.owner = st.UID
	if err := fsys.Lstat(filepath.Join(a.from.dir, "log"), &st); err != nil {
		return 0, err
	} else if st.Kind != vfs.KindDir {
		return 0, fmt.Errorf("log: %w", ErrNotPlain)
	}
	t := a.from.now.Load()
	for n := t.log.first; n <= t.end.segment(); n++ {
		if err := a.segment(t, n); err != nil {
			return 0, err
		}
	}
	for w, bytes := range a.ways {
		if bytes > a.ways[a.done.Way] {
			a.done.Way = vfs.Way(w)
		}
	}
	return t.end, fsys.SyncDir(filepath.Join(a.dir, "log"))
}

// writableByOthers are the permissions with which somebody else could alter a linked file after it was proved.
const writableByOthers = 0o022

func (a *adoption) segment(t *tables, n uint32) error {
	fsys := a.from.fsys
	name := t.log.name(n)
	var st, opened vfs.Stat
	if err := fsys.Lstat(name, &st); err != nil {
		return err
	}
	if st.Kind != vfs.KindFile {
		return fmt.Errorf("%s: %w", t.log.display(n), ErrNotPlain)
	}
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	if err = f.Stat(&opened); err == nil && (opened.Kind != vfs.KindFile || opened.Ino != st.Ino || opened.Dev != st.Dev) {
		err = fmt.Errorf("%s: %w", t.log.display(n), ErrNotPlain)
	}
	size, full := opened.Size, n < t.end.segment()
	if !full {
		size = int64(t.end.off())
	}
	if size > maxSegment {
		err = errors.Join(err, errSegment)
	}
	if err == nil {
		link := full && opened.UID == a.owner && opened.Mode&writableByOthers == 0
		var way vfs.Way
		way, err = vfs.Share(fsys, f, filepath.Join(a.dir, "log", filepath.Base(name)), size, link, a.progress)
		a.ways[way] += size
		a.done.Bytes += size
	}
	return errors.Join(err, f.Close())
}

// Accept makes of what Adopt brought a repository's store: from now on it counts.
func (s *Store) Accept() error {
	if err := s.fsys.SyncDir(s.dir); err != nil {
		return err
	}
	if err := writeFormat(s.fsys, s.dir, Format); err != nil {
		return err
	}
	s.format.Store(Format)
	return s.fsys.SyncDir(filepath.Dir(s.dir))
}
