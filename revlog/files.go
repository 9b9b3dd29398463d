package revlog

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// Reading 64 KiB costs 2 µs where the page fault that would map them costs 6.5, and an opened revlog that is only asked for
// its length needs neither. So an index is brought in when it is first looked at: read if it is short, mapped if it is long.
const (
	// wholeIndex is up to where an index is read when it is opened, bytes: the small ones, one for each file of a project.
	wholeIndex = 16 << 10
	// readIndex is up to where one is read when it is first looked at.
	readIndex = 1 << 20
	// streamSize is how much of an index is read at once when all of it goes by.
	streamSize = 128 << 10
)

// indexFile is the ".i" file.
type indexFile struct {
	file   File // nil once nothing is left to read
	size   int64
	ready  atomic.Bool // b is all of it
	mu     sync.Mutex  // brings b in
	b      []byte
	mapped File    // whom to give b back to; nil when it was read
	buf    *[]byte // from the pool; nil when b is not
	closed bool
}

// indexBuffers are buffers that indexes were read into, of at most readIndex bytes.
var indexBuffers sync.Pool

func (x *indexFile) open(fsys FS, path string) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	x.file = f
	if x.size, err = f.Size(); err != nil {
		return err
	}
	if x.size <= wholeIndex {
		return x.bring(false)
	}
	return nil
}

// header reads the first four bytes.
func (x *indexFile) header() (uint32, error) {
	var b [4]byte
	if x.size < int64(len(b)) {
		return 0, corrupt("its index ends inside the header")
	}
	if x.ready.Load() {
		return binary.BigEndian.Uint32(x.b), nil
	}
	if n, err := x.file.ReadAt(b[:], 0); n < len(b) {
		return 0, cutShort(err)
	}
	return binary.BigEndian.Uint32(b[:]), nil
}

// cutShort is the error of a read that ended before the size that the file had.
func cutShort(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return corrupt("its index became shorter while it was read")
	}
	return err
}

// limit makes the file as long as a docket says it is.
func (x *indexFile) limit(size int64) error {
	if x.size < size {
		return corrupt("its index has %d bytes, its docket says %d", x.size, size)
	}
	x.size = size
	if x.ready.Load() {
		x.b = x.b[:size]
	}
	return nil
}

// bring reads or maps the index.
func (x *indexFile) bring(mapping bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ready.Load() {
		return nil
	}
	if x.closed {
		return ErrClosed
	}
	if mapping && x.size > wholeIndex || x.size > readIndex {
		b, err := x.file.Map(x.size)
		if err != nil {
			return err
		}
		x.b, x.mapped = b, x.file
	} else {
		buf, _ := indexBuffers.Get().(*[]byte)
		if buf == nil {
			buf = new([]byte)
		}
		*buf = reserve((*buf)[:0], int(x.size))
		x.b, x.buf = (*buf)[:x.size], buf
		if n, err := x.file.ReadAt(x.b, 0); n < len(x.b) {
			return cutShort(err)
		}
	}
	x.ready.Store(true)
	if x.mapped != nil {
		return nil // closed with the mapping
	}
	f := x.file
	x.file = nil
	return f.Close()
}

// stream calls fn for pieces of the index in order, each a whole number of entries.
func (x *indexFile) stream(entry int, fn func(b []byte) error) error {
	if x.ready.Load() {
		return fn(x.b)
	}
	buf, _ := indexBuffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer indexBuffers.Put(buf)
	size := streamSize / entry * entry
	*buf = reserve((*buf)[:0], size)
	end := x.size / int64(entry) * int64(entry)
	for at := int64(0); at < end; {
		piece := (*buf)[:min(int64(size), end-at)]
		if n, err := x.file.ReadAt(piece, at); n < len(piece) {
			return cutShort(err)
		}
		if err := fn(piece); err != nil {
			return err
		}
		at += int64(len(piece))
	}
	return nil
}

func (x *indexFile) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	if x.mapped != nil {
		err = x.mapped.Unmap(x.b)
	}
	if x.buf != nil {
		indexBuffers.Put(x.buf)
	}
	if x.file != nil {
		err = errors.Join(err, x.file.Close())
	}
	x.file, x.mapped, x.buf, x.b, x.closed = nil, nil, nil, nil, true
	x.ready.Store(false)
	return err
}

// dataFile is the file of the chunks, opened when the first one is read.
type dataFile struct {
	path string
	once sync.Once
	err  error
	file File
	size int64
	all  []byte // mapped, if so

	// Of a Writer: the chunks that are not in the file yet, and where they begin.
	tail   []byte
	tailAt int64
}

// open opens the file. That there is none is no error: all chunks are empty, or reading one says so.
func (d *dataFile) open(fsys FS, mapping bool) error {
	d.once.Do(func() {
		f, err := fsys.Open(d.path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil {
			d.file = f
			d.size, err = f.Size()
		}
		if err == nil && mapping {
			d.all, err = f.Map(d.size)
		}
		d.err = err
	})
	return d.err
}

func (d *dataFile) close() error {
	if d.file == nil {
		return nil
	}
	var err error
	if d.all != nil {
		err = d.file.Unmap(d.all)
	}
	err = errors.Join(err, d.file.Close())
	d.file, d.all = nil, nil
	return err
}
