package revlog

import (
	"crypto/sha1"
	"fmt"
	"hash"
	"math"
	"sync"
)

// Reader reads texts of a Log with buffers of its own, which it reuses: it allocates only to let them grow. It keeps the
// last texts, and builds the next on them where it can. Not for concurrent use; a Log may have any number.
type Reader struct {
	log *Log
	*buffers
}

// buffers are what a Reader works with and leaves to the next one.
type buffers struct {
	dec    decoder
	chain  []Rev
	window span   // what was read last of the data file
	arena  []byte // the deltas of a chain, decompressed
	hunks  []hunk // lists of hunks, one after the other, that wait to be composed
	lists  []hunkList
	spare  []hunk // the composition made last
	texts  []cachedText
	tick   uint64
	sum    hash.Hash
	parent [2 * len(NullNode)]byte
	hashed Node
}

// hunkList is a stretch of buffers.hunks: the composition of 1<<rank deltas of a chain.
type hunkList struct{ from, rank int }

// cachedText is a raw text that was made, of revision rev unless that is Null.
type cachedText struct {
	rev     Rev
	checked bool // against the node; the base of a chain is not, until it is asked for
	used    uint64
	b       []byte
}

const (
	// maxTexts is how many texts a Reader keeps: branches and the bases of chains, searched one by one.
	maxTexts = 16
	// maxArena is when deltas are applied before the next are read, so that a long chain takes no more memory than this, or
	// eight times its text.
	maxArena = 32 << 20
	// maxKept is what a Reader may leave behind for the next one, bytes.
	maxKept = 8 << 20
)

// idle are the buffers that closed Readers left.
var idle sync.Pool

// Reader makes a reader. Close it to have its buffers used again.
func (l *Log) Reader() *Reader {
	b, _ := idle.Get().(*buffers)
	if b == nil {
		b = &buffers{sum: sha1.New()}
	}
	return &Reader{l, b}
}

// Close ends the use of the reader and of all that it returned.
func (r *Reader) Close() {
	if r.buffers == nil {
		return
	}
	kept := cap(r.arena) + 16*(cap(r.hunks)+cap(r.spare)) + cap(r.window.b)
	for i := range r.texts {
		r.texts[i].rev = Null
		kept += cap(r.texts[i].b)
	}
	r.window.at, r.window.b = 0, r.window.b[:0]
	if kept <= maxKept {
		idle.Put(r.buffers)
	}
	r.buffers = nil
}

// Text returns the text of a revision, checked against its node. It is valid until the next call and not to be changed. Of a
// revision whose text is not there the error is ErrCensored or ErrExternal; of one whose history was cut (ellipsis) the
// text is returned unchecked. All errors are *Error that name the revision whose entry or chunk is at fault, perhaps one that this is built
// on: ErrUnknown, ErrCorrupt, ErrHash, ErrUnsupported for a flag or compression, ErrTooLarge, or the file system's.
func (r *Reader) Text(rev Rev) ([]byte, error) {
	if rev == Null {
		return nil, nil
	}
	text, e, err := r.read(rev)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Flags&FlagCensored != 0:
		return nil, &Error{r.log.path, rev, ErrCensored}
	case e.Flags&FlagExternal != 0:
		return nil, &Error{r.log.path, rev, ErrExternal}
	}
	return text, nil
}

// Raw returns what is stored of a revision: its text, or the tombstone or pointer that stands for it, as Log.Entry's flags
// say. A text that the node is the hash of is checked. Errors as of Text, but for ErrCensored and ErrExternal.
func (r *Reader) Raw(rev Rev) ([]byte, error) {
	if rev == Null {
		return nil, nil
	}
	text, _, err := r.read(rev)
	return text, err
}

// read makes and checks the raw text.
func (r *Reader) read(rev Rev) (text []byte, e Entry, err error) {
	if err := r.log.entry(rev, &e); err != nil {
		return nil, e, err
	}
	if e.Flags&^knownFlags != 0 {
		err := fmt.Errorf("%w: flags %#04x", ErrUnsupported, uint16(e.Flags&^knownFlags))
		return nil, e, &Error{r.log.path, rev, err}
	}
	t := r.cached(rev)
	if t == nil {
		if t, err = r.build(rev); err != nil {
			return nil, e, r.log.fault(rev, err)
		}
	}
	if !t.checked && e.Flags&unhashed == 0 {
		if err := r.check(t.b, &e, rev); err != nil {
			t.rev = Null
			return nil, e, err
		}
		t.checked = true
	}
	return t.b, e, nil
}

