package revlog

import "sync"

// blockEntries is how many entries are decoded at once where the processor can: as many as stay near it.
const blockEntries = 64

// entryBlock has room for what decodeBlock writes after the last one.
type entryBlock [blockEntries + 1]Entry

var entryBlocks = sync.Pool{New: func() any { return new(entryBlock) }}

// Entries calls fn for every revision in order with its entry, which is overwritten by the next. It ends with the first
// error: an *Error of an entry that contradicts itself or could not be read, or what fn returned. An index that is not in memory is
// read piece by piece.
func (l *Log) Entries(fn func(rev Rev, e *Entry) error) error {
	if l.version != version1 || l.inline {
		var e Entry
		for rev := range Rev(l.n) {
			if err := l.entry(rev, &e); err != nil {
				return err
			}
			if err := fn(rev, &e); err != nil {
				return err
			}
		}
		return nil
	}
	rev := Rev(0)
	return l.fault(Null, l.index.stream(entrySizeV1, func(b []byte) error {
		b = b[:len(b)/entrySizeV1*entrySizeV1]
		var err error
		if canDecode {
			err = l.eachBlock(b, rev, fn)
		} else {
			err = l.each(b, rev, fn)
		}
		rev += Rev(len(b) / entrySizeV1)
		return err
	}))
}

// each calls fn for the entries of b, the first of which is that of rev.
func (l *Log) each(b []byte, rev Rev, fn func(rev Rev, e *Entry) error) error {
	var e Entry
	for ; len(b) > 0; b = b[entrySizeV1:] {
		e.decodeV1((*[entrySizeV1]byte)(b), rev)
		if !e.sound(rev) {
			return &Error{l.path, rev, e.fault(rev)}
		}
		if err := fn(rev, &e); err != nil {
			return err
		}
		rev++
	}
	return nil
}

// eachBlock is each, with many entries decoded at once. Where one is unsound they are taken one by one, to find it.
func (l *Log) eachBlock(b []byte, rev Rev, fn func(rev Rev, e *Entry) error) error {
	block := entryBlocks.Get().(*entryBlock)
	defer entryBlocks.Put(block)
	for len(b) > 0 {
		n := min(len(b)/entrySizeV1, blockEntries)
		part := b[:n*entrySizeV1]
		b = b[len(part):]
		if !decodeBlock(block[:], part, rev) {
			return l.each(part, rev, fn)
		}
		for i := range block[:n] {
			if err := fn(rev, &block[i]); err != nil {
				return err
			}
			rev++
		}
	}
	return nil
}
