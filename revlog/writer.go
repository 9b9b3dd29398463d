package revlog

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
)

// WriterOptions say how new revisions are stored. The zero value is what Mercurial 6 does for file contents.
type WriterOptions struct {
	// FS writes the files; nil is the operating system's.
	FS WriteFS
	// Compression of new chunks.
	Compression Compression
	// NoDeltas stores every text whole, as Mercurial does with changelogs, whose texts have little in common.
	NoDeltas bool
	// Plain makes a new revlog without general delta: each delta is against the revision before. An old revlog stays as it is.
	Plain bool
	// MaxChain is how many deltas a chain may have; 0 is Mercurial's 1 000.
	MaxChain int
	// Compresses is how many times shorter a delta can get by compressing, so that hopeless ones are not tried; 0: unknown.
	// Mercurial takes 3 for manifests, which are mostly hashes.
	Compresses int
	// MaxText bounds a text as in Options.
	MaxText int
	// Keep, if positive, is how many revisions count: what comes after them, of a write that did not end, is cut off with the
	// next Flush. Mercurial keeps that number in its journal.
	Keep int
}

// inlineLimit is how many bytes of chunks lie between the entries before a revlog is split into index and data.
const inlineLimit = 128 << 10

// Writer appends revisions to a revlog. Nothing is in the files until Flush. It takes no lock: whoever writes into a
// Mercurial repository must hold the lock of its store. Not for concurrent use.
type Writer struct {
	log    *Log // reads what is in the files and what is not yet
	reader *Reader
	opts   WriterOptions
	fs     WriteFS
	path   string
	inline bool // in the files; the log in memory never is

	entries   []Entry
	chainLen  []int32 // deltas beneath each revision's chunk
	chainSize []int64 // bytes of all chunks of its chain
	snapshot  []bool
	children  map[Rev][]Rev // snapshots made against each, or whole
	revs      map[Node]Rev

	flushed int   // revisions in the files
	data    int64 // bytes of chunks in the files
	enc     encoder
	diff    differ
	delta   []byte
	failed  error
}

// OpenWriter opens a revlog for appending, or begins one where none is: an inline one with general delta, unless opts say
// otherwise. Version 0 and the experimental versions are only read: ErrUnsupported. Other errors are those of Open and Entry, or ErrCorrupt where
// fewer revisions are there than WriterOptions.Keep.
func OpenWriter(path string, opts *WriterOptions) (*Writer, error) {
	w := &Writer{path: path, fs: osFS{}, children: map[Rev][]Rev{}, revs: map[Node]Rev{}}
	if opts != nil {
		w.opts = *opts
	}
	if w.opts.FS != nil {
		w.fs = w.opts.FS
	}
	if w.opts.MaxChain <= 0 {
		w.opts.MaxChain = sparseChain
	}
	w.enc.kind = w.opts.Compression
	l, err := Open(path, &Options{FS: w.fs, MaxText: w.opts.MaxText})
	if errors.Is(err, fs.ErrNotExist) {
		l, err = &Log{path: path, fs: w.fs, version: version1, entrySize: entrySizeV1, maxText: defaultMaxText, cache: defaultCache}, nil
		l.setDataPath()
	}
	if err != nil {
		return nil, err
	}
	if w.opts.MaxText > 0 {
		l.maxText = min(w.opts.MaxText, math.MaxInt32)
	}
	if l.version != version1 {
		l.Close()
		return nil, l.fault(Null, fmt.Errorf("%w: writing revlog version %d", ErrUnsupported, l.version))
	}
	if l.n == 0 {
		l.inline, l.generalDelta = true, !w.opts.Plain
	}
	if keep := w.opts.Keep; keep > 0 {
		if l.n < keep {
			l.Close()
			return nil, l.fault(Null, corrupt("it has %d revisions where %d are to be kept", l.n, keep))
		}
		l.n = keep
	}
	w.inline = l.inline
	if err := w.take(l); err != nil {
		l.Close()
		return nil, err
	}
	return w, nil
}

