package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Format is the newest format that this package reads and writes. Format 1 is the same without states that leave changes of
// their parent's log out. A repository keeps its format until Upgrade: another oxy on the same disk may be an older one.
const Format = 2

const (
	formatName   = "format"
	formatPrefix = "oxy repository, format "
	formatLimit  = 64 // a longer file is none of ours
)

// Create makes an empty store in dir, which it creates. The file format comes last: without it there is no repository.
func Create(fsys vfs.FS, dir string) error {
	if err := create(fsys, dir); err != nil {
		return fmt.Errorf("create repository %s: %w", dir, err)
	}
	return nil
}

func create(fsys vfs.FS, dir string) error {
	for _, sub := range []string{"log", "index"} {
		if err := fsys.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return err
		}
	}
	var st vfs.Stat
	if err := fsys.Lstat(filepath.Join(dir, formatName), &st); err == nil {
		return fmt.Errorf("there is one already: %w", fs.ErrExist)
	}
	ls, err := listLog(fsys, dir)
	if err != nil {
		return err
	}
	if err := fsys.Lstat(segmentName(dir, 1), &st); len(ls.bases) > 0 || err == nil && st.Size > segmentStart {
		l := &log{}
		l.first, l.based = ls.first()
		return fmt.Errorf("%s holds records of a repository that lost its file %q: %w", l.display(l.first), formatName, fs.ErrExist)
	}
	// The id need not be secret, only another for each log.
	if err := writeSegment(fsys, dir, segmentFrame(1, rand.Uint64(), 0)); err != nil {
		return err
	}
	for _, d := range []string{filepath.Join(dir, "log"), dir} {
		if err := fsys.SyncDir(d); err != nil {
			return err
		}
	}
	if err := writeFormat(fsys, dir, Format); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(dir))
}

func writeFormat(fsys vfs.FS, dir string, format int) error {
	line := fmt.Sprintf("%s%d\n", formatPrefix, format)
	return vfs.WriteFileAtomic(fsys, filepath.Join(dir, formatName), []byte(line), true)
}

// Format is the format of the repository.
func (s *Store) Format() int { return int(s.format.Load()) }

// LeavesOut tells whether states may leave changes of their parent's log out.
func (s *Store) LeavesOut() bool { return s.Format() >= 2 }

// Upgrade makes the repository one of the newest format, which an older oxy refuses, and tells from which it came. Nothing that
// is there is altered. wait is as for vfs.FS.Lock.
func (s *Store) Upgrade(wait func(tries int) bool) (from int, err error) {
	tx, err := s.Begin(wait)
	if err != nil {
		return 0, err
	}
	from, err = readFormat(s.fsys, s.dir)
	if err == nil && from < Format {
		err = writeFormat(s.fsys, s.dir, Format)
	}
	if err == nil {
		s.format.Store(Format)
	}
	if err = errors.Join(err, tx.Abort()); err != nil {
		return 0, fmt.Errorf("upgrade repository %s: %w", s.dir, err)
	}
	return from, nil
}

// writeSegment writes the file of the first segment.
func writeSegment(fsys vfs.FS, dir string, frame []byte) error {
	f, err := fsys.OpenFile(segmentName(dir, 1), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(frame)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readFormat reads which format a repository has: one that this package knows.
func readFormat(fsys vfs.FS, dir string) (int, error) {
	name := filepath.Join(dir, formatName)
	b, err := fsys.ReadFile(name, formatLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("%s: %w", dir, ErrNotRepository)
	case errors.Is(err, vfs.ErrTooLarge):
		return 0, fmt.Errorf("%w: %s does not tell a format", ErrDamaged, name)
	case err != nil:
		return 0, fmt.Errorf("open repository %s: %w", dir, err)
	}
	return parseFormat(name, string(b))
}

func parseFormat(name, line string) (int, error) {
	digits, ok := strings.CutPrefix(line, formatPrefix)
	digits, end := strings.CutSuffix(digits, "\n")
	n, err := strconv.ParseUint(digits, 10, 32)
	if !ok || !end || err != nil || n == 0 || digits != strconv.FormatUint(n, 10) {
		return 0, fmt.Errorf("%w: %s does not tell a format", ErrDamaged, name)
	}
	if n > Format {
		return 0, fmt.Errorf("%w: it has format %d, this oxy knows up to %d; use a newer oxy", ErrNewerFormat, n, Format)
	}
	return int(n), nil
}
