package revlog

import "sync"

// blockEntries is how many entries are decoded at once: as many as stay near the processor.
const blockEntries = 64

// entryBlock has room for what decodeBlock writes after the last one.
type entryBlock [blockEntries + 1]Entry

var entryBlocks = sync.Pool{New: func() any { return new(entryBlock) }}

// Entries calls fn for every revision in order with its entry, which is overwritten by the next. It ends with the first
// error: an *Error of an entry that contradicts itself or could not be read, or what fn returned. An index that is not in memory is
// read piece by piece.
func (l *Log) Entries(fn func(rev Rev, e *Entry) error) error {
	return l.EntryBlocks(func(first Rev, entries []Entry) error {
		for i := range entries {
			if err := fn(first+Rev(i), &entries[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// EntryBlocks is Entries with a call for several revisions, the first of which is told: the entries are overwritten by the next ones.
// A call for each costs who only looks at them some hundredths of the time.
func (l *Log) EntryBlocks(fn func(first Rev, entries []Entry) error) error {
	block := entryBlocks.Get().(*entryBlock)
	defer entryBlocks.Put(block)
	rev := Rev(0)
	if l.version != version1 || l.inline {
		for int(rev) < l.n {
			n := min(l.n-int(rev), blockEntries)
			err := l.decodeEach(block[:n], rev, fn, func(rev Rev, e *Entry) error { return l.entry(rev, e) })
			if err != nil {
				return err
			}
			rev += Rev(n)
		}
		return nil
	}
	return l.fault(Null, l.index.stream(entrySizeV1, func(b []byte) error {
		for n := len(b) / entrySizeV1; n > 0; n = len(b) / entrySizeV1 {
			n = min(n, blockEntries)
			part := b[:n*entrySizeV1]
			b = b[len(part):]
			var err error
			if canDecode && decodeBlock(block[:], part, rev) {
				err = fn(rev, block[:n])
			} else {
				err = l.decodeEach(block[:n], rev, fn, func(at Rev, e *Entry) error {
					if e.decodeV1((*[entrySizeV1]byte)(part[int(at-rev)*entrySizeV1:]), at); !e.sound(at) {
						return &Error{l.path, at, e.fault(at)}
					}
					return nil
				})
			}
			if err != nil {
				return err
			}
			rev += Rev(n)
		}
		return nil
	}))
}

// decodeEach fills a block one by one and calls fn for it; where one is unsound, for those before it.
func (l *Log) decodeEach(block []Entry, first Rev, fn func(first Rev, entries []Entry) error, decode func(rev Rev, e *Entry) error) error {
	for i := range block {
		err := decode(first+Rev(i), &block[i])
		if err == nil {
			continue
		}
		if i > 0 {
			if err := fn(first, block[:i]); err != nil {
				return err
			}
		}
		return err
	}
	return fn(first, block)
}