// take makes l a log in memory that can grow, and learns what the policy must know of each revision.
func (w *Writer) take(l *Log) error {
	w.log = l
	r := l.Reader()
	defer r.Close()
	index := make([]byte, 0, l.n*entrySizeV1+4096)
	var tail []byte
	var e Entry
	for rev := range Rev(l.n) {
		if err := l.entry(rev, &e); err != nil {
			return err
		}
		index = append(index, l.raw(rev)...)
		if l.inline {
			chunk, err := r.stored(rev, &e)
			if err != nil {
				return l.fault(rev, err)
			}
			tail = append(tail, chunk...)
		}
		w.learn(l, rev, &e)
	}
	w.flushed = l.n
	w.data = w.end()
	w.log = &Log{
		path: l.path, fs: l.fs, version: version1, generalDelta: l.generalDelta, entrySize: entrySizeV1,
		maxText: l.maxText, cache: l.cache, n: l.n, data: dataFile{path: l.data.path, tail: tail},
	}
	w.log.index.b = index
	w.log.index.ready.Store(true)
	if l.inline {
		w.log.data.once.Do(func() {}) // all is in memory
	} else {
		w.log.data.tailAt = w.data
	}
	w.reader = w.log.Reader()
	return l.Close()
}

// learn notes what the policy must know of a revision.
func (w *Writer) learn(l *Log, rev Rev, e *Entry) {
	base := l.base(rev, e)
	w.entries = append(w.entries, *e)
	snapshot := true
	if base == Null {
		w.chainLen = append(w.chainLen, 0)
		w.chainSize = append(w.chainSize, int64(e.Stored))
	} else {
		w.chainLen = append(w.chainLen, w.chainLen[base]+1)
		w.chainSize = append(w.chainSize, w.chainSize[base]+int64(e.Stored))
		snapshot = w.snapshot[base] && base != w.solid(e.P1) && base != w.solid(e.P2)
	}
	w.snapshot = append(w.snapshot, snapshot)
	if snapshot {
		w.children[base] = append(w.children[base], rev)
	}
	if _, twice := w.revs[e.Node]; !twice {
		w.revs[e.Node] = rev
	}
}

// solid is the revision that a delta against rev is made against: the first of its chain that is not empty.
func (w *Writer) solid(rev Rev) Rev {
	for rev != Null && w.entries[rev].Stored == 0 {
		base := w.base(rev)
		if base == Null {
			break
		}
		rev = base
	}
	return rev
}

// base is Log.Base of a revision that is there.
func (w *Writer) base(rev Rev) Rev {
	e := &w.entries[rev]
	switch {
	case e.Base == rev || e.Base == Null:
		return Null
	case w.log.generalDelta:
		return e.Base
	default:
		return rev - 1
	}
}

// chain is the chain of a revision, the whole text first.
func (w *Writer) chain(rev Rev) []Rev {
	chain := make([]Rev, w.chainLen[rev]+1)
	for i := len(chain) - 1; i >= 0; i-- {
		chain[i] = rev
		rev = w.base(rev)
	}
	return chain
}

// end is where the next chunk begins.
func (w *Writer) end() int64 {
	if len(w.entries) == 0 {
		return 0
	}
	last := &w.entries[len(w.entries)-1]
	return last.Offset + int64(last.Stored)
}

// Len is the number of revisions, those not flushed included.
func (w *Writer) Len() int { return len(w.entries) }

// Rev finds the revision with a node, those not flushed included.
func (w *Writer) Rev(node Node) (Rev, bool) {
	if node == NullNode {
		return Null, true
	}
	rev, ok := w.revs[node]
	return rev, ok
}

// Text is Reader.Text of any revision, those not flushed included.
func (w *Writer) Text(rev Rev) ([]byte, error) { return w.reader.Text(rev) }

