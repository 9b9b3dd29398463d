package odb

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

// maxDeltaDepth bounds a chain of deltas: Git's pack.depth ends at 4095. Deltas by id that lead in a circle end here.
const maxDeltaDepth = 4096

// maxInflate is how many bytes one compressed byte can become: deflate's own bound, 258 bytes for 2 bits.
const maxInflate = 1032

// deltaUnchecked is the size up to which a delta's result is allocated on its word.
const deltaUnchecked = 16 << 20

// Reader reads objects. It serves one goroutine; its memory is the cache and the largest object twice.
type Reader struct {
	db      *DB
	hasher  *object.Hasher
	cache   *cache
	inflate inflater
	last    *pack // where the object before was found

	chain []link
	delta []byte // an inflated delta
	work  [2][]byte
	loose []byte
}

// link is a delta on the way to an object.
type link struct {
	off uint64
	e   entry
}

// NewReader makes a reader. It takes memory as it reads.
func (db *DB) NewReader() *Reader {
	return &Reader{db: db, hasher: object.NewHasher(db.Format, db.opt.Detect), cache: newCache(db.opt.CacheBytes)}
}

// Read appends an object's content to buf and returns it with what was appended to, and its kind. Its hash was verified.
// Errors wrap ErrMissing, ErrCorrupt, ErrTooLarge or object.ErrCollision, and name the object.
func (r *Reader) Read(id object.ID, buf []byte) (object.Kind, []byte, error) {
	kind, content, owned, err := r.read(id, buf)
	if err != nil {
		return 0, buf, fmt.Errorf("read object %s: %w", id, err)
	}
	if owned {
		return kind, content, nil
	}
	return kind, append(buf, content...), nil
}

// View is Read without the copy where the content lies in the reader's own memory. It is valid until the next call.
func (r *Reader) View(id object.ID) (object.Kind, []byte, error) {
	kind, content, owned, err := r.read(id, r.loose[:0])
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	if owned {
		r.loose = content
	}
	return kind, content, nil
}

// read finds an object. Where owned, the content has been appended to buf; otherwise it is valid until the next call.
func (r *Reader) read(id object.ID, buf []byte) (kind object.Kind, content []byte, owned bool, err error) {
	p, off, found, err := r.find(id)
	if err != nil {
		return 0, nil, false, err
	}
	if !found {
		start := len(buf)
		kind, buf, err = r.readLoose(id, buf)
		if err != nil {
			return 0, nil, false, err
		}
		return kind, buf, true, r.verify(id, kind, buf[start:])
	}
	key := cacheKey(p, off)
	if s, b := r.cache.get(key); s != nil {
		if s.verified != id {
			if err := r.verify(id, s.kind, b); err != nil {
				return 0, nil, false, err
			}
			s.verified = id
		}
		return s.kind, b, false, nil
	}
	start := len(buf)
	kind, buf, err = r.unpack(p, off, buf)
	if err != nil {
		return 0, nil, false, fmt.Errorf("%s: %w", p.name, err)
	}
	if err := r.verify(id, kind, buf[start:]); err != nil {
		return 0, nil, false, fmt.Errorf("%s: %w", p.name, err)
	}
	if kind == object.TreeKind { // the next commit compares with it
		r.cache.put(key, kind, id, buf[start:])
	}
	return kind, buf, true, nil
}

func (r *Reader) verify(id object.ID, kind object.Kind, content []byte) error {
	got, err := r.hasher.Sum(kind, content)
	if err != nil {
		return err
	}
	if got != id {
		return fmt.Errorf("%w: its content has the hash %s", ErrCorrupt, got)
	}
	return nil
}

// find looks in the packs, first where the object before was.
func (r *Reader) find(id object.ID) (*pack, uint64, bool, error) {
	name := id[:r.db.Format.Size()]
	if r.last != nil {
		if off, found, err := r.last.find(name); found || err != nil {
			return r.last, off, found, err
		}
	}
	for _, p := range r.db.packs {
		if p == r.last {
			continue
		}
		if off, found, err := p.find(name); found || err != nil {
			r.last = p
			return p, off, found, err
		}
	}
	return nil, 0, false, nil
}

