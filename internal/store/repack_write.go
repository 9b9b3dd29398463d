package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// packWriter writes a base. Its first segment has a name that does not count until publish.
type packWriter struct {
	s     *Store
	first uint32
	names []string   // of the files, the first unfinished
	files []vfs.File // the last is being written
	at    place      // where the next frame goes
	b     batch      // the records, as every reader will find them
	buf   []byte     // frames not yet written
	size  int64      // of the segments before the last
	early earlySync
	drops uint32 // how often things were dropped and numbered anew, with this time
}

var errIncomplete = errors.New("what was packed is not what there was")

func newPackWriter(s *Store, first uint32) (*packWriter, error) {
	if first > maxSegmentNumber {
		return nil, errFull
	}
	w := &packWriter{s: s, first: first, at: placeAt(first, baseStart), drops: s.now.Load().log.drops}
	// An id of its own: no index or head of the old log is taken for one of the new.
	w.b = batch{logID: rand.Uint64(), base: true}
	err := w.create(logName(s.dir, first, unfinishedSuffix))
	if err != nil {
		return nil, errors.Join(err, w.close(true))
	}
	w.buf = make([]byte, baseStart, 2*placeSize) // its frame comes last
	return w, nil
}

func (w *packWriter) create(name string) error {
	f, err := w.s.fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return fmt.Errorf("begin a segment: %w", err)
	}
	w.names, w.files = append(w.names, name), append(w.files, f)
	return nil
}

// add appends finished frames.
func (w *packWriter) add(frames []byte) error {
	for len(frames) > 0 {
		h, err := parseHeader(frames)
		if err != nil {
			return err
		}
		if w.at.off() >= w.s.segmentMax {
			if err := w.nextSegment(); err != nil {
				return err
			}
		}
		one := frames[:h.size()]
		frames = frames[h.size():]
		seal(one, w.b.logID, w.at)
		if err := w.b.addFrame(splitFrame(one, h), w.at); err != nil {
			return fmt.Errorf("read what was packed: %w", err)
		}
		w.buf = append(w.buf, one...)
		w.at += place(len(one))
		if len(w.buf) >= placeSize {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *packWriter) flush() error {
	f := w.files[len(w.files)-1]
	if _, err := f.WriteAt(w.buf, int64(w.at.off())-int64(len(w.buf))); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	w.early.wrote(written{f, w.at}, len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

func (w *packWriter) nextSegment() error {
	if err := w.flush(); err != nil {
		return err
	}
	n := w.at.segment() + 1
	if n-w.first >= maxSegments || n > maxSegmentNumber {
		return errFull
	}
	if err := w.create(segmentName(w.s.dir, n)); err != nil {
		return err
	}
	w.size += int64(w.at.off())
	w.buf = append(w.buf, segmentFrame(n, w.b.logID, w.at.off())...)
	w.at = placeAt(n, segmentStart)
	return nil
}

// finish makes the base complete and durable, under the name that does not count, and returns its length. n is how many
// records it must have.
func (w *packWriter) finish(n counts) (int64, error) {
	if w.b.n != n || w.b.op == 0 {
		return 0, errIncomplete
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	if _, err := w.files[0].WriteAt(baseFrame(w.first, w.b.logID, w.standing(), w.drops), 0); err != nil {
		return 0, fmt.Errorf("write %s: %w", w.files[0].Name(), err)
	}
	if err := w.early.wait(); err != nil {
		return 0, err
	}
	for _, f := range w.files {
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return w.size + int64(w.at.off()), nil
}

func (w *packWriter) standing() standing { return standing{op: w.b.op, end: w.at, n: w.b.n} }

// publish gives the base its name, which makes it count.
func (w *packWriter) publish() error {
	dir := filepath.Join(w.s.dir, "log")
	if err := w.s.fsys.SyncDir(dir); err != nil { // the segments after the first
		return err
	}
	// Windows renames no file that is open so that others may not delete it.
	err := w.files[0].Close()
	w.files = w.files[1:]
	if err != nil {
		return err
	}
	name := logName(w.s.dir, w.first, baseSuffix)
	if err := w.s.fsys.Rename(w.names[0], name); err != nil {
		return err
	}
	w.names = nil // it counts now, or will once the machine stops: nobody may remove it
	return w.s.fsys.SyncDir(dir)
}

// close closes the files, and removes them if they are not to be used.
func (w *packWriter) close(discard bool) error {
	_ = w.early.wait()
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	w.files = nil
	if discard {
		for _, name := range w.names {
			errs = append(errs, w.s.fsys.Remove(name))
		}
	}
	return errors.Join(errs...)
}

// tables returns what is derived from the new log.
func (w *packWriter) tables() *tables {
	t := &tables{logID: w.b.logID, n: w.b.n, packed: w.b.n[blobsCol], op: w.b.op, end: w.at}
	for c := range t.cols {
		t.cols[c] = columnData{size: recordSizes[c], extra: w.b.cols[c]}
	}
	t.lookup = [numColumns]*lookup{changesCol: {col: changesCol}, blobsCol: {col: blobsCol}}
	return t
}