// check compares the hash of a text with the node.
func (r *Reader) check(text []byte, e *Entry, rev Rev) error {
	low, high := NullNode, NullNode
	if e.P1 != Null {
		low = r.log.nodeAt(e.P1)
	}
	if e.P2 != Null {
		high = r.log.nodeAt(e.P2)
	}
	if less(&high, &low) {
		low, high = high, low
	}
	copy(r.parent[:20], low[:])
	copy(r.parent[20:], high[:])
	r.sum.Reset()
	r.sum.Write(r.parent[:])
	r.sum.Write(text)
	r.sum.Sum(r.hashed[:0])
	if r.hashed != e.Node {
		return &Error{r.log.path, rev, fmt.Errorf("%w: its text has %s, its entry says %s", ErrHash, r.hashed, e.Node)}
	}
	return nil
}

func less(a, b *Node) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// build makes the raw text of a revision that is not cached, unchecked: from a cached text of its chain or from the chain's
// base, by all deltas after it, composed.
func (r *Reader) build(rev Rev) (*cachedText, error) {
	l := r.log
	if err := r.openData(); err != nil {
		return nil, err
	}
	r.chain = r.chain[:0]
	var e Entry
	var base *cachedText
	for at := rev; ; {
		if err := l.entry(at, &e); err != nil {
			return nil, err
		}
		r.chain = append(r.chain, at)
		if at = l.base(at, &e); at == Null {
			break
		}
		if base = r.cached(at); base != nil {
			break
		}
	}
	chain := r.chain
	if base == nil {
		// e is the entry of the chain's first revision.
		at := chain[len(chain)-1]
		chunk, err := r.stored(at, &e)
		if err != nil {
			return nil, l.fault(at, err)
		}
		t := r.slot(nil, int(e.Size))
		if t.b, err = r.decode(t.b[:0], chunk, at, int(e.Size), l.maxText); err != nil {
			return nil, l.fault(at, err)
		}
		t.rev = at
		if chain = chain[:len(chain)-1]; len(chain) == 0 {
			return t, nil
		}
		base = t
	}
	return r.apply(base, rev, chain)
}

// apply makes a text from that of base by the deltas of the revisions of chain, the last one first.
func (r *Reader) apply(base *cachedText, rev Rev, chain []Rev) (*cachedText, error) {
	l := r.log
	var e Entry
	r.arena, r.hunks, r.lists = r.arena[:0], r.hunks[:0], r.lists[:0]
	for i := len(chain) - 1; i >= 0; i-- {
		at := chain[i]
		if err := l.entry(at, &e); err != nil {
			return nil, err
		}
		chunk, err := r.stored(at, &e)
		if err != nil {
			return nil, l.fault(at, err)
		}
		if len(chunk) == 0 {
			continue
		}
		from := len(r.arena)
		if r.arena, err = r.decode(r.arena, chunk, at, 4*len(chunk), r.deltaLimit(&e, len(base.b))); err != nil {
			return nil, l.fault(at, err)
		}
		start := len(r.hunks)
		if r.hunks, err = parseDelta(r.hunks, r.arena, from); err != nil {
			return nil, l.fault(at, err)
		}
		if err := r.push(start); err != nil {
			return nil, l.fault(at, err)
		}
		if i > 0 && len(r.arena) > max(maxArena, 8*len(base.b)) {
			if base, err = r.flush(base, Null); err != nil {
				return nil, l.fault(at, err)
			}
		}
	}
	return r.flush(base, rev)
}

// deltaLimit is how long a delta may be. Each of its hunks takes 12 bytes and replaces or inserts at least one, so that one
// of a text of n bytes from one of m has no more than 13n+12m; the sizes that the index states make a bomb show its size.
func (r *Reader) deltaLimit(e *Entry, base int) int {
	size := r.log.maxText
	if e.Size >= 0 {
		size = max(int(e.Size), base)
	}
	return min(25*size+hunkHeader, math.MaxInt32)
}