// Append adds a text with its parents and the changeset that brings it, and returns its revision and node. A text that is
// there already with the same parents is not added again. ErrUnknown: a parent is not there; ErrTooLarge: see WriterOptions.MaxText. What
// Flush failed with once, all that follows fails with.
func (w *Writer) Append(text []byte, p1, p2, link Rev) (Rev, Node, error) {
	if err := w.exist(p1, p2); err != nil {
		return Null, NullNode, err
	}
	node := HashText(text, w.node(p1), w.node(p2))
	rev, err := w.AppendRaw(text, node, p1, p2, link, 0)
	return rev, node, err
}

// AppendRaw adds what is stored for a revision whose node is not the hash of that: a tombstone or pointer, with the flag
// that says so. Without such a flag the node must be the hash: ErrHash. Other errors as of Append.
func (w *Writer) AppendRaw(raw []byte, node Node, p1, p2, link Rev, flags Flags) (Rev, error) {
	if err := w.failed; err != nil {
		return Null, err
	}
	if err := w.exist(p1, p2); err != nil {
		return Null, err
	}
	rev := Rev(len(w.entries))
	switch {
	case len(raw) > w.log.maxText:
		return Null, w.log.fault(rev, tooLarge(w.log.maxText))
	case flags&^knownFlags != 0:
		return Null, w.log.fault(rev, fmt.Errorf("%w: flags %#04x", ErrUnsupported, uint16(flags&^knownFlags)))
	case flags&unhashed == 0 && node != HashText(raw, w.node(p1), w.node(p2)):
		return Null, w.log.fault(rev, fmt.Errorf("%w: the text does not have %s", ErrHash, node))
	case node == NullNode:
		return Null, w.log.fault(rev, corrupt("its node is the null one"))
	case link < Null:
		return Null, w.log.fault(rev, corrupt("its link revision is %d", link))
	case rev == math.MaxInt32:
		return Null, w.log.fault(rev, fmt.Errorf("%w: too many revisions", ErrTooLarge))
	}
	if had, ok := w.revs[node]; ok {
		return had, nil
	}
	c, err := w.store(raw, p1, p2, flags)
	if err != nil {
		return Null, w.log.fault(rev, err)
	}
	e := Entry{
		Offset: w.end(), Stored: int32(len(c.chunk)), Size: int32(len(raw)), Base: rev, Link: link, P1: p1, P2: p2,
		Flags: flags, Node: node,
	}
	if e.Offset+int64(e.Stored) >= 1<<48 {
		return Null, w.log.fault(rev, fmt.Errorf("%w: 256 TiB of chunks", ErrTooLarge))
	}
	if c.base != Null {
		if e.Base = c.base; !w.log.generalDelta {
			// Written is where the chain begins.
			if e.Base = w.entries[c.base].Base; e.Base == Null {
				e.Base = c.base
			}
		}
	}
	w.log.index.b = e.append(w.log.index.b, w.header())
	w.log.data.tail = append(w.log.data.tail, c.chunk...)
	w.log.n++
	w.learn(w.log, rev, &e)
	return rev, nil
}

// exist refuses parents that are not there.
func (w *Writer) exist(p1, p2 Rev) error {
	for _, p := range [2]Rev{p1, p2} {
		if p < Null || int(p) >= len(w.entries) {
			return w.log.fault(Rev(len(w.entries)), fmt.Errorf("parent %d: %w", p, ErrUnknown))
		}
	}
	return nil
}

func (w *Writer) node(rev Rev) Node {
	if rev == Null {
		return NullNode
	}
	return w.entries[rev].Node
}

// header is the file's first four bytes, with which the first entry begins.
func (w *Writer) header() uint32 {
	h := uint32(version1)
	if w.inline {
		h |= featureInline
	}
	if w.log.generalDelta {
		h |= featureGeneralDelta
	}
	return h
}

// Close ends the use of the Writer. What was not flushed is lost.
func (w *Writer) Close() error {
	if w.failed == nil {
		w.failed = ErrClosed
	}
	w.reader.Close()
	return w.log.Close()
}
