package revlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Versions of the format, the lower half of a file's first four bytes.
const (
	version0          = 0
	version1          = 1
	version2          = 0xDEAD // what Mercurial writes for version 2 as long as it is an experiment
	versionChangelog2 = 0xD34D
)

// Features of version 1, the upper half.
const (
	featureInline       = 1 << 16
	featureGeneralDelta = 1 << 17
)

// Options say how a revlog is read. The zero value is good for most.
type Options struct {
	// FS opens the files; nil is the operating system's.
	FS FS
	// Map maps index and data instead of reading pieces of them. That pays when far more is read than the files are long;
	// else the page faults cost more than the reads that they save (docs/spec/revlog.md has figures). Should another process
	// truncate a mapped file, the system ends this one with SIGBUS.
	Map bool
	// MaxText bounds every text and every delta, bytes. 0 is 1 GiB. What would be longer is ErrTooLarge, before memory is
	// taken for it. The format itself ends at 2 GiB.
	MaxText int
	// Cache bounds the texts that a Reader keeps, bytes, for those that follow to be built on. 0 is 16 MiB. Two texts are
	// kept whatever their length.
	Cache int
}

const (
	defaultMaxText = 1 << 30
	defaultCache   = 16 << 20
	// maxInline is what an inline index may measure: Mercurial splits a revlog when its data passes 128 KiB.
	maxInline = 1<<32 - 1
)

// Log is an open revlog. It may be used by several goroutines at once, but not after Close.
type Log struct {
	path string // of the index as opened
	data dataFile
	fs   FS

	version      int
	inline       bool
	generalDelta bool
	docket       *docket // of version 2
	entrySize    int
	n            int
	torn         int // bytes after the last whole entry
	maxText      int
	cache        int
	mapping      bool

	index   indexFile
	offsets []uint32 // of an inline index: where each entry begins
	nodes   nodeIndex
}

// Open opens the revlog whose index is at path, which ends in ".i". The error of a missing file works with
// errors.Is(err, fs.ErrNotExist); a file of no bytes is a revlog of no revisions. All errors are *Error: ErrUnsupported for a version or feature
// that is not known, ErrCorrupt for a header, docket or inline index that contradicts itself, ErrTooLarge for an inline index above 4 GiB.
// Source: "hg help internals.revlogs".
func Open(path string, opts *Options) (*Log, error) {
	l := &Log{path: path, fs: osFS{}, maxText: defaultMaxText, cache: defaultCache}
	if opts != nil {
		l.mapping = opts.Map
		l.index.mapping = opts.Map
		if opts.FS != nil {
			l.fs = opts.FS
		}
		if opts.MaxText > 0 {
			l.maxText = min(opts.MaxText, 1<<31-1)
		}
		if opts.Cache > 0 {
			l.cache = opts.Cache
		}
	}
	err := l.index.open(l.fs, path)
	if err == nil {
		err = l.parseHeader()
	}
	if err != nil {
		l.Close()
		return nil, l.fault(Null, err)
	}
	return l, nil
}

// parseHeader reads the first four bytes and what depends on them.
func (l *Log) parseHeader() error {
	if l.index.size == 0 {
		l.version, l.entrySize, l.generalDelta = version1, entrySizeV1, true
		l.setDataPath()
		return nil
	}
	header, err := l.index.header()
	if err != nil {
		return err
	}
	l.version = int(header & 0xffff)
	features := header &^ 0xffff
	known := uint32(0)
	switch l.version {
	case version0:
		l.entrySize = entrySizeV0
	case version1:
		l.entrySize = entrySizeV1
		known = featureInline | featureGeneralDelta
		l.inline = features&featureInline != 0
		l.generalDelta = features&featureGeneralDelta != 0
	case version2, versionChangelog2:
		l.entrySize = entrySizeV2
		l.generalDelta = true
	default:
		return fmt.Errorf("%w: revlog version %d", ErrUnsupported, l.version)
	}
	if unknown := features &^ known; unknown != 0 {
		return fmt.Errorf("%w: features %#x of revlog version %d", ErrUnsupported, unknown>>16, l.version)
	}
	l.setDataPath()
	if l.version == version2 || l.version == versionChangelog2 {
		if err := l.openDocket(); err != nil {
			return err
		}
	}
	if l.inline {
		return l.findEntries()
	}
	if l.index.size/int64(l.entrySize) > math.MaxInt32 {
		return corrupt("its index has %d bytes", l.index.size)
	}
	l.n, l.torn = int(l.index.size/int64(l.entrySize)), int(l.index.size%int64(l.entrySize))
	return nil
}

