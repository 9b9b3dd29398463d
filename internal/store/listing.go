package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// How the files in log/ end. A base holds all that came before it, packed: the log begins at the one with the highest
// number, or else at segment 1. Until a base is complete and durable its file has another ending, so that the rename is
// what makes it count.
const (
	segmentSuffix    = ".seg"
	baseSuffix       = ".base"
	unfinishedSuffix = ".new"
)

func logName(dir string, n uint32, suffix string) string {
	return filepath.Join(dir, "log", fmt.Sprintf("%08d%s", n, suffix))
}

func segmentName(dir string, n uint32) string { return logName(dir, n, segmentSuffix) }

// display is a segment's name as a person sees it.
func (l *log) display(n uint32) string { return "log/" + filepath.Base(l.name(n)) }

// maxSegmentNumber is the highest number of a segment: names have eight digits.
const maxSegmentNumber = 99_999_999

// listing is what log/ holds, ascending by number.
type listing struct {
	segments, bases, unfinished []uint32
}

// listLog reads the names in log/. Others than a writer makes are passed over.
func listLog(fsys vfs.FS, dir string) (ls listing, err error) {
	names, err := fsys.ReadDir(filepath.Join(dir, "log"))
	if errors.Is(err, fs.ErrNotExist) {
		return ls, nil // then there is no segment 1 either, which is reported
	}
	if err != nil {
		return ls, err
	}
	for _, name := range names {
		digits, suffix, _ := strings.Cut(name, ".")
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n == 0 || len(digits) != 8 {
			continue
		}
		switch "." + suffix {
		case segmentSuffix:
			ls.segments = append(ls.segments, uint32(n))
		case baseSuffix:
			ls.bases = append(ls.bases, uint32(n))
		case unfinishedSuffix:
			ls.unfinished = append(ls.unfinished, uint32(n))
		}
	}
	return ls, nil
}

// first returns the number of the segment that the log begins with, and whether it is a base.
func (ls *listing) first() (n uint32, base bool) {
	if len(ls.bases) == 0 {
		return 1, false
	}
	return ls.bases[len(ls.bases)-1], true
}

// after returns the first segment beyond one.
func (ls *listing) after(n uint32) (uint32, bool) {
	for _, s := range ls.segments {
		if s > n {
			return s, true
		}
	}
	return 0, false
}

// sweep removes what a repack left: the segments before the base, and a base that never was finished with the segments
// after it. The caller holds the writers' lock and has settled what follows the last op, which lies in segment last.
func (s *Store) sweep(l *log, ls *listing, last uint32) error {
	var gone []string
	old := func(n uint32) bool { return n < l.first || n == l.first && l.based }
	for _, n := range ls.segments {
		if old(n) || n > last && !l.owns(n) {
			gone = append(gone, segmentName(s.dir, n))
		}
	}
	for _, n := range ls.bases {
		if n < l.first {
			gone = append(gone, logName(s.dir, n, baseSuffix))
		}
	}
	if len(gone) > 0 && l.based {
		// Whoever made the base may have died before its name was durable.
		if err := s.fsys.SyncDir(filepath.Join(s.dir, "log")); err != nil {
			return err
		}
	}
	for _, n := range ls.unfinished {
		gone = append(gone, logName(s.dir, n, unfinishedSuffix))
	}
	for _, name := range gone {
		// Where the system refuses, as Windows does while a reader has it open, the next writer tries again.
		_ = s.fsys.Remove(name)
	}
	return nil
}

// owns reports whether the file of a segment beyond the end belongs to this log.
func (l *log) owns(n uint32) bool {
	probe := &log{fsys: l.fsys, dir: l.dir, first: l.first, based: l.based}
	defer probe.close()
	h, err := probe.readSegmentFrame(n)
	return err == nil && h.id == l.id
}

// followTries bounds how often opening begins anew because a repack came between.
const followTries = 16

// openLog opens the log that counts now, all of its segments: what is open stays readable when a repack removes it. For trusting see
// OpenDamaged.
func openLog(fsys vfs.FS, dir string, trusting bool) (*log, error) {
	for tries := 1; ; tries++ {
		ls, err := listLog(fsys, dir)
		if err != nil {
			return nil, err
		}
		l, whole, err := openListed(fsys, dir, &ls, trusting)
		if err == nil && whole {
			return l, nil
		}
		// A file was gone that was listed. Unless a repack took it away that is a tail that was dropped, or damage.
		now, listErr := listLog(fsys, dir)
		if listErr != nil || slices.Equal(now.bases, ls.bases) || tries == followTries {
			return l, errors.Join(err, listErr)
		}
		if l != nil {
			_ = l.close()
		}
	}
}

func openListed(fsys vfs.FS, dir string, ls *listing, trusting bool) (l *log, whole bool, err error) {
	l = &log{fsys: fsys, dir: dir}
	l.first, l.based = ls.first()
	h, err := l.readSegmentFrame(l.first)
	if trusting && errors.Is(err, ErrDamaged) {
		if told, trustErr := l.trustedStart(); trustErr == nil {
			h, err = told, nil
		}
	}
	if err != nil {
		return nil, false, errors.Join(err, l.close())
	}
	l.id, l.start, l.packed, l.drops = h.id, placeAt(l.first, segmentStart), h.packed, h.drops
	if l.based {
		l.start = placeAt(l.first, baseStart)
	} else {
		l.packed = standing{end: l.start}
	}
	next := l.first + 1
	for _, n := range ls.segments {
		if n != next {
			continue
		}
		if _, err := l.segment(n); err != nil {
			return l, false, nil // whoever needs it reports it
		}
		next++
	}
	return l, true, nil
}
