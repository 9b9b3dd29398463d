package revlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Flush writes what was appended and makes it durable: chunks first, entries after them, so that a reader never sees an entry
// whose chunk is not there. When it fails, or the power does, the files hold what they held, with bytes after it that must
// not count, and the Writer takes no more: WriterOptions.Keep cuts them off.
func (w *Writer) Flush() error {
	if w.failed != nil {
		return w.failed
	}
	if w.flushed == len(w.entries) {
		return nil
	}
	var err error
	switch {
	case w.inline && w.end() < inlineLimit:
		err = w.flushInline()
	case w.inline:
		err = w.split()
	default:
		err = w.flushSplit()
	}
	if err != nil {
		w.failed = w.log.fault(Null, fmt.Errorf("write: %w", err))
		return w.failed
	}
	w.flushed, w.data = len(w.entries), w.end()
	return nil
}

// chunk is the stored chunk of a revision that is in memory.
func (w *Writer) chunk(rev int) []byte {
	e := &w.entries[rev]
	at := e.Offset - w.log.data.tailAt
	return w.log.data.tail[at : at+int64(e.Stored)]
}

// flushInline appends entries, each with its chunk, in one write.
func (w *Writer) flushInline() error {
	var b []byte
	for rev := w.flushed; rev < len(w.entries); rev++ {
		b = append(b, w.log.index.b[rev*entrySizeV1:][:entrySizeV1]...)
		b = append(b, w.chunk(rev)...)
	}
	return w.write(w.path, int64(w.flushed)*entrySizeV1+w.data, b)
}

// flushSplit appends chunks to the data file, then entries to the index.
func (w *Writer) flushSplit() error {
	from := w.data - w.log.data.tailAt
	if b := w.log.data.tail[from:]; len(b) > 0 {
		if err := w.write(w.log.data.path, w.data, b); err != nil {
			return err
		}
	}
	return w.write(w.path, int64(w.flushed)*entrySizeV1, w.log.index.b[w.flushed*entrySizeV1:])
}

// split turns an inline revlog into an index and a data file: the whole data file first, then an index beside the old one
// that takes its name.
func (w *Writer) split() error {
	if err := w.write(w.log.data.path, 0, w.log.data.tail); err != nil {
		return err
	}
	w.inline = false
	binary.BigEndian.PutUint32(w.log.index.b, w.header())
	fresh := strings.TrimSuffix(w.path, ".i") + ".i.new"
	if err := w.write(fresh, 0, w.log.index.b); err != nil {
		return err
	}
	if err := w.fs.Rename(fresh, w.path); err != nil {
		return err
	}
	return w.fs.SyncName(w.path)
}

// write replaces everything in a file from an offset on.
func (w *Writer) write(name string, at int64, b []byte) error {
	f, err := w.fs.Append(name)
	if err != nil {
		return err
	}
	size, err := f.Size()
	switch {
	case err != nil:
	case size < at:
		err = corrupt("%s has %d bytes, %d were there", name, size, at)
	default:
		// What lies there is no revision's: the rest of a write that failed.
		if size > at {
			err = f.Truncate(at)
		}
		if err == nil {
			_, err = f.WriteAt(b, at)
		}
		if err == nil {
			err = f.Sync()
		}
		if err == nil && size == 0 {
			err = w.fs.SyncName(name)
		}
	}
	return errors.Join(err, f.Close())
}