// setDataPath names the file that holds the chunks.
func (l *Log) setDataPath() {
	l.data.path = strings.TrimSuffix(l.path, ".i") + ".d"
}

// findEntries walks an inline index, where each entry is followed by its chunk.
func (l *Log) findEntries() error {
	if l.index.size > maxInline {
		return fmt.Errorf("%w: an inline revlog of %d bytes", ErrTooLarge, l.index.size)
	}
	if err := l.index.bring(); err != nil {
		return err
	}
	b := l.index.b
	l.offsets = make([]uint32, 0, len(b)/(4*entrySizeV1)+1)
	for at := 0; at < len(b); {
		if len(b)-at < entrySizeV1 {
			l.torn = len(b) - at
			break
		}
		stored := int32(binary.BigEndian.Uint32(b[at+8:]))
		if stored < 0 {
			return &Error{l.path, Rev(len(l.offsets)), corrupt("its chunk's length is %d", stored)}
		}
		l.offsets = append(l.offsets, uint32(at))
		at += entrySizeV1 + int(stored)
		if at > len(b) {
			// The entry counts, so that reading it says what is missing and of which revision.
			break
		}
	}
	l.n = len(l.offsets)
	return nil
}

// Close gives back the files. Nothing read before stays valid.
func (l *Log) Close() error {
	l.offsets, l.n = nil, 0
	return errors.Join(l.index.close(), l.data.close(), l.nodes.close())
}

// Path is the path that the revlog was opened by.
func (l *Log) Path() string { return l.path }

// Len is the number of revisions.
func (l *Log) Len() int { return l.n }

// Tip is the last revision, Null when there is none.
func (l *Log) Tip() Rev { return Rev(l.n - 1) }

// Inline reports whether the chunks lie between the entries of the index.
func (l *Log) Inline() bool { return l.inline }

// GeneralDelta reports whether a delta may be against any earlier revision. Without it each is against the one before.
func (l *Log) GeneralDelta() bool { return l.generalDelta }

// Version of the format: 0 or 1, or 57005 or 54093, Mercurial's experimental second ones.
func (l *Log) Version() int { return l.version }

// Torn is how many bytes follow the last whole entry of the index: a write that did not end. They are read by nobody.
func (l *Log) Torn() int { return l.torn }

// fault wraps err in an *Error that names the index, unless it has a name already.
func (l *Log) fault(rev Rev, err error) error {
	var named *Error
	if err == nil || errors.As(err, &named) {
		return err
	}
	return &Error{l.path, rev, err}
}

// raw is the entry as stored; rev must be in range.
func (l *Log) raw(rev Rev) []byte {
	if l.offsets != nil {
		return l.index.b[l.offsets[rev]:][:entrySizeV1]
	}
	at := int(rev) * l.entrySize
	return l.index.at(at, at+l.entrySize)
}

// inRange says whether a revision exists.
func (l *Log) inRange(rev Rev) error {
	if rev < 0 || int(rev) >= l.n {
		if l.index.closed {
			return ErrClosed
		}
		return &Error{l.path, rev, fmt.Errorf("%w: it has %d revisions", ErrUnknown, l.n)}
	}
	return nil
}

// Entry reads what the index says of a revision. Its errors, and those of the methods that follow, are *Error: ErrUnknown for a revision
// that there is not, ErrCorrupt for an entry that contradicts itself, or the file system's.
func (l *Log) Entry(rev Rev) (e Entry, err error) {
	err = l.entry(rev, &e)
	return e, err
}