// push takes r.hunks[start:] as the next delta of the chain and composes it with those before it: equal numbers of deltas
// with each other, so that each hunk is moved as often as the logarithm of the chain.
func (r *Reader) push(start int) error {
	rank := 0
	for len(r.lists) > 0 && r.lists[len(r.lists)-1].rank <= rank {
		if err := r.merge(start); err != nil {
			return err
		}
		last := r.lists[len(r.lists)-1]
		start, rank = last.from, last.rank+1
		r.lists = r.lists[:len(r.lists)-1]
	}
	r.lists = append(r.lists, hunkList{start, rank})
	return nil
}

// merge composes the last list with the hunks from start on, which come after it.
func (r *Reader) merge(start int) error {
	last := r.lists[len(r.lists)-1]
	var err error
	r.spare, err = compose(r.spare[:0], r.hunks[last.from:start], r.hunks[start:])
	if err != nil {
		return err
	}
	r.hunks = append(r.hunks[:last.from], r.spare...)
	return nil
}

// flush applies all hunks to base and gives the text a place as that of rev.
func (r *Reader) flush(base *cachedText, rev Rev) (*cachedText, error) {
	for len(r.lists) > 1 {
		last := r.lists[len(r.lists)-1]
		r.lists = r.lists[:len(r.lists)-1]
		if err := r.merge(last.from); err != nil {
			return nil, err
		}
	}
	size, err := patchedSize(len(base.b), r.hunks)
	if err != nil {
		return nil, err
	}
	if size > r.log.maxText {
		return nil, tooLarge(r.log.maxText)
	}
	t := r.slot(base, size)
	t.b = reserve(t.b[:0], size)[:size]
	patch(t.b, base.b, r.arena, r.hunks)
	t.rev = rev
	r.arena, r.hunks, r.lists = r.arena[:0], r.hunks[:0], r.lists[:0]
	return t, nil
}

// cached is the text of rev if it is kept.
func (r *Reader) cached(rev Rev) *cachedText {
	for i := range r.texts {
		if t := &r.texts[i]; t.rev == rev {
			r.tick++
			t.used = r.tick
			return t
		}
	}
	return nil
}

// slot gives a place for a text of the given size, not that of keep: a new one as long as there is room, else the one
// used longest ago. Its rev is Null.
func (r *Reader) slot(keep *cachedText, size int) *cachedText {
	total := 0
	var oldest *cachedText
	for i := range r.texts {
		t := &r.texts[i]
		total += cap(t.b)
		if t.rev == Null {
			t.used = 0
		}
		if t != keep && (oldest == nil || t.used < oldest.used) {
			oldest = t
		}
	}
	if cap(r.texts) == 0 {
		r.texts = make([]cachedText, 0, maxTexts) // never moved: what is returned points into it
	}
	if len(r.texts) < maxTexts && (oldest == nil || oldest.rev != Null && total+size <= r.log.cache) {
		r.texts = append(r.texts, cachedText{})
		oldest = &r.texts[len(r.texts)-1]
	}
	r.tick++
	oldest.rev, oldest.checked, oldest.used = Null, false, r.tick
	return oldest
}

// Text is the text of a revision as a slice of the caller's own, with the errors of Reader.Text, which is the way to read many.
func (l *Log) Text(rev Rev) ([]byte, error) {
	r := l.Reader()
	defer r.Close()
	text, err := r.Text(rev)
	if err != nil {
		return nil, err
	}
	return append([]byte{}, text...), nil
}

// Texts calls fn for each revision from from to before to, in storage order, with its entry and its raw text, checked as
// Raw does. Both are overwritten by the next. It ends with the first error, that of Raw for a revision or what fn returned.
func (r *Reader) Texts(from, to Rev, fn func(rev Rev, e *Entry, raw []byte) error) error {
	if from < 0 || int(to) > r.log.n {
		return &Error{r.log.path, Null, fmt.Errorf("%w: revisions %d to %d of %d", ErrUnknown, from, to, r.log.n)}
	}
	var e Entry
	for rev := from; rev < to; rev++ {
		var text []byte
		var err error
		if text, e, err = r.read(rev); err != nil {
			return err
		}
		if err := fn(rev, &e, text); err != nil {
			return err
		}
	}
	return nil
}