func (p *pack) find(name []byte) (uint64, bool, error) {
	rank, found := p.idx.find(name)
	if !found {
		return 0, false, nil
	}
	off, valid := p.idx.offset(rank)
	if !valid {
		return 0, false, fmt.Errorf("%s: %w: the index has no offset for it", p.name, ErrCorrupt)
	}
	return off, true, nil
}

// unpack appends the object at an offset to buf.
func (r *Reader) unpack(p *pack, off uint64, buf []byte) (object.Kind, []byte, error) {
	r.chain = r.chain[:0]
	var kind object.Kind
	var base []byte
	key, work := uint64(0), 0
	for {
		key = cacheKey(p, off)
		if len(r.chain) > 0 {
			if s, b := r.cache.get(key); s != nil {
				kind, base = s.kind, b
				break
			}
		}
		e, err := p.entryAt(off, r.db.Format.Size())
		if err != nil {
			return 0, nil, err
		}
		if e.typ < offsetDelta {
			kind = object.Kind(e.typ)
			if len(r.chain) == 0 {
				buf, err = r.inflateTo(buf, &e)
				return kind, buf, err
			}
			if base, err = r.inflateTo(r.work[0][:0], &e); err != nil {
				return 0, nil, err
			}
			r.work[0], work = base, 1
			r.cache.put(key, kind, object.ID{}, base)
			break
		}
		if len(r.chain) == maxDeltaDepth {
			return 0, nil, fmt.Errorf("%w: a chain of more than %d deltas", ErrCorrupt, maxDeltaDepth)
		}
		r.chain = append(r.chain, link{off, e})
		if off, err = p.baseOf(&e); err != nil {
			return 0, nil, err
		}
	}
	for i := len(r.chain) - 1; i >= 0; i-- {
		l := &r.chain[i]
		into := buf
		if i > 0 {
			into = r.work[work][:0]
		}
		out, err := r.apply(into, base, &l.e)
		if err != nil {
			return 0, nil, err
		}
		if i == 0 {
			return kind, out, nil
		}
		// What the base lies in may be overwritten from here on: it is used no more.
		r.cache.put(cacheKey(p, l.off), kind, object.ID{}, out)
		r.work[work], base, work = out, out, 1-work
	}
	return 0, nil, ErrCorrupt // not reached: a chain has a link
}

// baseOf is where a delta's base lies. A base by id lies in the same pack, as in every pack at rest.
func (p *pack) baseOf(e *entry) (uint64, error) {
	if e.typ == offsetDelta {
		return e.base, nil
	}
	off, found, err := p.find(e.ref)
	if err == nil && !found {
		err = fmt.Errorf("%w: the base of a delta, %x, is not in its pack", ErrCorrupt, e.ref)
	}
	return off, err
}

// inflateTo appends what an entry holds compressed.
func (r *Reader) inflateTo(buf []byte, e *entry) ([]byte, error) {
	if e.size > uint64(r.db.opt.MaxObject) {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, e.size)
	}
	if e.size > maxInflate*uint64(len(e.body)) {
		return nil, fmt.Errorf("%w: %d bytes cannot become %d", ErrCorrupt, len(e.body), e.size)
	}
	start := len(buf)
	buf = grow(buf, int(e.size))
	return buf, r.inflate.zlib(buf[start:], e.body)
}

// apply appends to buf what a delta makes of its base.
func (r *Reader) apply(buf, base []byte, e *entry) ([]byte, error) {
	var err error
	if r.delta, err = r.inflateTo(r.delta[:0], e); err != nil {
		return nil, err
	}
	from, size, ops, err := deltaSizes(r.delta)
	if err != nil {
		return nil, err
	}
	if from != uint64(len(base)) {
		return nil, badDelta()
	}
	if size > uint64(r.db.opt.MaxObject) {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	if size > deltaUnchecked && size != deltaResult(ops) {
		return nil, badDelta()
	}
	start := len(buf)
	buf = grow(buf, int(size))
	return buf, applyDelta(buf[start:], base, ops)
}

// grow lengthens b by n bytes whose content does not matter.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b[:len(b)+n]
	}
	g := make([]byte, len(b)+n, max(len(b)+n, 2*cap(b)))
	copy(g, b)
	return g
}
