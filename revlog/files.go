package revlog

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// Reading 64 KiB costs 2 µs where the page fault that would map them costs 6.5, and a revlog that is only asked for its
// length needs neither. So an index is read when it is looked at, in pages, unless it is so short that one read has it all.
const (
	// wholeIndex is up to where an index is read when it is opened, bytes: the small ones, one for each file of a project.
	wholeIndex = 16 << 10
	// indexPage is how much is read for one entry, and pagesAhead how many times that where neighbours are read one by one.
	indexPage  = 4 << 10
	pagesAhead = 16
	// streamSize is how much is read at once when all of it goes by.
	streamSize = 256 << 10
	// maxPooledIndex is what is kept for the next index to be read into, bytes.
	maxPooledIndex = 16 << 20
)

// indexFile is the ".i" file.
type indexFile struct {
	file    File // nil once nothing is left to read
	size    int64
	mapping bool        // to be mapped, not read
	ready   atomic.Bool // b is all of it
	opened  atomic.Bool // b and pages are there

	mu     sync.Mutex // for what follows, but that a page may be looked at whose bit is set
	b      []byte
	pages  []atomic.Uint64 // a bit for each page that is in b
	left   int             // pages that are not
	err    error           // why one could not be read
	mapped File            // whom to give b back to; nil when it was read
	buf    *[]byte         // from the pool; nil when b is not
	closed bool
}

// indexBuffers are buffers that indexes were read into.
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
		return x.bring()
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

// bring reads or maps what is not in memory yet.
func (x *indexFile) bring() error {
	if x.ready.Load() {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ready.Load() {
		return nil
	}
	if err := x.begin(); err != nil || x.mapped != nil {
		return err
	}
	// In one read, even over pages that are there already, unless few are missing.
	if x.left > 2*pagesAhead {
		if n, err := x.file.ReadAt(x.b, 0); n < len(x.b) {
			return cutShort(err)
		}
		return x.done()
	}
	for page := 0; !x.ready.Load() && int64(page)*indexPage < x.size; page++ {
		if !x.has(page) {
			if err := x.read(page); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin gives the index its memory.
func (x *indexFile) begin() error {
	switch {
	case x.closed:
		return ErrClosed
	case x.b != nil:
		return nil
	case x.mapping && x.size > wholeIndex:
		b, err := x.file.Map(x.size)
		if err != nil {
			return err
		}
		x.b, x.mapped = b, x.file
		x.ready.Store(true)
		return nil
	}
	x.buf, _ = indexBuffers.Get().(*[]byte)
	if x.buf == nil {
		x.buf = new([]byte)
	}
	*x.buf = reserve((*x.buf)[:0], int(x.size))
	x.b = (*x.buf)[:x.size]
	x.left = int((x.size + indexPage - 1) / indexPage)
	if x.left > 1 {
		x.pages = make([]atomic.Uint64, (x.left+63)/64)
		x.opened.Store(true)
		return nil
	}
	if n, err := x.file.ReadAt(x.b, 0); n < len(x.b) {
		x.b = nil
		return cutShort(err)
	}
	return x.done()
}

// done notes that all is in memory.
func (x *indexFile) done() error {
	x.ready.Store(true)
	f := x.file
	x.file = nil
	return f.Close()
}

// read reads a page that is not there, and further ones if the page before or after it is: entries are being followed in order.
func (x *indexFile) read(page int) error {
	first, end := page, page+1
	switch total := int((x.size + indexPage - 1) / indexPage); {
	case page > 0 && x.has(page-1):
		for end < total && end < page+pagesAhead && !x.has(end) {
			end++
		}
	case page+1 < total && x.has(page+1):
		for first > 0 && first > page+1-pagesAhead && !x.has(first-1) {
			first--
		}
	}
	from := int64(first) * indexPage
	b := x.b[from:min(int64(end)*indexPage, x.size)]
	if n, err := x.file.ReadAt(b, from); n < len(b) {
		x.err = cutShort(err)
		return x.err
	}
	for page := first; page < end; page++ {
		x.pages[page/64].Or(1 << (page % 64))
	}
	if x.left -= end - first; x.left == 0 {
		return x.done()
	}
	return nil
}

// has reports whether a page is there.
func (x *indexFile) has(page int) bool { return x.pages[page/64].Load()>>(page%64)&1 != 0 }

// at is the stretch of the index from one offset to another. What cannot be read is all ones, no valid entry, and fault says
// why.
func (x *indexFile) at(from, to int) []byte {
	if x.ready.Load() {
		return x.b[from:to]
	}
	for page := from / indexPage; page <= (to-1)/indexPage; page++ {
		if !x.opened.Load() || !x.has(page) {
			if !x.turn(page) {
				b := make([]byte, to-from)
				for i := range b {
					b[i] = 0xff
				}
				return b
			}
		}
	}
	return x.b[from:to]
}

// turn brings a page in and reports whether it is there.
func (x *indexFile) turn(page int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ready.Load() {
		return true
	}
	if x.err = x.begin(); x.err != nil {
		return false
	}
	if x.ready.Load() || x.has(page) {
		return true
	}
	return x.read(page) == nil
}

// fault is why the last page could not be read.
func (x *indexFile) fault() error {
	if x.ready.Load() {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// stream calls fn for pieces of the index in order, each a whole number of entries.
func (x *indexFile) stream(entry int, fn func(b []byte) error) error {
	if x.mapping {
		if err := x.bring(); err != nil {
			return err
		}
	}
	if x.ready.Load() {
		return fn(x.b)
	}
	buf, _ := indexBuffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer indexBuffers.Put(buf)
	end := x.size / int64(entry) * int64(entry)
	size := int(min(streamSize/int64(entry)*int64(entry), end))
	*buf = reserve((*buf)[:0], size)
	for at := int64(0); at < end; {
		piece, err := x.piece((*buf)[:min(int64(size), end-at)], at)
		if err == nil {
			err = fn(piece)
		}
		if err != nil {
			return err
		}
		at += int64(len(piece))
	}
	return nil
}

// piece reads into b what is at an offset, or gives it from memory if all of the index came there meanwhile.
func (x *indexFile) piece(b []byte, at int64) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return nil, ErrClosed
	case x.ready.Load():
		return x.b[at:][:len(b)], nil
	}
	if n, err := x.file.ReadAt(b, at); n < len(b) {
		return nil, cutShort(err)
	}
	return b, nil
}

func (x *indexFile) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	if x.mapped != nil {
		err = x.mapped.Unmap(x.b)
	}
	if x.buf != nil && cap(*x.buf) <= maxPooledIndex {
		indexBuffers.Put(x.buf)
	}
	if x.file != nil {
		err = errors.Join(err, x.file.Close())
	}
	x.file, x.mapped, x.buf, x.b, x.pages, x.closed = nil, nil, nil, nil, nil, true
	x.ready.Store(false)
	x.opened.Store(false)
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