func (l *Log) entry(rev Rev, e *Entry) error {
	if uint(rev) >= uint(l.n) {
		return l.inRange(rev)
	}
	if l.version != version1 {
		if err := l.oddEntry(rev, e); err != nil {
			return l.fault(rev, err)
		}
	} else {
		e.decodeV1((*[entrySizeV1]byte)(l.raw(rev)), rev)
	}
	if !e.sound(rev) {
		if err := l.index.fault(); err != nil {
			return l.fault(rev, err)
		}
		return &Error{l.path, rev, e.fault(rev)}
	}
	return nil
}

// oddEntry reads an entry of another version than 1.
func (l *Log) oddEntry(rev Rev, e *Entry) error {
	b := l.raw(rev)
	switch l.version {
	case version0:
		e.decodeV0(b)
		var err error
		if e.P1, err = l.parentV0(rev, Node(b[16:36])); err == nil {
			e.P2, err = l.parentV0(rev, Node(b[36:56]))
		}
		return err
	case versionChangelog2:
		e.decodeChangelog2(b, rev)
	default:
		e.decodeV2(b)
	}
	return nil
}

// parentV0 finds the revision of a parent, which version 0 names by its node.
func (l *Log) parentV0(rev Rev, node Node) (Rev, error) {
	if node == NullNode {
		return Null, nil
	}
	p, err := l.Rev(node)
	if err != nil {
		return Null, corrupt("its parent %s is not there", node)
	}
	return p, nil
}

// Node is a revision's id; NullNode for Null. Errors as of Entry.
func (l *Log) Node(rev Rev) (Node, error) {
	if rev == Null {
		return NullNode, nil
	}
	if err := l.inRange(rev); err != nil {
		return NullNode, err
	}
	node := l.nodeAt(rev)
	return node, l.fault(rev, l.index.fault())
}

// nodeAt is Node without a check.
func (l *Log) nodeAt(rev Rev) Node {
	b := l.raw(rev)
	switch l.version {
	case version0:
		return Node(b[56:76])
	case versionChangelog2:
		return Node(b[24:44])
	default:
		return Node(b[32:52])
	}
}

// Parents are the revisions that a revision was made from, Null where there is none. Errors as of Entry.
func (l *Log) Parents(rev Rev) (p1, p2 Rev, err error) {
	if rev == Null {
		return Null, Null, nil
	}
	var e Entry
	err = l.entry(rev, &e)
	return e.P1, e.P2, err
}

// Base is the revision that the chunk of rev is a delta against, Null if the chunk is the whole text. Errors as of Entry.
func (l *Log) Base(rev Rev) (Rev, error) {
	var e Entry
	if err := l.entry(rev, &e); err != nil {
		return Null, err
	}
	return l.base(rev, &e), nil
}

// base is Base of an entry at hand.
func (l *Log) base(rev Rev, e *Entry) Rev {
	switch {
	case e.Base == rev || e.Base == Null:
		return Null
	case l.generalDelta:
		return e.Base
	default: // Base is where the chain begins; each delta is against the revision before it.
		return rev - 1
	}
}

// Chain appends to dst the revisions whose chunks make up a text, the one that holds a whole text first, rev last. Errors as of Entry, of any
// revision of the chain; it ends, since bases lie before what builds on them.
func (l *Log) Chain(dst []Rev, rev Rev) ([]Rev, error) {
	from := len(dst)
	var e Entry
	for at := rev; ; {
		if err := l.entry(at, &e); err != nil {
			return dst, err
		}
		dst = append(dst, at)
		// Bases are before what builds on them, entry has made sure: the walk ends.
		if at = l.base(at, &e); at == Null {
			break
		}
	}
	chain := dst[from:]
	for i, j := 0, len(chain)-1; i < j; i, j = i+1, j-1 {
		chain[i], chain[j] = chain[j], chain[i]
	}
	return dst, nil
}
